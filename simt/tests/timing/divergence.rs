//! Branches: what each side costs, and who pays for both.

use crate::bench::{Bench, entry};
use crate::kernels::REGISTERS;

/// Cycles of a kernel in which threads for which `condition` sets %p1 take path A and the others path B: long loops of FMA, and of
/// multiplication and addition.
fn cycles(condition: &str) -> f64 {
    cycles_of(condition, 264, 256)
}

fn cycles_of(condition: &str, blocks: u32, threads: u32) -> f64 {
    let lopsided = |name: &str, step: &str| {
        format!("{name}: {}\nsub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra {name};\n", step.repeat(8))
    };
    let body = format!(
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5; and.b32 %r3, %r3, 1; mov.u32 %r9, 50;
         {condition}
         @%p1 bra A;
         {}bra JOIN;
         {}JOIN:\n",
        lopsided("B", "mul.rn.f32 %f1, %f1, %f2; add.rn.f32 %f1, %f1, %f3;\n"),
        lopsided("A", "fma.rn.f32 %f1, %f1, %f2, %f3;\n"),
    );
    Bench::new("H200").time(&entry(0, REGISTERS, &body), blocks, threads, &[]).execution_cycles as f64
}

#[test]
fn a_warp_pays_for_both_sides_only_if_its_lanes_disagree() {
    let path_a = cycles("setp.ge.u32 %p1, %r2, 0;");
    let path_b = cycles("setp.lt.u32 %p1, %r2, 0;");
    let by_warp = cycles("setp.eq.u32 %p1, %r3, 0;");
    let by_lane = cycles("setp.lt.u32 %p1, %r2, 16;");
    assert!(path_a < by_warp && by_warp < path_b, "{path_a} {by_warp} {path_b}");
    let sum = path_a + path_b;
    assert!((by_lane / sum - 1.0).abs() < 0.05, "by lane {by_lane}, the sum {sum}");
}

#[test]
fn how_many_lanes_disagree_does_not_matter() {
    let of = |lanes: u32| cycles(&format!("setp.lt.u32 %p1, %r2, {lanes};"));
    let one = of(1);
    for lanes in [2, 8, 16, 24, 31] {
        assert_eq!(of(lanes), one, "{lanes} lanes of 32");
    }
    assert!(of(0) < one && of(32) < one);
}

#[test]
fn which_warps_share_a_scheduler_decides_what_a_branch_by_warp_costs() {
    // As an H200 does it: in one block of 1,024 threads warp w is at scheduler w mod 4, so a branch by the last or the last but one bit
    // of w leaves schedulers with the longer path alone; by the bit above that each scheduler has both. Blocks that start one after
    // the other on an SM start at different schedulers.
    let by_bit = |bit: u32, blocks, threads| {
        let condition = format!("shr.u32 %r4, %r1, {}; and.b32 %r4, %r4, 1; setp.eq.u32 %p1, %r4, 1;", 5 + bit);
        cycles_of(&condition, blocks, threads)
    };
    let long = cycles_of("setp.lt.u32 %p1, %r2, 0;", 132, 1024);
    let [last, second, third] = [0, 1, 2].map(|bit| by_bit(bit, 132, 1024));
    assert!((last / long - 1.0).abs() < 0.03 && (second / long - 1.0).abs() < 0.03, "{last} {second}, all long {long}");
    assert!((third / long - 0.81).abs() < 0.08, "{third} of {long}; measured 31.8 of 39.5 µs");
    let long = cycles_of("setp.lt.u32 %p1, %r2, 0;", 1056, 256);
    for bit in [0, 1, 2] {
        let share = by_bit(bit, 1056, 256) / long;
        assert!((share - 0.83).abs() < 0.08, "bit {bit}: {share}; measured 65.1 to 65.8 of 78.9 µs");
    }
}
