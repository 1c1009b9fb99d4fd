//! The checks beyond memory bounds: each finds what is planted, names both places, and is silent on the corrected form.

mod support;

use support::{Bench, text};
use warpwise_simt::checks::Checks;
use warpwise_simt::device::Device;
use warpwise_simt::exec::Divergence;
use warpwise_simt::fault::{Fault, FaultKind};
use warpwise_simt::machine::{Launch, Machine, Mode};
use warpwise_simt::ptx::Module;

const SHARED: &str = ".shared .align 4 .b32 s[256];\n";

/// What all checks find in a launch of so many blocks and threads, in each way to run a warp. `out` has a word a thread, written.
fn findings(declarations: &str, body: &str, blocks: u32, threads: u32) -> Vec<Fault> {
    let words = (blocks * threads) as usize;
    let mut all = Vec::new();
    for divergence in [Divergence::Converge, Divergence::Adversarial(1), Divergence::Adversarial(2)] {
        let mut bench = Bench::new(declarations, body, words);
        bench.machine.set_checks(Checks::ALL);
        let launch = Launch { divergence, ..bench.launch(blocks, threads, 0) };
        let report = bench.run(&launch);
        all.extend(report.findings.iter().cloned());
        all.extend(report.fault.filter(|fault| !report.findings.contains(fault)));
    }
    all
}

fn silent(declarations: &str, body: &str, blocks: u32, threads: u32) {
    let found = findings(declarations, body, blocks, threads);
    assert!(found.is_empty(), "{}\n{body}", found[0]);
}

/// The first finding of this kind; beside it only reads of what nobody wrote, which a race may lead to.
fn finds(kind: FaultKind, declarations: &str, body: &str, blocks: u32, threads: u32) -> Fault {
    let found = findings(declarations, body, blocks, threads);
    let strange = found.iter().find(|fault| fault.kind != kind && fault.kind != FaultKind::Uninitialised);
    assert!(strange.is_none(), "{}", strange.unwrap());
    let first = found.iter().find(|fault| fault.kind == kind);
    first.unwrap_or_else(|| panic!("no {kind} was found in\n{body}")).clone()
}

/// Each thread stores to its word of `s`, and reads that of the next thread after `between`.
fn neighbour(between: &str, space: &str) -> String {
    format!(
        "mov.u32 %r3, s; shl.b32 %r4, %t, 2; add.u32 %r4, %r3, %r4; st{space}.shared.u32 [%r4], %t;\n{between}\n\
         mov.u32 %r5, %ntid.x; add.u32 %r6, %t, 1; rem.u32 %r6, %r6, %r5; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;\n\
         ld{space}.shared.u32 %r7, [%r6]; st.global.u32 [%mine], %r7;"
    )
}

#[test]
fn a_missing_barrier_is_a_race_that_names_both_instructions_and_threads() {
    silent(SHARED, &neighbour("bar.sync 0;", ""), 2, 128);
    silent(SHARED, &neighbour("bar.sync 1, 128;", ""), 1, 128);
    silent(SHARED, &neighbour("barrier.sync 0;", ""), 1, 100);
    let fault = finds(FaultKind::Race, SHARED, &neighbour("", ""), 1, 128);
    let other = fault.other.as_ref().unwrap();
    assert!(fault.instruction.starts_with("ld.shared") || fault.instruction.starts_with("st.shared"), "{fault}");
    assert_ne!(fault.instruction, other.instruction, "{fault}");
    assert_ne!(fault.thread, other.thread, "{fault}");
    assert!(fault.to_string().contains("of the block's 1,024 bytes of shared memory"), "{fault}");
}

#[test]
fn lanes_of_a_warp_are_ordered_by_bar_warp_sync_and_by_nothing_less() {
    silent(SHARED, &neighbour("bar.warp.sync -1;", ""), 1, 32);
    finds(FaultKind::Race, SHARED, &neighbour("", ""), 1, 32);
    finds(FaultKind::Race, SHARED, &neighbour("shfl.sync.idx.b32 %r20, %t, 0, 31, -1;", ""), 1, 32);
    finds(FaultKind::Race, SHARED, &neighbour("bar.warp.sync -1;", ""), 1, 64);
    finds(FaultKind::Race, SHARED, &neighbour("", ".volatile"), 1, 32);
}

