//! Divergence: who runs when, where lanes rejoin, and what spins.

mod support;

use support::{Bench, counter};
use warpwise_simt::exec::Divergence;
use warpwise_simt::fault::FaultKind;
use warpwise_simt::machine::{Launch, Report};

const BOTH: [Divergence; 2] = [Divergence::Converge, Divergence::Lockstep];

fn with(launch: Launch, divergence: Divergence) -> Launch {
    Launch { divergence, ..launch }
}

/// Executions and active lanes of the instructions whose text contains `text`.
fn executions(bench: &Bench, report: &Report, text: &str) -> Vec<(u64, u64)> {
    let infos = bench.kernel.program().info.iter().zip(&report.instructions);
    infos.filter(|(info, _)| info.text.contains(text)).map(|(_, count)| (count.executed, count.active_lanes)).collect()
}

#[test]
fn an_if_with_two_arms_runs_each_once_and_rejoins_after_it() {
    let body = "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN; add.u32 %r4, %t, 1000; bra JOIN;
        EVEN: add.u32 %r4, %t, 2000; JOIN: st.global.u32 [%mine], %r4;";
    for divergence in BOTH {
        let mut bench = Bench::new("", body, 32);
        let launch = with(bench.launch(1, 32, 0), divergence);
        let report = bench.run(&launch);
        let expected: Vec<u32> = (0..32u32).map(|t| t + if t.is_multiple_of(2) { 2000 } else { 1000 }).collect();
        assert_eq!(bench.read(), expected);
        assert_eq!(executions(&bench, &report, "1000"), [(1, 16)]);
        assert_eq!(executions(&bench, &report, "2000"), [(1, 16)]);
        assert_eq!(executions(&bench, &report, "st.global"), [(1, 32)], "{divergence:?} rejoins before the store");
        assert_eq!(counter(&report, "smsp__sass_branch_targets_threads_divergent.sum"), 1.0);
    }
}

#[test]
fn lanes_that_leave_a_loop_one_by_one_wait_at_its_end() {
    // Lane t goes round t + 1 times.
    let body = "mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %t; @%p1 bra LOOP;
        st.global.u32 [%mine], %r3;";
    for divergence in BOTH {
        let mut bench = Bench::new("", body, 32);
        let launch = with(bench.launch(1, 32, 0), divergence);
        let report = bench.run(&launch);
        assert_eq!(bench.read(), (1..=32).collect::<Vec<_>>());
        assert_eq!(executions(&bench, &report, "add.u32 %r3"), [(32, (1..=32).sum())]);
        assert_eq!(executions(&bench, &report, "st.global"), [(1, 32)]);
    }
}

#[test]
fn nested_branches_inside_a_loop_rejoin_level_by_level() {
    let body = "mov.u32 %r3, 0; mov.u32 %r4, 0;
        LOOP: and.b32 %r5, %t, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra A;
          and.b32 %r6, %t, 2; setp.eq.u32 %p2, %r6, 0; @%p2 bra B; add.u32 %r4, %r4, 3; bra INNER;
          B: add.u32 %r4, %r4, 5; INNER: add.u32 %r4, %r4, 7; bra OUTER;
        A: add.u32 %r4, %r4, 11;
        OUTER: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 10; @%p3 bra LOOP;
        st.global.u32 [%mine], %r4;";
    let mut bench = Bench::new("", body, 32);
    let launch = bench.launch(1, 32, 0);
    let report = bench.run(&launch);
    let step = |t: u32| {
        if t.is_multiple_of(2) {
            11
        } else if t & 2 == 0 {
            12
        } else {
            10
        }
    };
    assert_eq!(bench.read(), (0..32).map(|t| 10 * step(t)).collect::<Vec<_>>());
    assert_eq!(executions(&bench, &report, "%r4, 7"), [(10, 160)], "the inner arms rejoin first");
    assert_eq!(executions(&bench, &report, "add.u32 %r3, %r3, 1"), [(10, 320)]);
}

