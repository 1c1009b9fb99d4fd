//! Warp-wide operations, against the definitions in the PTX ISA written out here.

mod support;

use support::{Bench, run};

/// `shfl` by the letter of the PTX ISA: the source lane and whether it is valid.
fn shuffle(mode: &str, lane: i32, b: u32, c: u32) -> (usize, bool) {
    let (bval, cval, mask) = ((b & 0x1f) as i32, (c & 0x1f) as i32, (c >> 8 & 0x1f) as i32);
    let max_lane = (lane & mask) | (cval & !mask);
    let min_lane = lane & mask;
    let (source, valid) = match mode {
        "up" => (lane - bval, lane - bval >= max_lane),
        "down" => (lane + bval, lane + bval <= max_lane),
        "bfly" => (lane ^ bval, (lane ^ bval) <= max_lane),
        _ => (min_lane | (bval & !mask), (min_lane | (bval & !mask)) <= max_lane),
    };
    (if valid { source } else { lane } as usize, valid)
}

#[test]
fn shuffles_of_every_mode_width_and_delta() {
    for mode in ["up", "down", "bfly", "idx"] {
        let body = format!(
            "mul.lo.u32 %r3, %t, 7; and.b32 %r4, %n, 31; shr.u32 %r5, %n, 8;
             shfl.sync.{mode}.b32 %r6|%p1, %r3, %r4, %r5, -1; selp.u32 %r7, 1, 0, %p1;
             shl.b32 %r7, %r7, 16; or.b32 %r6, %r6, %r7; st.global.u32 [%mine], %r6;"
        );
        let mut bench = Bench::new("", &body, 32);
        for width in [1, 2, 4, 8, 16, 32] {
            let clamp = if mode == "up" { 0 } else { 31 };
            let c = (32 - width) << 8 | clamp;
            for b in [0, 1, 2, 3, 5, 15, 16, 31] {
                let launch = bench.launch(1, 32, b | c << 8);
                let expected = (0..32).map(|lane| {
                    let (source, valid) = shuffle(mode, lane, b, c);
                    7 * source as u32 + (u32::from(valid) << 16)
                });
                assert_eq!(bench.output(&launch), expected.collect::<Vec<_>>(), "{mode}, width {width}, {b}");
            }
        }
    }
}

#[test]
fn votes_over_a_part_of_the_warp() {
    let body = "rem.u32 %r3, %t, 3; setp.eq.u32 %p1, %r3, 0; mov.u32 %r8, 0;
        vote.sync.ballot.b32 %r4, %p1, -1; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1;
        vote.sync.uni.pred %p4, %p1, -1; setp.ge.u32 %p5, %t, 0; vote.sync.uni.pred %p6, %p5, -1;
        selp.u32 %r5, 1, 0, %p2; selp.u32 %r6, 2, 0, %p3; selp.u32 %r7, 4, 0, %p4; selp.u32 %r8, 8, 0, %p6;
        xor.b32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r6; xor.b32 %r4, %r4, %r7; xor.b32 %r4, %r4, %r8;
        st.global.u32 [%mine], %r4;";
    let ballot = |threads: u32| (0..threads).filter(|t| t % 3 == 0).fold(0u32, |mask, t| mask | 1 << t);
    for threads in [32, 20] {
        assert_eq!(run(body, threads), vec![ballot(threads) ^ 2 ^ 8; threads as usize], "{threads} threads");
    }
}

#[test]
fn match_finds_lanes_with_the_same_value() {
    let body = "and.b32 %r3, %t, 3; match.any.sync.b32 %r4, %r3, -1; cvt.u64.u32 %d1, %r3; shl.b64 %d1, %d1, 40;
        match.any.sync.b64 %r5, %d1, -1; xor.b32 %r5, %r5, %r4; match.all.sync.b32 %r6|%p1, %r3, -1;
        selp.u32 %r7, 1, 0, %p1; match.all.sync.b32 %r8|%p2, 9, -1; add.u32 %r8, %r8, 1; selp.u32 %r9, 0, 1, %p2;
        or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8; or.b32 %r5, %r5, %r9; add.u32 %r4, %r4, %r5;
        st.global.u32 [%mine], %r4;";
    assert_eq!(run(body, 32), (0..32).map(|t| 0x1111_1111 << (t & 3)).collect::<Vec<u32>>());
}