#[test]
fn a_word_used_again_without_a_second_barrier_is_a_race() {
    let body = |second: &str| format!("{}\n{second}\nst.shared.u32 [%r4], %r7;", neighbour("bar.sync 0;", ""));
    silent(SHARED, &body("bar.sync 0;"), 1, 128);
    let fault = finds(FaultKind::Race, SHARED, &body(""), 1, 128);
    assert!(fault.to_string().contains("read it") || fault.other.unwrap().instruction.starts_with("st"));
}

#[test]
fn blocks_are_ordered_by_nothing_but_fences_and_atomics() {
    let all_to_one = "st.global.u32 [%out], %i;";
    let fault = finds(FaultKind::Race, "", all_to_one, 2, 1);
    assert_ne!(fault.block, fault.other.as_ref().unwrap().block, "{fault}");
    assert!(fault.allocation.as_ref().is_some_and(|text| text.starts_with("byte 0 of a")), "{fault}");
    silent("", "red.global.add.u32 [%out], 1;", 4, 64);
    finds(FaultKind::Race, "", "atom.global.add.u32 %r3, [%out], 1; ld.global.u32 %r4, [%out];", 2, 1);
    // The last block to come adds up what the others wrote.
    let last_block = |fence: &str| {
        format!(
            "add.u64 %d1, %out, 4; mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], 7;\n{fence}\n\
             atom.global.add.u32 %r3, [%out], 1; setp.ne.u32 %p1, %r3, 1; @%p1 ret;\n{fence}\n\
             ld.global.u32 %r4, [%out+4]; ld.global.u32 %r5, [%out+8];"
        )
    };
    let run = |body: String| {
        let mut bench = Bench::new("", &body, 8);
        bench.machine.set_checks(Checks { race: true, ..Checks::default() });
        let launch = bench.launch(2, 1, 0);
        bench.run(&launch).fault
    };
    assert_eq!(run(last_block("membar.gl;")), None);
    assert_eq!(run(last_block("")).map(|fault| fault.kind), Some(FaultKind::Race));
}

#[test]
fn a_lock_orders_what_it_guards_where_there_are_fences() {
    let counter = |fence: &str| {
        format!(
            "AGAIN: atom.global.cas.b32 %r3, [%out], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra AGAIN;\n{fence}\n\
             ld.global.u32 %r4, [%out+4]; add.u32 %r4, %r4, 1; st.global.u32 [%out+4], %r4;\n{fence}\n\
             atom.global.exch.b32 %r5, [%out], 0;"
        )
    };
    let run = |body: String, divergence| {
        let mut bench = Bench::new("", &body, 8);
        bench.machine.set_checks(Checks { race: true, sync: true, ..Checks::default() });
        let launch = Launch { divergence, ..bench.launch(3, 64, 0) };
        let fault = bench.run(&launch).fault;
        (fault.map(|fault| fault.to_string()), bench.read()[1])
    };
    for divergence in [Divergence::Converge, Divergence::Adversarial(3), Divergence::Adversarial(4)] {
        assert_eq!(run(counter("membar.gl;"), divergence), (None, 192));
    }
    assert!(run(counter(""), Divergence::Converge).0.unwrap().contains("race"));
}

#[test]
fn a_lock_taken_twice_ends_with_no_progress_under_every_way_to_run() {
    let body = "AGAIN: atom.global.cas.b32 %r3, [%mine], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra AGAIN;\n\
                MORE: atom.global.cas.b32 %r3, [%mine], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra MORE;";
    let fault = finds(FaultKind::NoProgress, "", body, 1, 32);
    assert!(fault.instruction.contains("bra MORE") || fault.instruction.contains("%r3"), "{fault}");
    silent("", &body.replace("MORE: atom.global.cas.b32 %r3, [%mine], 0, 1", "MORE: mov.u32 %r3, 0"), 1, 32);
}