#[test]
fn lanes_that_exit_early_are_not_waited_for() {
    let body = "setp.lt.u32 %p1, %t, 5; @%p1 ret; and.b32 %r3, %t, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;
        mov.u32 %r4, 7; @%p2 exit; bra JOIN; EVEN: setp.gt.u32 %p3, %t, 20; @%p3 exit; mov.u32 %r4, 8;
        JOIN: st.global.u32 [%mine], %r4;";
    for divergence in BOTH {
        let mut bench = Bench::new("", body, 32);
        let launch = with(bench.launch(1, 32, 0), divergence);
        let found = bench.output(&launch);
        let expected = |t: u32| match (t < 5, t.is_multiple_of(2), t > 20) {
            (true, ..) | (_, true, true) => 0,
            (_, true, _) => 8,
            _ => 7,
        };
        assert_eq!(found, (0..32).map(expected).collect::<Vec<_>>());
    }
}

/// Every lane takes the lock, adds 1 to a sum without atomics, releases the lock inside the loop and leaves.
const SPIN_LOCK: &str = "LOOP: atom.global.cas.b32 %r3, [%out], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;
    ld.volatile.global.u32 %r4, [%out+4]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%out+4], %r4;
    membar.gl; atom.global.exch.b32 %r5, [%out], 0;";

#[test]
fn a_spin_lock_in_a_warp_makes_progress_when_converging() {
    let mut bench = Bench::new("", SPIN_LOCK, 2);
    let launch = bench.launch(3, 64, 0);
    assert_eq!(bench.output(&launch), [0, 192]);
}

#[test]
fn a_spin_lock_in_a_warp_never_ends_in_lockstep_and_the_fault_names_the_loop() {
    let mut bench = Bench::new("", SPIN_LOCK, 2);
    let launch = with(bench.launch(1, 32, 0), Divergence::Lockstep);
    let fault = bench.fault(&launch);
    assert_eq!(fault.kind, FaultKind::NoProgress);
    assert!(fault.instruction.contains("LOOP") || fault.instruction.contains("atom"), "{fault}");
}

#[test]
fn a_flag_set_by_a_lane_that_comes_later_is_seen() {
    // Lane 0 waits for lane 31's store; both are in one warp.
    let body =
        "setp.ne.u32 %p1, %t, 0; @%p1 bra SET; WAIT: ld.volatile.global.u32 %r3, [%out]; setp.eq.u32 %p2, %r3, 0;
        @%p2 bra WAIT; st.global.u32 [%out+4], %r3; bra JOIN;
        SET: setp.ne.u32 %p3, %t, 31; @%p3 bra JOIN; st.volatile.global.u32 [%out], 77; JOIN: mov.u32 %r3, 0;";
    let mut bench = Bench::new("", body, 2);
    let launch = bench.launch(1, 32, 0);
    assert_eq!(bench.output(&launch), [77, 77]);
}

#[test]
fn a_block_that_waits_for_a_later_resident_block_gets_its_flag() {
    let body = "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra LAST;
        WAIT: ld.volatile.global.u32 %r4, [%out]; setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT; st.global.u32 [%out+4], %r4; ret;
        LAST: setp.ne.u32 %p3, %r3, 40; @%p3 ret; st.volatile.global.u32 [%out], 5;";
    let mut bench = Bench::new("", body, 2);
    let launch = bench.launch(41, 64, 0);
    assert_eq!(bench.output(&launch), [5, 5]);
}

#[test]
fn a_block_that_waits_for_one_that_cannot_become_resident_makes_no_progress() {
    // One block of 1,024 threads fills an SM; the waiting blocks fill all 48 and the last block never starts.
    let body = "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 100; @%p1 bra LAST;
        WAIT: ld.volatile.global.u32 %r4, [%out]; setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT; ret;
        LAST: st.volatile.global.u32 [%out], 5;";
    let mut bench = Bench::new("", body, 2);
    let launch = bench.launch(101, 1024, 0);
    assert_eq!(bench.fault(&launch).kind, FaultKind::NoProgress);
}

#[test]
fn an_endless_loop_that_stores_the_same_value_again_makes_no_progress() {
    let body = "LOOP: st.global.u32 [%out], 1; bra LOOP;";
    let mut bench = Bench::new("", body, 1);
    let launch = bench.launch(1, 32, 0);
    assert_eq!(bench.fault(&launch).kind, FaultKind::NoProgress);
}