/// A reduction by its PTX name.
type Reduction = (&'static str, fn(u32, u32) -> u32);

#[test]
fn reductions_over_the_warp() {
    let cases: [Reduction; 8] = [
        ("add.u32", u32::wrapping_add),
        ("min.u32", u32::min),
        ("max.u32", u32::max),
        ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max.s32", |a, b| (a as i32).max(b as i32) as u32),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ];
    let value = |t: u32| t.wrapping_mul(0x9e37_79b9);
    for (op, reduce) in cases {
        let body = format!("mul.lo.u32 %r3, %t, 0x9e3779b9; redux.sync.{op} %r4, %r3, -1; st.global.u32 [%mine], %r4;");
        let expected = (0..32).map(value).reduce(reduce).unwrap();
        assert_eq!(run(&body, 32), vec![expected; 32], "{op}");
    }
}

#[test]
fn lanes_of_a_divergent_warp_meet_for_an_operation_over_all_of_them() {
    // Odd lanes go a long way round before the sum; a shuffle with the full mask still sees every lane's value.
    let body = "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 1; @%p1 bra SUM; mov.u32 %r4, 100;
        SUM: shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; add.u32 %r4, %r4, %r5; st.global.u32 [%mine], %r4;";
    assert_eq!(run(body, 32), vec![101; 32]);
}

#[test]
fn an_operation_in_both_arms_of_a_branch_waits_for_the_lanes_of_the_other_arm() {
    let body = "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;
        bar.warp.sync -1; mov.u32 %r4, 1; bra JOIN; EVEN: bar.warp.sync -1; mov.u32 %r4, 2; JOIN: st.global.u32 [%mine], %r4;";
    assert_eq!(run(body, 32), (0..32).map(|t| if t % 2 == 0 { 2 } else { 1 }).collect::<Vec<u32>>());
}

#[test]
fn members_that_have_exited_are_not_waited_for() {
    let body = "setp.gt.u32 %p1, %t, 9; @%p1 ret; mov.u32 %r3, 1; redux.sync.add.u32 %r4, %r3, -1; st.global.u32 [%mine], %r4;";
    let mut expected = vec![10; 10];
    expected.resize(32, 0);
    assert_eq!(run(body, 32), expected);
}

#[test]
fn a_sub_group_works_on_its_own_lanes() {
    let body = "shr.u32 %r3, %t, 3; shl.b32 %r4, %r3, 3; mov.u32 %r5, 255; shl.b32 %r5, %r5, %r4;
        redux.sync.add.u32 %r6, %t, %r5; and.b32 %r8, %t, 7; setp.eq.u32 %p1, %r8, 0; selp.u32 %r7, 1000, 0, %p1; add.u32 %r6, %r6, %r7;
        st.global.u32 [%mine], %r6;";
    let sum = |group: u32| (8 * group..8 * group + 8).sum::<u32>();
    let expected = (0..32).map(|t| sum(t / 8) + if t % 8 == 0 { 1000 } else { 0 });
    assert_eq!(run(body, 32), expected.collect::<Vec<_>>());
}

#[test]
fn active_mask_is_the_lanes_that_run_together() {
    let body = "setp.lt.u32 %p1, %t, 12; mov.u32 %r3, 0; @!%p1 bra JOIN; activemask.b32 %r3; JOIN: st.global.u32 [%mine], %r3;";
    let mut expected = vec![0xfff; 12];
    expected.resize(32, 0);
    assert_eq!(run(body, 32), expected);
}
