//! Long launches are timed by samples: what that must not change, and how far it may be off.

use warpwise_simt::machine::{Mode, Report};
use warpwise_simt::timing::Timing;

use crate::bench::{Bench, entry};
use crate::kernels::{tickets, vecadd};

/// 48 SMs with 6 blocks of 256 threads each live at once.
const DEVICE: &str = "RTX 5070";
const WAVE: u32 = 288;

/// A bench that samples launches of more instructions than this.
fn bench(unsampled_instructions: u64, threads: usize) -> Bench {
    let mut bench = Bench::new(DEVICE);
    bench.machine.system_mut().set_threads(threads);
    bench.machine.system_mut().set_unsampled_instructions(unsampled_instructions);
    bench
}

fn timing(report: &Report) -> &Timing {
    report.timing.as_ref().unwrap()
}

/// Adds `blocks` × 256 elements.
fn add(unsampled_instructions: u64, threads: usize, blocks: u32) -> (Report, Vec<u32>) {
    let mut bench = bench(unsampled_instructions, threads);
    let n = 256 * blocks as usize;
    let numbers: Vec<u32> = (0..n).map(|index| (index as f32).to_bits()).collect();
    let [a, b] = [0; 2].map(|_| bench.upload(&numbers));
    let c = bench.alloc(4 * n as u64);
    let report = bench.run(&vecadd(), blocks, 256, &[a, b, c, n as u64]);
    assert_eq!(report.fault, None);
    let sums = bench.download(c, n);
    (report, sums)
}

#[test]
fn results_and_counters_of_a_sampled_launch_are_those_of_a_whole_one_and_its_time_is_near() {
    let blocks = 40 * WAVE + 5;
    let (whole, sums) = add(u64::MAX, 1, blocks);
    let (sampled, sampled_sums) = add(500_000, 1, blocks);
    assert_eq!(timing(&whole).sampled, None);
    let how = timing(&sampled).sampled.unwrap();
    assert!(how.blocks == u64::from(blocks) && how.timed_blocks < 3 * how.blocks / 4, "{how:?}");
    assert_eq!(timing(&sampled).placements.len() as u64, how.timed_blocks);
    assert!(sums == sampled_sums && sums[1000] == 2000.0_f32.to_bits());
    assert_eq!(whole.counters, sampled.counters);
    let cycles = |report: &Report| timing(report).execution_cycles as f64;
    let off = cycles(&sampled) / cycles(&whole) - 1.0;
    assert!(how.error < 0.03 && off.abs() < 0.03, "{off} off; {how:?}");
    // What grows with time grows with it.
    let (a, b) = (timing(&whole), timing(&sampled));
    for (name, whole, sampled) in [
        ("instructions", a.schedulers.instructions, b.schedulers.instructions),
        ("misses in L1", a.traffic.l1_miss_sectors, b.traffic.l1_miss_sectors),
        ("writes", a.traffic.l2.write_sectors, b.traffic.l2.write_sectors),
        ("active", a.sm_active_cycles, b.sm_active_cycles),
        ("stalls", a.stalls.total(), b.stalls.total()),
    ] {
        assert!((sampled as f64 / whole as f64 - 1.0).abs() < 0.03, "{name}: {whole}, sampled {sampled}");
    }
    let by_instruction: u64 = b.instruction_stalls.iter().map(|stalls| stalls.total()).sum();
    assert!((by_instruction as f64 / b.stalls.total() as f64 - 1.0).abs() < 1e-3, "{by_instruction}");
    assert!((a.achieved_occupancy - b.achieved_occupancy).abs() < 0.03);
}

#[test]
fn where_the_blocks_become_others_timing_starts_again() {
    let run = |unsampled_instructions| {
        let mut bench = bench(unsampled_instructions, 1);
        let (n, blocks) = (256 * 24 * WAVE, 90 * WAVE);
        let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * u64::from(n)));
        let report = bench.run(&vecadd(), blocks, 256, &[a, b, c, n.into()]);
        assert_eq!(report.fault, None);
        report
    };
    let (whole, sampled) = (run(u64::MAX), run(300_000));
    assert_eq!(whole.counters, sampled.counters);
    let how = timing(&sampled).sampled.unwrap();
    assert!(how.timed_blocks < 2 * how.blocks / 3, "{how:?}");
    let off = timing(&sampled).execution_cycles as f64 / timing(&whole).execution_cycles as f64 - 1.0;
    assert!(off.abs() < 0.05, "{off} off; {how:?}");
}

#[test]
fn a_sampled_launch_takes_the_same_cycles_on_any_number_of_threads() {
    let one = add(400_000, 1, 24 * WAVE);
    assert!(timing(&one.0).sampled.is_some());
    for threads in [2, 3] {
        let more = add(400_000, threads, 24 * WAVE);
        assert_eq!(one.0.timing, more.0.timing, "{threads} threads");
        assert_eq!(one.0.counters, more.0.counters, "{threads} threads");
    }
}