#[test]
fn an_endless_loop_that_counts_is_ended_by_the_watchdog_or_the_step_budget() {
    let body = "mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; bra LOOP;";
    let mut bench = Bench::new("", body, 1);
    let launch = Launch { watchdog_instructions: Some(1_000_000), ..bench.launch(1, 32, 0) };
    assert_eq!(bench.fault(&launch).kind, FaultKind::NoProgress);
    let launch = Launch { step_budget: Some(1000), ..bench.launch(1, 32, 0) };
    let report = bench.run(&launch);
    assert_eq!(report.fault.map(|fault| fault.kind), Some(FaultKind::StepBudget));
    let executed = report.counters.instructions();
    assert!((1000..1100).contains(&executed), "{executed} instructions for a budget of 1,000");
}

#[test]
fn a_long_loop_that_computes_is_left_alone() {
    let body = "mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n; @%p1 bra LOOP; st.global.u32 [%mine], %r3;";
    let mut bench = Bench::new("", body, 32);
    let launch = bench.launch(1, 32, 300_000);
    assert_eq!(bench.output(&launch), vec![300_000; 32]);
}

#[test]
fn one_lane_that_goes_round_far_longer_than_the_others_is_waited_for() {
    let body = "mov.u32 %r3, 0; setp.eq.u32 %p2, %t, 3; selp.u32 %r5, 5000, 10, %p2;
        LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r5; @%p1 bra LOOP; st.global.u32 [%mine], %r3;";
    let mut bench = Bench::new("", body, 32);
    let launch = bench.launch(1, 32, 0);
    let report = bench.run(&launch);
    assert_eq!(executions(&bench, &report, "st.global"), [(1, 32)]);
    assert_eq!(executions(&bench, &report, "add.u32 %r3"), [(5000, 310 + 5000)]);
}

#[test]
fn calls_from_divergent_lanes_return_and_rejoin() {
    let declarations =
        ".func (.reg .u32 %res) twice(.reg .u32 %x) { .reg .pred %q; setp.gt.u32 %q, %x, 20; @%q bra BIG;
        add.u32 %res, %x, %x; ret; BIG: mad.lo.u32 %res, %x, 2, 1; ret; }";
    let body = "mov.u32 %r4, 9; and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra SKIP; call (%r4), twice, (%t);
        SKIP: st.global.u32 [%mine], %r4;";
    let mut bench = Bench::new(declarations, body, 32);
    let launch = bench.launch(1, 32, 0);
    let report = bench.run(&launch);
    let expected = |t: u32| {
        if t.is_multiple_of(2) {
            9
        } else if t > 20 {
            2 * t + 1
        } else {
            2 * t
        }
    };
    assert_eq!(bench.read(), (0..32).map(expected).collect::<Vec<_>>());
    assert_eq!(executions(&bench, &report, "st.global"), [(1, 32)]);
}

#[test]
fn an_indexed_branch_goes_where_its_table_says_and_faults_past_it() {
    let body = "TABLE: .branchtargets L0, L1, L2; rem.u32 %r3, %t, %n; mov.u32 %r4, 0; brx.idx %r3, TABLE;
        L0: add.u32 %r4, %r4, 10; bra JOIN; L1: add.u32 %r4, %r4, 20; bra JOIN; L2: add.u32 %r4, %r4, 30;
        JOIN: st.global.u32 [%mine], %r4;";
    let mut bench = Bench::new("", body, 32);
    let launch = bench.launch(1, 32, 3);
    let report = bench.run(&launch);
    assert_eq!(bench.read(), (0..32).map(|t| 10 * (t % 3 + 1)).collect::<Vec<_>>());
    assert_eq!(executions(&bench, &report, "st.global"), [(1, 32)]);
    let launch = bench.launch(1, 32, 4);
    let fault = bench.fault(&launch);
    assert_eq!((fault.kind, fault.thread), (FaultKind::BranchIndex, [3, 0, 0]));
}
