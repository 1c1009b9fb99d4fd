//! Blocks over SMs: waves, their tails, launch cost, placement.

use std::collections::HashMap;

use warpwise_simt::timing::Timing;

use crate::bench::{Bench, entry};
use crate::kernels::REGISTERS;

/// Blocks that compute for so many rounds and touch no memory.
fn busy(bench: &mut Bench, blocks: u32, rounds: u32) -> Timing {
    let steps = "fma.rn.f32 %f1, %f1, %f2, %f3;\n".repeat(16);
    let body = format!(
        "mov.u32 %r1, {rounds}; mov.f32 %f2, 0f3F000000;\nLOOP:\n{steps}sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;"
    );
    bench.time(&entry(0, REGISTERS, &body), blocks, 256, &[])
}

#[test]
fn the_first_block_too_many_costs_a_wave() {
    // 48 SMs with 6 blocks of 256 threads each: 288 live at once.
    let mut bench = Bench::new("RTX 5070");
    let mut cycles = |blocks| busy(&mut bench, blocks, 100).execution_cycles as f64;
    let (full, tail) = (cycles(288), cycles(289));
    let (one_each, none) = (cycles(48), cycles(1));
    assert!(tail > 1.1 * full, "{full} cycles for a wave, {tail} with one block more");
    assert!(one_each < 1.1 * none, "48 blocks side by side: {one_each} against {none}");
    assert!(tail - full < 1.1 * none, "the tail is one block alone");
}

#[test]
fn a_ragged_last_wave_takes_one_more_block() {
    let mut bench = Bench::new("RTX 5070");
    let mut cycles = |blocks| busy(&mut bench, blocks, 20).execution_cycles as f64;
    let (even, more) = (cycles(1024), cycles(1025));
    assert!(more >= even && more < 1.02 * even, "{even} {more}: the last wave was ragged already");
}

#[test]
fn every_block_is_placed_once_and_no_sm_holds_more_than_it_can() {
    let timing = busy(&mut Bench::new("RTX 5070"), 700, 5);
    let mut numbers: Vec<u64> = timing.placements.iter().map(|placement| placement.block).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..700));
    let mut events: HashMap<u32, Vec<(u64, i32)>> = HashMap::new();
    for placement in &timing.placements {
        assert!(placement.start_cycle < placement.end_cycle && placement.end_cycle <= timing.execution_cycles);
        let events = events.entry(placement.sm).or_default();
        events.extend([(placement.start_cycle, 1), (placement.end_cycle, -1)]);
    }
    assert_eq!(events.len(), 48);
    for (sm, mut events) in events {
        events.sort_unstable();
        let most = events.iter().scan(0, |alive, (_, change)| {
            *alive += change;
            Some(*alive)
        });
        assert_eq!(most.max(), Some(6), "SM {sm}");
    }
}

#[test]
fn an_empty_kernel_costs_a_launch_and_its_blocks_a_little_more() {
    for device in ["H200", "RTX 5070"] {
        let mut bench = Bench::new(device);
        let one = bench.time(&entry(0, "", ""), 1, 32, &[]);
        let many = bench.time(&entry(0, "", ""), 1024, 256, &[]);
        assert!((2.0..6.2).contains(&one.us), "{device}: {} µs by events", one.us);
        assert!(many.us > one.us && many.us < one.us + 2.0, "{device}: {} µs", many.us);
        assert_eq!(one.cycles, one.launch_cycles + one.execution_cycles);
    }
}
