//! Block barriers: who is waited for, what they reduce, and what happens when somebody never comes.

mod support;

use support::{Bench, run};
use warpwise_simt::exec::Divergence;
use warpwise_simt::fault::FaultKind;
use warpwise_simt::machine::Launch;

const TILE: &str = ".shared .align 4 .b32 tile[1024];";

/// Every thread reads what the thread mirrored across the block wrote before the barrier.
const MIRROR: &str = "mov.u32 %r3, tile; mad.lo.u32 %r4, %t, 4, %r3; mul.lo.u32 %r5, %t, 3; st.shared.u32 [%r4], %r5;
    bar.sync 0; mov.u32 %r6, %ntid.x; sub.u32 %r6, %r6, %t; sub.u32 %r6, %r6, 1; mad.lo.u32 %r6, %r6, 4, %r3;
    ld.shared.u32 %r7, [%r6]; st.global.u32 [%mine], %r7;";

#[test]
fn stores_before_a_barrier_are_seen_after_it_whatever_the_block_size() {
    for threads in [1, 31, 32, 33, 250, 1024] {
        let mut bench = Bench::new(TILE, MIRROR, threads as usize);
        let launch = bench.launch(1, threads, 0);
        let expected: Vec<u32> = (0..threads).map(|t| 3 * (threads - 1 - t)).collect();
        assert_eq!(bench.output(&launch), expected, "{threads} threads");
    }
}

#[test]
fn threads_that_have_exited_are_not_waited_for() {
    let body = "setp.lt.u32 %p1, %t, 40; @%p1 ret; bar.sync 0; mov.u32 %r3, 1; st.global.u32 [%mine], %r3;";
    let mut expected = vec![0; 40];
    expected.resize(96, 1);
    assert_eq!(run(body, 96), expected);
}

#[test]
fn a_barrier_reached_on_both_sides_of_a_branch_is_one_barrier() {
    // Independent threads, as since Volta: the sides arrive one after the other and both go on.
    let body = "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN; bar.sync 0; mov.u32 %r4, 1; bra JOIN;
        EVEN: bar.sync 0; mov.u32 %r4, 2; JOIN: st.global.u32 [%mine], %r4;";
    assert_eq!(run(body, 64), (0..64).map(|t| if t % 2 == 0 { 2 } else { 1 }).collect::<Vec<u32>>());
}

#[test]
fn before_volta_a_warp_arrives_as_a_whole() {
    let body = "setp.lt.u32 %p1, %t, 5; @!%p1 bra JOIN; bar.sync 0; JOIN: st.global.u32 [%mine], 7;";
    let mut bench = Bench::new("", body, 64);
    let launch = Launch { divergence: Divergence::Lockstep, ..bench.launch(1, 64, 0) };
    // Warp 1 never comes to the barrier, but it exits, which satisfies it too.
    assert_eq!(bench.output(&launch), vec![7; 64]);
}

#[test]
fn a_producer_that_arrives_and_a_consumer_that_waits() {
    // Warp 0 produces and does not wait; warp 1 waits for 64 threads.
    let body = "mov.u32 %r3, tile; setp.lt.u32 %p1, %t, 32; @!%p1 bra CONSUME;
        mad.lo.u32 %r4, %t, 4, %r3; add.u32 %r5, %t, 100; st.shared.u32 [%r4], %r5; bar.arrive 1, 64; ret;
        CONSUME: bar.sync 1, 64; sub.u32 %r6, %t, 32; mad.lo.u32 %r4, %r6, 4, %r3; ld.shared.u32 %r5, [%r4];
        st.global.u32 [%mine], %r5;";
    let mut bench = Bench::new(TILE, body, 64);
    let launch = bench.launch(1, 64, 0);
    assert_eq!(bench.output(&launch)[32..], (100..132).collect::<Vec<u32>>());
}

#[test]
fn reductions_count_and_combine_the_predicates_of_the_block() {
    let body = "rem.u32 %r3, %t, 3; setp.eq.u32 %p1, %r3, 0; bar.red.popc.u32 %r4, 0, %p1;
        bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1; setp.lt.u32 %p4, %t, 1000; bar.red.and.pred %p5, 0, %p4;
        selp.u32 %r5, 1000, 0, %p2; selp.u32 %r6, 2000, 0, %p3; selp.u32 %r7, 4000, 0, %p5;
        add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7; st.global.u32 [%mine], %r4;";
    assert_eq!(run(body, 70), vec![24 + 2000 + 4000; 70]);
}

#[test]
fn a_barrier_used_again_and_again_keeps_its_rounds_apart() {
    let body = "mov.u32 %r3, tile; mad.lo.u32 %r4, %t, 4, %r3; mov.u32 %r5, 0; st.shared.u32 [%r4], %t;
        LOOP: bar.sync 0; add.u32 %r6, %t, 1; mov.u32 %r7, %ntid.x; rem.u32 %r6, %r6, %r7; mad.lo.u32 %r6, %r6, 4, %r3;
        ld.shared.u32 %r8, [%r6]; bar.sync 0; st.shared.u32 [%r4], %r8;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 17; @%p1 bra LOOP; st.global.u32 [%mine], %r8;";
    let mut bench = Bench::new(TILE, body, 96);
    let launch = bench.launch(1, 96, 0);
    assert_eq!(bench.output(&launch), (0..96).map(|t| (t + 17) % 96).collect::<Vec<u32>>());
}

#[test]
fn half_a_block_at_one_barrier_and_half_at_another_is_a_deadlock_that_names_the_barrier() {
    let body = "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2;";
    let mut bench = Bench::new("", body, 1);
    let launch = bench.launch(1, 64, 0);
    let fault = bench.fault(&launch);
    assert_eq!(fault.kind, FaultKind::Deadlock);
    assert!(fault.instruction.contains("bar.sync"), "{fault}");
}

#[test]
fn a_barrier_number_or_count_that_does_not_exist_is_a_fault() {
    for (body, given) in [("bar.sync %n;", 16), ("bar.sync 1, %n;", 33), ("bar.sync 1, %n;", 96)] {
        let mut bench = Bench::new("", body, 1);
        let launch = bench.launch(1, 64, given);
        let fault = bench.fault(&launch);
        assert_eq!(fault.kind, FaultKind::BarrierMisuse, "{body} with {given}");
        assert!(fault.message.contains(&given.to_string()), "{fault}");
    }
}