#[test]
fn a_barrier_in_both_arms_of_a_divergent_branch_is_named_with_both_places() {
    let body = |first: &str, second: &str| {
        format!(
            "and.b32 %r3, %t, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra ODD;\n{first}\nbra JOIN;\nODD:\n{second}\nJOIN: {}",
            "st.global.u32 [%mine], %t;"
        )
    };
    let fault = finds(FaultKind::DivergentBarrier, "", &body("bar.sync 0;", "bar.sync  0;"), 1, 64);
    let other = fault.other.as_ref().unwrap();
    assert_ne!(fault.listing_line, other.listing_line, "{fault}");
    assert!(other.instruction.starts_with("bar.sync"), "{fault}");
    silent("", &body("barrier.sync 0;", "barrier.sync  0;"), 1, 64);
    silent("", &format!("{}\nbar.sync 0;", body("", "")), 1, 64);
}

#[test]
fn a_thread_that_exits_before_a_counted_barrier_is_named_in_the_deadlock() {
    let body =
        |count: &str| format!("setp.ge.u32 %p1, %t, 32; @%p1 ret;\nbar.sync 1{count};\nst.global.u32 [%mine], %t;");
    let fault = finds(FaultKind::Deadlock, "", &body(", 64"), 1, 64);
    let other = fault.other.as_ref().unwrap();
    assert!(other.doing == "has exited" && other.thread[0] >= 32, "{fault}");
    assert!(fault.instruction.starts_with("bar.sync"), "{fault}");
    silent("", &body(""), 1, 64);
    silent("", &body(", 32"), 1, 64);
}

#[test]
fn wrong_member_masks_are_named() {
    silent("", "shfl.sync.bfly.b32 %r3, %t, 16, 31, -1; vote.sync.ballot.b32 %r4, %p0, -1;", 1, 32);
    silent("", "shfl.sync.down.b32 %r3, %t, 16, 31, -1; shfl.sync.up.b32 %r4, %t, 3, 0, -1;", 1, 32);
    silent("", "shfl.sync.down.b32 %r3|%p1, %t, 2, 0x1c1f, -1; shfl.sync.idx.b32 %r4, %t, 5, 0x181f, -1;", 1, 32);
    let not_in_it = finds(FaultKind::WarpMask, "", "bar.warp.sync 0x0000ffff;", 1, 32);
    assert!(not_in_it.to_string().contains("member mask 0x0000ffff"), "{not_in_it}");
    // Lane 0 takes part with a mask that its partners do not name.
    let two =
        "mov.u32 %r3, -1; setp.eq.u32 %p1, %t, 0; @%p1 mov.u32 %r3, 0x7fffffff; vote.sync.any.pred %p2, %p1, %r3;";
    finds(FaultKind::WarpMask, "", two, 1, 32);
    // 26 threads: lanes 10 to 15 take values of lanes that do not exist.
    let partial = "shfl.sync.down.b32 %r3, %t, 16, 31, -1;";
    let fault = finds(FaultKind::WarpMask, "", partial, 1, 26);
    assert!(fault.thread[0] == 10 && fault.other.is_none(), "{fault}");
    let left = "setp.lt.u32 %p1, %t, 3; @%p1 ret; shfl.sync.idx.b32 %r3, %t, 2, 31, -1;";
    assert_eq!(finds(FaultKind::WarpMask, "", left, 1, 32).other.unwrap().thread[0], 2);
}

#[test]
fn lanes_that_store_different_values_to_one_word_at_once_race() {
    silent(SHARED, "mov.u32 %r3, s; mov.u32 %r4, 5; st.shared.u32 [%r3], %r4;", 1, 32);
    finds(FaultKind::Race, SHARED, "mov.u32 %r3, s; st.shared.u32 [%r3], %t;", 1, 32);
}

#[test]
fn bytes_of_one_word_do_not_race() {
    silent(SHARED, "mov.u32 %r3, s; add.u32 %r3, %r3, %t; st.shared.u8 [%r3], %t; ld.shared.u8 %r4, [%r3];", 1, 128);
}

#[test]
fn reads_of_what_nobody_wrote_are_named_in_each_space() {
    let shared = finds(FaultKind::Uninitialised, SHARED, "mov.u32 %r3, s; ld.shared.u32 %r4, [%r3+4];", 1, 1);
    assert!(shared.message.contains("read of 4 bytes at byte 4"), "{shared}");
    silent(SHARED, "mov.u32 %r3, s; st.shared.u32 [%r3+4], 1; ld.shared.u32 %r4, [%r3+4];", 2, 1);
    let local = ".local .align 8 .b8 here[16];\n";
    finds(FaultKind::Uninitialised, "", &format!("{local} ld.local.u32 %r4, [here+8];"), 1, 32);
    silent("", &format!("{local} st.local.v2.u32 [here+8], {{%t, %t}}; ld.local.u32 %r4, [here+12];"), 1, 32);
}