#[test]
fn a_launch_within_the_limit_is_timed_as_a_whole() {
    assert_eq!(timing(&add(4_000_000, 1, 14 * WAVE).0).sampled, None);
}

#[test]
fn every_thread_draws_its_ticket_also_where_blocks_are_left_out() {
    let blocks = 14 * WAVE;
    let mut bench = bench(100_000, 2);
    let threads = 256 * blocks as usize;
    let (counters, drawn) = (bench.upload(&[0; 64]), bench.upload(&vec![0; threads]));
    let report = bench.run(&tickets(), blocks, 256, &[counters, 64, drawn]);
    assert_eq!(report.fault, None);
    assert!(timing(&report).sampled.is_some());
    let drawn = bench.download(drawn, threads);
    for counter in 0..64 {
        let mut of_one: Vec<u32> = drawn.iter().copied().skip(counter).step_by(64).collect();
        of_one.sort_unstable();
        assert!(of_one.iter().copied().eq(0..of_one.len() as u32), "counter {counter}");
    }
}

/// Every block computes and then writes 1 to its word of the first array. The block of the second parameter first waits for the
/// word of the block of the third; the block of the fourth writes to address 0.
fn chain() -> String {
    let registers = ".reg .u32 %r<8>; .reg .u64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p<4>;";
    let body = format!(
        "mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd1, %r1;\n\
         ld.param.u64 %rd2, [p0]; ld.param.u64 %rd3, [p1]; ld.param.u64 %rd4, [p2]; ld.param.u64 %rd7, [p3];\n\
         setp.ne.u64 %p1, %rd1, %rd3; @%p1 bra WORK;\nmad.lo.u64 %rd5, %rd4, 4, %rd2;\n\
         WAIT: ld.volatile.global.u32 %r2, [%rd5]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;\n\
         WORK: {}\nmad.lo.u64 %rd6, %rd1, 4, %rd2; setp.eq.u64 %p3, %rd1, %rd7; @%p3 mov.u64 %rd6, 0;\n\
         mov.u32 %r3, 1; st.global.u32 [%rd6], %r3;",
        "fma.rn.f32 %f1, %f1, %f2, %f3;\n".repeat(60)
    );
    entry(4, registers, &body)
}

const NOBODY: u64 = u64::MAX;

fn run_chain(waits: u64, waits_for: u64, faults: u64) -> (Report, Vec<u32>) {
    let blocks = 30 * WAVE;
    let mut bench = bench(400_000, 1);
    let words = bench.upload(&vec![0; blocks as usize]);
    let report = bench.run(&chain(), blocks, 256, &[words, waits, waits_for, faults]);
    let words = bench.download(words, blocks as usize);
    (report, words)
}

/// The first block that was left out.
fn first_left_out(report: &Report) -> u64 {
    let mut timed: Vec<u64> = timing(report).placements.iter().map(|placement| placement.block).collect();
    timed.sort_unstable();
    timed.iter().zip(0..).find(|(block, number)| *block != number).unwrap().1
}

#[test]
fn a_block_that_waits_for_one_that_still_runs_is_timed_after_all() {
    let (plain, words) = run_chain(NOBODY, 0, NOBODY);
    assert!(words.iter().all(|word| *word == 1));
    let first = first_left_out(&plain);
    // The last one before them has started and not ended.
    let waits = first + 50;
    let (report, words) = run_chain(waits, first - 1, NOBODY);
    assert_eq!(report.fault, None);
    assert!(words.iter().all(|word| *word == 1));
    let is_timed = |block| timing(&report).placements.iter().any(|placement| placement.block == block);
    assert!(is_timed(waits) && !is_timed(waits - 1) && !is_timed(waits + 1));
    let (with, without) = (timing(&report).sampled.unwrap(), timing(&plain).sampled.unwrap());
    assert_eq!(with.timed_blocks, without.timed_blocks + 1);
}

#[test]
fn a_fault_of_a_block_that_is_left_out_ends_the_launch() {
    let first = first_left_out(&run_chain(NOBODY, 0, NOBODY).0);
    let (report, _) = run_chain(NOBODY, 0, first + 7);
    assert_eq!(report.fault.unwrap().block, [first as u32 + 7, 0, 0]);
}

#[test]
fn sampling_is_for_timed_launches_only() {
    let mut bench = bench(0, 1);
    bench.mode = Mode::Functional;
    let report = bench.run(&entry(0, "", ""), 20 * WAVE, 256, &[]);
    assert!(report.timing.is_none());
}
