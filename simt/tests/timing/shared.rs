//! Shared memory and barriers, against what was measured on hardware.

use warpwise_simt::device::find;

use crate::bench::{Bench, entry};
use crate::kernels::REGISTERS;

const DEVICES: [&str; 3] = ["H200", "RTX 5070", "A100"];

/// Cycles a step of a chain of loads whose lanes are `stride` words apart. Shared memory is zero, so the address stays.
fn chain_step(device: &str, stride: u32) -> f64 {
    let mut bench = Bench::new(device);
    let mut cycles = |count: usize| {
        let body = format!(
            "mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, {}; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;\n{}",
            4 * stride,
            "ld.shared.u32 %r5, [%r4]; add.u32 %r4, %r4, %r5;\n".repeat(count)
        );
        let declarations = format!("{REGISTERS} .shared .align 4 .b8 s[8192];");
        bench.time(&entry(0, &declarations, &body), 1, 32, &[]).execution_cycles
    };
    (cycles(200) - cycles(100)) as f64 / 100.0 - 4.0
}

#[test]
fn a_load_in_n_passes_takes_2_cycles_more_for_each_after_the_first() {
    for device in DEVICES {
        let base = find(device).unwrap().parameters.shared_latency_cycles;
        for (stride, passes) in [(1, 1.0), (2, 2.0), (4, 4.0), (8, 8.0), (32, 32.0), (33, 1.0), (0, 1.0)] {
            assert_eq!(chain_step(device, stride), base + 2.0 * (passes - 1.0), "stride {stride} on {device}");
        }
    }
}

/// Cycles that 32 warps take for 64 independent loads each, lanes `stride` words apart.
fn throughput(stride: u32) -> u64 {
    let loads: String = (0..64).map(|index| format!("ld.shared.u32 %r{}, [%r4];\n", 5 + index % 8)).collect();
    let body = format!(
        "mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r1, {}; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;\n{loads}",
        4 * stride
    );
    let declarations = format!("{REGISTERS} .shared .align 4 .b8 s[8192];");
    Bench::new("H200").time(&entry(0, &declarations, &body), 1, 1024, &[]).execution_cycles
}

#[test]
fn conflicts_cost_bandwidth_by_the_pass() {
    let [free, two, eight] = [1, 2, 8].map(throughput);
    // One pass a cycle; the first accesses overlap with the start, the last with the end.
    for (passes, cycles) in [(1, free), (2, two), (8, eight)] {
        let ideal = f64::from(32 * 64 * passes);
        assert!((cycles as f64 / ideal - 1.0).abs() < 0.02, "{passes} passes: {cycles} cycles, not {ideal}");
    }
    assert_eq!(throughput(33), free);
}

#[test]
fn a_barrier_takes_21_cycles_and_2_a_warp() {
    for warps in [1, 2, 4, 8, 16, 32] {
        let mut bench = Bench::new("A100");
        let mut cycles = |count: usize| {
            let body = "bar.sync 0;\n".repeat(count);
            bench.time(&entry(0, REGISTERS, &body), 1, 32 * warps, &[]).execution_cycles
        };
        let step = (cycles(150) - cycles(50)) as f64 / 100.0;
        let measured = 21.0 + 2.0 * f64::from(warps);
        assert!((step - measured).abs() <= 4.0, "{warps} warps: {step} cycles, measured {measured}");
    }
}