#[test]
fn global_memory_is_written_by_host_fills_copies_and_kernels() {
    let body = "ld.global.u32 %r4, [%mine]; st.global.u32 [%mine+128], %r4;";
    let mut bench = Bench::new("", body, 64);
    bench.machine.set_checks(Checks { init: true, ..Checks::default() });
    let launch_at = |bench: &mut Bench, address: u64| {
        let launch = Launch { params: [&address.to_le_bytes()[..], &[0; 4]].concat(), ..bench.launch(1, 32, 0) };
        bench.run(&launch).fault
    };
    let old = bench.out;
    assert_eq!(launch_at(&mut bench, old), None, "memory from before counts as written");
    let new = bench.machine.alloc(256).unwrap();
    let fault = launch_at(&mut bench, new).unwrap();
    assert_eq!((fault.kind, fault.address), (FaultKind::Uninitialised, Some(new)));
    assert_eq!(fault.allocation.as_deref(), Some("byte 0 of a 256-byte allocation"));
    bench.machine.write(new, &[1; 128]).unwrap();
    assert_eq!(launch_at(&mut bench, new), None);
    assert_eq!(launch_at(&mut bench, new + 128).unwrap().kind, FaultKind::OutOfBounds, "its store is past the end");
    let copy = bench.machine.alloc(256).unwrap();
    bench.machine.copy(copy, new, 64).unwrap();
    assert_eq!(launch_at(&mut bench, copy).unwrap().address, Some(copy + 64));
    bench.machine.fill(copy, 256, 0).unwrap();
    assert_eq!(launch_at(&mut bench, copy), None);
}

#[test]
fn a_timed_launch_is_checked_before_and_computes_what_it_computes_without() {
    let body = "ld.global.u32 %r4, [%mine]; add.u32 %r4, %r4, 1; st.global.u32 [%mine], %r4;";
    let mut bench = Bench::new("", body, 64);
    bench.machine.set_checks(Checks::ALL);
    let launch = Launch { mode: Mode::Timed, ..bench.launch(2, 32, 0) };
    let report = bench.run(&launch);
    assert!(report.fault.is_none() && report.timing.is_some());
    assert!(bench.read().iter().all(|word| *word == 1), "it ran once");
    let mut racy = Bench::new("", "st.global.u32 [%out], %i;", 64);
    racy.machine.set_checks(Checks::ALL);
    let launch = Launch { mode: Mode::Timed, ..racy.launch(2, 32, 0) };
    assert_eq!(racy.run(&launch).fault.map(|fault| fault.kind), Some(FaultKind::Race));
}

#[test]
fn a_seed_gives_the_same_interleaving_again_and_another_one_another() {
    // The order in which lanes take tickets is the interleaving.
    let text = text(
        "",
        "and.b32 %r3, %t, 7; L: setp.eq.u32 %p1, %r3, 0; @%p1 bra D; sub.u32 %r3, %r3, 1; bra L;\n\
         D: atom.global.add.u32 %r4, [%out], 1; st.global.u32 [%mine+4], %r4;",
    );
    let module = Module::parse("test.ptx", &text).unwrap();
    let program = module.lower("k").unwrap();
    let order = |seed: u64| {
        let mut machine = Machine::new(Device::default_device());
        let loaded = machine.load(module.variables()).unwrap();
        let kernel = machine.prepare(loaded, &program).unwrap();
        let out = machine.alloc(4 * 129).unwrap();
        let params = [&out.to_le_bytes()[..], &[0; 4]].concat();
        let launch =
            Launch { divergence: Divergence::Adversarial(seed), ..Launch::new([1, 1, 1], [128, 1, 1], params) };
        assert!(machine.launch(&kernel, &launch).unwrap().fault.is_none());
        let mut bytes = vec![0; 4 * 129];
        machine.read(out, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(order(5), order(5));
    assert_ne!(order(5), order(6));
}
