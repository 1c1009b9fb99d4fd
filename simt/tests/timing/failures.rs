//! Launches that fault, wait for ever or spin, under the cycle model as without it.

use warpwise_simt::fault::FaultKind;
use warpwise_simt::machine::{Mode, Report};

use crate::bench::{Bench, entry};
use crate::kernels::{REGISTERS, vecadd};

fn fault_of(report: &Report) -> FaultKind {
    report.fault.as_ref().map(|fault| fault.kind).unwrap()
}

#[test]
fn the_fault_of_the_lowest_cycle_and_sm_is_reported_whatever_the_threads() {
    let run = |threads| {
        let mut bench = Bench::new("RTX 5070");
        bench.machine.system_mut().set_threads(threads);
        let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * 1000));
        // Guarded at twice the arrays' length: many blocks run past the end.
        let report = bench.run(&vecadd(), 8, 256, &[a, b, c, 200_000]);
        (report.fault.unwrap(), report.timing.unwrap())
    };
    let (fault, timing) = run(1);
    // The first warp of block 4 gets there before the last one of block 3, which starts 7 cycles after its first.
    assert_eq!((fault.kind, fault.block, fault.thread), (FaultKind::OutOfBounds, [4, 0, 0], [0, 0, 0]));
    assert!(timing.execution_cycles < 1_000);
    for threads in [2, 5] {
        assert_eq!(run(threads), (fault.clone(), timing.clone()), "{threads} threads");
    }
}

#[test]
fn a_barrier_that_half_of_a_block_never_reaches_is_a_deadlock() {
    let body =
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra WAIT; bar.sync 1; bra END; WAIT: bar.sync 0; END:";
    for mode in [Mode::Timed, Mode::Functional] {
        let mut bench = Bench::new("RTX 5070");
        bench.mode = mode;
        let report = bench.run(&entry(0, REGISTERS, body), 2, 64, &[]);
        assert_eq!(fault_of(&report), FaultKind::Deadlock, "{mode:?}");
    }
}

#[test]
fn a_kernel_that_waits_for_a_flag_nobody_sets_is_ended() {
    let body =
        "ld.param.u64 %rd1, [p0]; LOOP: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra LOOP;";
    let mut bench = Bench::new("RTX 5070");
    let flag = bench.upload(&[0]);
    bench.watchdog_instructions = Some(10_000);
    let report = bench.run(&entry(1, REGISTERS, body), 2, 64, &[flag]);
    assert_eq!(fault_of(&report), FaultKind::NoProgress);
    bench.watchdog_instructions = None;
    bench.step_budget = Some(5_000);
    let report = bench.run(&entry(1, REGISTERS, body), 2, 64, &[flag]);
    assert_eq!(fault_of(&report), FaultKind::StepBudget);
}

#[test]
fn a_flag_that_another_block_sets_is_seen() {
    let body = "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        LOOP: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOP;
        st.global.u32 [%rd1+4], %r2; bra END;
        SET: mov.u32 %r3, 7; st.volatile.global.u32 [%rd1], %r3; END:";
    let mut bench = Bench::new("RTX 5070");
    let flag = bench.upload(&[0, 0]);
    bench.time(&entry(1, REGISTERS, body), 2, 1, &[flag]);
    assert_eq!(bench.download(flag, 2), [7, 7]);
}

#[test]
fn a_lock_that_lanes_of_one_warp_take_in_turn_makes_progress() {
    // Each lane takes the lock, adds 1 without an atomic, and gives the lock back, inside the loop.
    let body = "ld.param.u64 %rd1, [p0];
        LOOP: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra NEXT;
        ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1+4], %r2;
        membar.gl; atom.global.exch.b32 %r3, [%rd1], 0; bra DONE;
        NEXT: bra LOOP;
        DONE:";
    let mut bench = Bench::new("RTX 5070");
    let lock = bench.upload(&[0, 0]);
    bench.time(&entry(1, REGISTERS, body), 2, 64, &[lock]);
    assert_eq!(bench.download(lock, 2), [0, 128]);
}

#[test]
fn a_thread_sees_its_own_atomic_and_its_block_sees_it_after_a_barrier() {
    let body = "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
        red.global.add.u32 [%rd3], 1;
        bar.sync 0;
        ld.global.u32 %r3, [%rd3];
        mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r1, %r4, %r2; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd5, %rd1, %rd4;
        st.global.u32 [%rd5+1024], %r3;";
    let mut bench = Bench::new("RTX 5070");
    let counters = bench.upload(&vec![0; 256 + 100 * 96]);
    bench.time(&entry(1, REGISTERS, body), 100, 96, &[counters]);
    let found = bench.download(counters, 256 + 100 * 96);
    assert!(found[256..].iter().all(|seen| *seen == 96), "every thread sees all 96 additions of its block");
}

#[test]
fn a_thread_reads_back_what_it_stored_a_moment_ago() {
    // Bytes, halves and words over each other, all within a quantum.
    let body = "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
        mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd2, %r4, 16; add.u64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3], %r4; mov.u32 %r5, 0xAB; st.global.u8 [%rd3+1], %r5; mov.u32 %r6, 0x1234; st.global.u16 [%rd3+2], %r6;
        ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3+4], %r7;
        ld.global.v2.u32 {%r8, %r9}, [%rd3]; add.u32 %r10, %r8, %r9; st.global.u32 [%rd3+8], %r10;";
    let results = |mode| {
        let mut bench = Bench::new("RTX 5070");
        bench.mode = mode;
        let memory = bench.upload(&vec![0; 4 * 300]);
        assert_eq!(bench.run(&entry(1, REGISTERS, body), 3, 100, &[memory]).fault, None);
        bench.download(memory, 4 * 300)
    };
    let timed = results(Mode::Timed);
    assert_eq!(timed[4 * 5 + 1], 0x1234_AB05);
    assert_eq!(timed, results(Mode::Functional));
}

#[test]
fn an_atomic_on_local_memory_holds_nobody_back() {
    // By generic addresses: the first lanes in local memory, the others in global. Loads follow, which wait for atomics.
    let body = |local: usize| {
        format!(
            "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, {local}; mov.u64 %rd2, mine;
            cvta.local.u64 %rd2, %rd2; mov.u32 %r2, 5; st.u32 [%rd2], %r2; mul.wide.u32 %rd3, %r1, 4;
            add.u64 %rd3, %rd1, %rd3; selp.b64 %rd4, %rd2, %rd3, %p1; atom.add.u32 %r3, [%rd4], 2; ld.u32 %r4, [%rd4];
            mad.lo.u32 %r5, %r3, 100, %r4; st.global.u32 [%rd3+128], %r5;"
        )
    };
    let registers = format!("{REGISTERS} .local .align 4 .b8 mine[4];");
    for (mode, local) in [Mode::Timed, Mode::Functional].into_iter().flat_map(|mode| [0, 16, 32].map(|n| (mode, n))) {
        let mut bench = Bench::new("RTX 5070");
        bench.mode = mode;
        let out = bench.upload(&[7; 64]);
        let report = bench.run(&entry(1, &registers, &body(local)), 1, 32, &[out]);
        assert_eq!(report.fault, None, "{mode:?}, {local} lanes in local memory");
        let expected: Vec<u32> = (0..32).map(|lane| if lane < local { 507 } else { 709 }).collect();
        assert_eq!(bench.download(out + 128, 32), expected, "{mode:?}, {local} lanes in local memory");
    }
}
