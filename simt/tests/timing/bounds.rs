//! What must hold whatever the parameters: bandwidth, conservation, more work never in less time.

use warpwise_simt::device::find;
use warpwise_simt::timing::{Stall, Timing};

use crate::bench::{Bench, entry};
use crate::kernels::{REGISTERS, block_sum, vecadd};

/// Every thread copies one float; those it reads are `stride` apart.
fn strided_copy(bench: &mut Bench, blocks: u32, stride: u64) -> Timing {
    let threads = u64::from(blocks) * 256;
    let (from, to) = (bench.alloc(4 * threads * stride), bench.alloc(4 * threads));
    bench.machine.system_mut().flush_l2();
    let body = "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u32 %r5, [p2];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
        mul.lo.u32 %r6, %r4, %r5; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];
        mul.wide.u32 %rd5, %r4, 4; add.u64 %rd6, %rd2, %rd5; st.global.f32 [%rd6], %f1;";
    let timing = bench.time(&entry(3, REGISTERS, body), blocks, 256, &[from, to, stride]);
    bench.machine.free(from).unwrap();
    bench.machine.free(to).unwrap();
    timing
}

#[test]
fn time_rises_with_the_stride_and_sectors_with_it() {
    for device in ["H200", "RTX 5070"] {
        let mut bench = Bench::new(device);
        let runs: Vec<(u64, Timing)> =
            [1, 2, 4, 8, 16, 32].map(|stride| (stride, strided_copy(&mut bench, 2048, stride))).into();
        for pair in runs.windows(2) {
            let ((stride, before), (next, after)) = (&pair[0], &pair[1]);
            // Memory answers some lines later than others, by chance, and each stride has lines of its own.
            let (before, after) = (before.execution_cycles, after.execution_cycles);
            assert!(after as f64 >= 0.95 * before as f64, "{device}: stride {stride} to {next}: {before} to {after}");
        }
        for (stride, timing) in &runs {
            let sectors = 16_384 * 4 * stride.min(&8);
            assert_eq!(timing.traffic.l2.read_sectors, sectors, "{device}: stride {stride}");
        }
        let (first, last) = (&runs[0].1, &runs[5].1);
        assert!(last.execution_cycles > 2 * first.execution_cycles, "{device}");
    }
}

#[test]
fn nothing_moves_faster_than_the_device_allows() {
    for name in ["H200", "RTX 5070", "A100"] {
        let device = find(name).unwrap();
        let mut bench = Bench::new(name);
        for stride in [1, 8] {
            let timing = strided_copy(&mut bench, 4096, stride);
            let seconds = timing.execution_cycles as f64 / (f64::from(device.boost_clock_mhz) * 1e6);
            let sectors = timing.traffic.dram_read_sectors + timing.traffic.dram_write_sectors;
            let gbs = 32.0 * sectors as f64 / seconds / 1e9;
            assert!(gbs < device.memory_bandwidth_gbs, "{name}, stride {stride}: {gbs} GB/s");
            let l2 = (timing.traffic.l2.read_sectors + timing.traffic.l2.write_sectors) as f64 * 32.0;
            let most = device.parameters.l2_bytes_per_cycle_per_sm * f64::from(device.sm_count);
            assert!(l2 / timing.execution_cycles as f64 <= most, "{name}, stride {stride}");
        }
    }
}

#[test]
fn states_of_warps_add_up_to_their_lives() {
    let mut bench = Bench::new("RTX 5070");
    let n = 20_000u64;
    let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * n));
    // One warp a block, so that a block's life is its warp's.
    let timing = bench.time(&vecadd(), 625, 32, &[a, b, c, n]);
    let lives: u64 = timing.placements.iter().map(|placement| placement.end_cycle - placement.start_cycle).sum();
    assert_eq!(timing.stalls.total(), lives);
    assert_eq!(timing.stalls.get(Stall::Selected), timing.schedulers.instructions);
    assert!(timing.stalls.get(Stall::LongScoreboard) > lives / 2, "it waits for its loads");
    assert!((0.0..=1.0).contains(&timing.achieved_occupancy) && timing.issue_utilisation() < 1.0);
    let schedulers = 4 * timing.sm_active_cycles;
    assert_eq!(timing.schedulers.issued_cycles + timing.schedulers.idle_cycles, schedulers);
}

#[test]
fn a_barrier_shows_as_waiting_at_a_barrier() {
    let mut bench = Bench::new("RTX 5070");
    let (from, to) = (bench.alloc(4 * 256 * 96), bench.alloc(4 * 96));
    let timing = bench.time(&block_sum(), 96, 256, &[from, to]);
    assert!(timing.stalls.get(Stall::Barrier) > 0 && timing.stalls.get(Stall::ShortScoreboard) > 0);
    assert_eq!(timing.traffic.l2.write_sectors, 96);
}

#[test]
fn more_work_takes_no_less_time() {
    let mut bench = Bench::new("H200");
    let mut cycles = |blocks: u32, steps: u32| {
        let body = format!(
            "mov.u32 %r1, {steps};\nLOOP: mul.f32 %f1, %f1, %f2; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;"
        );
        bench.time(&entry(0, REGISTERS, &body), blocks, 256, &[]).execution_cycles
    };
    let by_blocks: Vec<u64> = [1, 2, 131, 132, 133, 264, 1056, 1057].map(|blocks| cycles(blocks, 100)).into();
    assert!(by_blocks.is_sorted(), "{by_blocks:?}");
    let by_steps: Vec<u64> = [1, 2, 10, 100, 1000].map(|steps| cycles(4, steps)).into();
    assert!(by_steps.is_sorted(), "{by_steps:?}");
}
