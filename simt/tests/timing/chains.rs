//! Dependent chains in one thread: each step takes the latency that the device's table gives.

use warpwise_simt::device::find;

use crate::bench::{Bench, entry};

const REGISTERS: &str = ".reg .u32 %r<8>; .reg .u64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;";
const DEVICES: [&str; 3] = ["H200", "RTX 5070", "A100"];

/// Cycles a step of a body that is repeated: the difference of two lengths, so that nothing else counts.
fn cycles_per_step(device: &str, step: &str) -> f64 {
    let mut bench = Bench::new(device);
    let mut cycles = |count: usize| {
        let start = "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 3; cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2;\n";
        let body = format!("{start}{}", step.repeat(count));
        bench.time(&entry(0, REGISTERS, &body), 1, 1, &[]).execution_cycles
    };
    (cycles(300) - cycles(100)) as f64 / 200.0
}

#[test]
fn arithmetic_that_needs_the_result_before_takes_4_cycles() {
    for device in DEVICES {
        assert_eq!(cycles_per_step(device, "add.u32 %r1, %r1, %r2;\n"), 4.0, "add on {device}");
        assert_eq!(cycles_per_step(device, "fma.rn.f32 %f1, %f1, %f2, %f2;\n"), 4.0, "fma on {device}");
    }
}

#[test]
fn moves_take_no_time() {
    let step = "add.u32 %r1, %r1, %r2; mov.u32 %r3, %r1; mov.u32 %r1, %r3;\n";
    assert_eq!(cycles_per_step("H200", step), 4.0);
}

/// A chain of pointers through lines of 128 bytes, in order and round.
struct Chase {
    bench: Bench,
    first: u64,
}

impl Chase {
    fn new(device: &str, lines: u64) -> Self {
        let mut bench = Bench::new(device);
        let first = bench.alloc(128 * lines);
        let mut bytes = vec![0; 128 * lines as usize];
        for line in 0..lines {
            let next = first + (line + 1) % lines * 128;
            bytes[line as usize * 128..][..8].copy_from_slice(&next.to_le_bytes());
        }
        bench.machine.write(first, &bytes).unwrap();
        Self { bench, first }
    }

    /// Cycles of `steps` steps, a multiple of 8, by one thread.
    fn cycles(&mut self, steps: u64) -> f64 {
        let body = format!(
            "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\nLOOP:\n{}sub.u64 %rd2, %rd2, 1;\n\
             setp.ne.u64 %p1, %rd2, 0;\n@%p1 bra LOOP;",
            "ld.global.u64 %rd1, [%rd1];\n".repeat(8)
        );
        let timing = self.bench.time(&entry(2, REGISTERS, &body), 1, 1, &[self.first, steps / 8]);
        timing.execution_cycles as f64
    }

    /// Cycles a step once everything was visited `passes` times, in one launch.
    fn per_step(&mut self, lines: u64, passes: u64) -> f64 {
        let warm = lines * passes;
        // A launch of whole passes before each, so that both find the same in L2.
        let mut cycles = |steps| {
            self.cycles(warm);
            self.cycles(steps)
        };
        (cycles(warm + 4096) - cycles(warm)) / 4096.0
    }

    /// Cycles a step when nothing was visited before.
    fn per_step_cold(&mut self) -> f64 {
        let mut cycles = |steps| {
            self.bench.machine.system_mut().flush_l2();
            self.cycles(steps)
        };
        (cycles(4096) - cycles(2048)) / 2048.0
    }
}

#[test]
fn a_pointer_chase_sees_the_latencies_of_l1_l2_and_memory() {
    for device in DEVICES {
        let p = &find(device).unwrap().parameters;
        let in_l1 = Chase::new(device, 128).per_step(128, 2);
        assert!((in_l1 - p.l1_hit_latency_cycles).abs() < 0.5, "L1 of {device}: {in_l1}");
        let in_l2 = Chase::new(device, 8192).per_step(8192, 1);
        assert!((in_l2 - p.l2_near_latency_cycles).abs() < 0.5, "L2 of {device}: {in_l2}");
        let in_memory = Chase::new(device, 8192).per_step_cold();
        // The mean of 8,192 lines that differ.
        assert!((in_memory / p.dram_latency_cycles - 1.0).abs() < 0.01, "memory of {device}: {in_memory}");
    }
}

#[test]
fn more_than_half_of_a_divided_l2_is_reached_at_the_far_latency() {
    let a100 = find("A100").unwrap();
    let lines = a100.l2_bytes / 128 * 3 / 4;
    let cycles = Chase::new("A100", lines).per_step(lines, 1);
    assert!((cycles - a100.parameters.l2_far_latency_cycles).abs() < 0.5, "{cycles}");
}
