//! SASS is timed by what it says about itself: cycle counts worked out by hand.

use proptest::prelude::*;
use warpwise_simt::device::find;
use warpwise_simt::isa::*;
use warpwise_simt::timing::{Stall, StallCycles};

use crate::sass::{Bench, Code, Run, atomic_add, by_scheduler, ffma, iadd, lanewise, load, one_block, one_warp, store};

const DEVICES: [&str; 3] = ["A100", "H200", "RTX 5070"];

fn stalls(run: &Run, stall: Stall) -> u64 {
    run.timing().stalls.get(stall)
}

#[test]
fn a_chain_of_ffma_takes_the_four_cycles_that_its_stall_counts_say() {
    let code = Code::new().repeat(100, |code, _| code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 0), "s4")).exit("s5");
    for device in DEVICES {
        let run = one_warp(device, &code);
        assert_eq!(run.cycles(0, 100), 400, "{device}");
        assert_eq!((stalls(&run, Stall::Selected), stalls(&run, Stall::Wait)), (101, 300), "{device}");
    }
}

#[test]
fn nothing_but_the_code_protects_a_register() {
    // The same chain with stalls of 1: wrong on the chip, and issued all the same, as fast as the pipe goes.
    let code = Code::new().repeat(100, |code, _| code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 0), "s1")).exit("s5");
    assert_eq!(one_warp("H200", &code).cycles(0, 100), 100, "32 lanes a scheduler");
    let run = one_warp("A100", &code);
    assert_eq!(run.cycles(0, 99), 198, "16 lanes a scheduler");
    assert_eq!(stalls(&run, Stall::MathPipeThrottle), 99);
}

#[test]
fn a_user_waits_for_the_counter_that_its_load_raised() {
    let code = Code::new()
        .then("LDG.E R0, desc[UR4][R2.64]", load(0, Space::Global, Ty::U32, 0), "s1 w3")
        .then("MOV R8, R9", iadd(8, 9, 9), "s1")
        .then("IADD3 R1, R0, R0, RZ", iadd(1, 0, 0), "s1 b3")
        .exit("s5");
    for device in DEVICES {
        let run = one_warp(device, &code);
        assert_eq!(run.cycles(0, 1), 1, "{device}: what does not wait goes on");
        assert_eq!(run.arrivals.len(), 1);
        assert_eq!(run.cycle(0, 2), run.arrivals[0].ready_cycle, "{device}");
        // The part of memory's latency that every line waits.
        let p = &find(device).unwrap().parameters;
        assert!(run.cycles(0, 2) as f64 >= p.dram_latency_cycles * (1.0 - p.dram_spread_share), "{device}");
        assert_eq!(stalls(&run, Stall::LongScoreboard), run.cycles(1, 2) - 1, "{device}");
    }
}

#[test]
fn what_a_warp_waits_for_is_told_by_instruction() {
    let code = Code::new()
        .then("LDG.E R0, desc[UR4][R2.64]", load(0, Space::Global, Ty::U32, 0), "s1 w3")
        .then("MOV R8, R9", iadd(8, 9, 9), "s6")
        .then("IADD3 R1, R0, R0, RZ", iadd(1, 0, 0), "s1 b3")
        .exit("s5");
    let run = one_warp("H200", &code);
    let by_instruction = &run.timing().instruction_stalls;
    let mut sum = StallCycles::default();
    by_instruction.iter().for_each(|stalls| sum.merge(stalls));
    assert_eq!(sum, run.timing().stalls);
    // The six cycles of the second instruction are in the latency of the first.
    let user = by_instruction[2];
    assert_eq!((user.get(Stall::LongScoreboard), user.get(Stall::Selected)), (run.cycles(1, 2) - 1, 1));
    assert_eq!((by_instruction[0].total(), by_instruction[1].total(), by_instruction[3].total()), (1, 1, 1));
}

#[test]
fn a_load_that_hits_in_l1_takes_its_latency() {
    let mut code = Code::new().then("LDG.E R0, desc[UR4][R2.64]", load(0, Space::Global, Ty::U32, 0), "s2 w0");
    code = code.then("IADD3 R1, R0, R0, RZ", iadd(1, 0, 0), "s1 b0");
    code = code.then("LDG.E R0, desc[UR4][R2.64]", load(0, Space::Global, Ty::U32, 4), "s2 w0");
    code = code.then("IADD3 R1, R0, R0, RZ", iadd(1, 0, 0), "s1 b0").exit("s5");
    for device in DEVICES {
        let latency = find(device).unwrap().parameters.l1_hit_latency_cycles as u64;
        assert_eq!(one_warp(device, &code).cycles(2, 3), latency, "{device}");
    }
}

#[test]
fn two_loads_on_one_counter_are_both_waited_for() {
    // One line each, far apart; the second is already in L1, so the first is the later one.
    let global = |dst, offset| load(dst, Space::Global, Ty::U32, offset);
    let code = Code::new()
        .then("LDG.E R0, [R2]", global(0, 4096), "s2 w0")
        .then("IADD3 R1, R0, R0, RZ", iadd(1, 0, 0), "s1 b0")
        .then("LDG.E R4, [R2]", global(4, 65536), "s1 w1")
        .then("LDG.E R5, [R2]", global(5, 4096), "s2 w1")
        .then("IADD3 R6, R4, R5, RZ", iadd(6, 4, 5), "s1 b1")
        .exit("s5");
    for device in DEVICES {
        let run = one_warp(device, &code);
        let miss = run.arrivals.iter().find(|arrival| arrival.pc == 2).unwrap();
        assert_eq!(run.cycle(0, 4), miss.ready_cycle, "{device}");
    }
}

#[test]
fn a_depbar_lets_the_younger_load_stay_out() {
    let global = |dst, offset| load(dst, Space::Global, Ty::U32, offset);
    // Of one line: of two, memory may answer the younger sooner.
    let loads =
        Code::new().then("LDG.E R0, [R2]", global(0, 0), "s10 w0").then("LDG.E R1, [R2+0x40]", global(1, 64), "s2 w0");
    let code = |text: &str| loads.clone().then(text, Instr::new(Op::Nop), "s1").exit("s5");
    let ready = |run: &Run, pc| run.arrivals.iter().find(|arrival| arrival.pc == pc).unwrap().ready_cycle;
    let in_part = one_warp("H200", &code("DEPBAR.LE SB0, 0x1"));
    assert!(ready(&in_part, 0) < ready(&in_part, 1));
    assert_eq!(in_part.cycle(0, 2), ready(&in_part, 0));
    let all = one_warp("H200", &code("DEPBAR.LE SB0, 0x0"));
    assert_eq!(all.cycle(0, 2), ready(&all, 1));
    let none = one_warp("H200", &code("DEPBAR.LE SB0, 0x2"));
    assert_eq!(none.cycles(1, 2), 2);
}

#[test]
fn special_functions_and_shared_memory_are_short_waits() {
    let sine = lanewise(AluKind::Ex2, Ty::F32, 0, &[1]);
    let sine = match sine.op {
        Op::Alu(alu) => Instr { op: Op::Alu(Alu { mods: Mods { approx: true, ..alu.mods }, ..alu }), ..sine },
        _ => sine,
    };
    let code =
        Code::new().then("MUFU.EX2 R0, R1", sine, "s1 w2").then("FADD R3, R0, R0", iadd(3, 0, 0), "s1 b2").exit("s5");
    let run = one_warp("H200", &code);
    assert_eq!(run.cycles(0, 1), 17);
    assert_eq!((stalls(&run, Stall::ShortScoreboard), stalls(&run, Stall::LongScoreboard)), (16, 0));
    let code = Code::new()
        .then("LDS R0, [RZ]", load(0, Space::Shared, Ty::U32, 0), "s1 w2")
        .then("FADD R3, R0, R0", iadd(3, 0, 0), "s1 b2")
        .exit("s5");
    let run = one_warp("A100", &code);
    assert_eq!(run.cycles(0, 1), 23);
    assert_eq!((stalls(&run, Stall::ShortScoreboard), stalls(&run, Stall::LongScoreboard)), (22, 0));
}

#[test]
fn a_register_that_a_store_reads_is_free_when_its_counter_falls() {
    for (ty, cycles) in [(Ty::U32, 14), (Ty::U64, 16), (Ty::B128, 20)] {
        let code = Code::new()
            .then("STG.E [R2], R0", store(0, Space::Global, ty, 0), "s1 r5")
            .then("MOV R0, R1", iadd(0, 1, 1), "s1 b5")
            .exit("s5");
        assert_eq!(one_warp("H200", &code).cycles(0, 1), cycles, "{ty:?}");
    }
}

#[test]
fn an_atomic_keeps_its_counter_up_until_its_value_is_there() {
    let code = Code::new()
        .then(
            "MOV R1, 0x1",
            Instr { src: [Src::constant(3), Src::constant(2), Src::NONE, Src::NONE], ..iadd(1, 0, 0) },
            "s4",
        )
        .then("ATOM.E.ADD PT, R0, [R2], R1", atomic_add(Some(0), 1), "s2 w0")
        .then("IADD3 R4, R0, R1, RZ", iadd(4, 0, 1), "s4 b0")
        .then("STG.E [R2+0x100], R4", store(4, Space::Global, Ty::U32, 256), "s1")
        .exit("s5");
    let mut bench = Bench::new("H200");
    let run = bench.trace(&code, 1, 32);
    assert_eq!(run.cycle(0, 2), run.arrivals[0].ready_cycle);
    // All lanes store to one word: the last lane's old value, which is 31, and 1.
    assert_eq!((bench.word(0), bench.word(64)), (32, 32));
}

#[test]
fn an_atomic_without_a_counter_holds_its_warp_until_its_value_is_there() {
    let one = Instr { src: [Src::constant(3), Src::constant(2), Src::NONE, Src::NONE], ..iadd(1, 0, 0) };
    let code = Code::new()
        .then("MOV R1, 0x1", one, "s4")
        .then("ATOM.E.ADD PT, R0, [R2], R1", atomic_add(Some(0), 1), "s2")
        .then("IADD3 R4, R0, R1, RZ", iadd(4, 0, 1), "s4")
        .then("STG.E [R2+0x100], R4", store(4, Space::Global, Ty::U32, 256), "s1")
        .exit("s5");
    let mut bench = Bench::new("H200");
    bench.trace(&code, 1, 32);
    assert_eq!(bench.word(64), 32);
}

#[test]
fn four_warps_of_a_scheduler_share_its_pipes() {
    // 16 warps of 100 instructions on 4 schedulers; each alone could issue every 4 cycles.
    let code = Code::new().repeat(100, |code, _| code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 0), "s4")).exit("s5");
    for (device, interval) in [("H200", 1), ("A100", 2)] {
        let run = one_block(device, &code, 512);
        for (scheduler, cycles) in by_scheduler(&run) {
            assert_eq!(cycles.len(), 404);
            let span = cycles[399] - cycles[0];
            assert!(span.abs_diff(400 * interval) <= 12, "{device}, scheduler {scheduler}: {span} cycles");
        }
    }
}

#[test]
fn two_pipes_take_turns_where_one_alone_is_slow() {
    let alternate = |code: Code, index: usize| match index % 2 {
        0 => code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 3), "s1"),
        _ => code.then("IADD3 R4, R5, R6, RZ", iadd(4, 5, 6), "s1"),
    };
    assert_eq!(one_warp("A100", &Code::new().repeat(100, alternate).exit("s5")).cycles(0, 99), 99);
    // On an A100 floats and IMAD have one pipe; on an H200 they have two.
    let imad = |code: Code, index: usize| match index % 2 {
        0 => code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 3), "s1"),
        _ => code.then("IMAD R4, R5, R6, RZ", lanewise(AluKind::Mad, Ty::U32, 4, &[5, 6, 7]), "s1"),
    };
    let cycles = |device| one_warp(device, &Code::new().repeat(100, imad).exit("s5")).cycles(0, 99);
    assert_eq!((cycles("A100"), cycles("H200")), (198, 99));
}

#[test]
fn a_warp_that_yields_leaves_the_next_cycle_to_another() {
    let code = |control: &'static str| {
        Code::new().repeat(50, move |code, _| code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 3), control)).exit("s5")
    };
    assert_eq!(one_warp("H200", &code("s1 y")).cycles(0, 50), 100);
    // Two warps of one scheduler: by turns, so that no cycle is lost.
    let run = one_block("H200", &code("s1 y"), 160);
    let first = run.issued.iter().filter(|event| event.scheduler == 0).take(60).collect::<Vec<_>>();
    let turns = first[10..].windows(2).filter(|pair| pair[0].warp_in_block != pair[1].warp_in_block).count();
    assert_eq!(turns, first.len() - 11);
    // Without it the same warp goes on.
    let run = one_block("H200", &code("s1"), 160);
    let first = run.issued.iter().filter(|event| event.scheduler == 0).take(40).collect::<Vec<_>>();
    assert!(first[5..].windows(2).all(|pair| pair[0].warp_in_block == pair[1].warp_in_block));
}

#[test]
fn memory_instructions_queue_up_at_the_sixth() {
    let code = Code::new()
        .repeat(8, |code, index| code.then("LDS R0, [RZ]", load(index as u16, Space::Shared, Ty::U32, 0), "s1 w0"));
    let run = one_warp("H200", &code.exit("s5"));
    let first = run.cycle(0, 0);
    let cycles: Vec<u64> = (0..7).map(|pc| run.cycle(0, pc) - first).collect();
    assert_eq!(cycles, [0, 1, 2, 3, 4, 11, 15], "Huerta et al., Table 1: 2 to 6, 13, 17");
    assert!(stalls(&run, Stall::MioThrottle) + stalls(&run, Stall::LgThrottle) > 0);
}

/// Code with stalls, counters and memory in any mixture.
fn mixture() -> impl Strategy<Value = Code> {
    let step = (0..7u8, 1..6u8, 0..6u8, 0..64i64);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let code = steps.into_iter().fold(Code::new(), |code, (kind, stall, counter, place)| {
            let slot = u16::from(counter) + 1;
            let (write, wait) = (format!("s{stall} w{counter}"), format!("s{stall} b{counter}"));
            match kind {
                0 => code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 3), &format!("s{stall}")),
                1 => code.then("IADD3 R9, R1, R2, RZ", iadd(9, slot, 2), &wait),
                2 => code.then("LDG.E R1, [R2]", load(slot, Space::Global, Ty::U32, 128 * place), &write),
                3 => code.then("LDS R1, [RZ]", load(slot, Space::Shared, Ty::U32, 4 * place), &write),
                4 => code.then("ATOM.E.ADD PT, R1, [R2], R9", atomic_add(Some(slot), 9), &write),
                5 => code.then(
                    "STG.E [R2], R1",
                    store(slot, Space::Global, Ty::U32, 128 * place),
                    &format!("s{stall} r{counter}"),
                ),
                _ => code.then("DEPBAR.LE SB2, 0x1", Instr::new(Op::Nop), "s1"),
            }
        });
        code.exit("s5 b012345")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_takes_the_same_cycles_on_any_number_of_threads(code in mixture(), blocks in 1..300u32, warps in 1..9u32) {
        let run = |threads| {
            let mut bench = Bench::new("RTX 5070");
            bench.machine.system_mut().set_threads(threads);
            let report = bench.run(&code, blocks, 32 * warps);
            (report.fault.clone(), report.timing.clone(), report.counters.clone(), bench.word(0), bench.word(32))
        };
        let one = run(1);
        prop_assert!(one.0.is_none());
        prop_assert_eq!(&one, &run(2));
        prop_assert_eq!(&one, &run(3));
    }
}

/// Cycles between two reads of the clock around two FFMA, as Huerta et al. measured them on Ampere.
fn bank_conflict(second: &str) -> u64 {
    let code = Code::new()
        .repeat(64, |code, _| code.then("NOP", Instr::new(Op::Nop), "s1"))
        .then("CS2R.32 R20, SR_CLOCKLO", iadd(20, 1, 1), "s1")
        .then("NOP", Instr::new(Op::Nop), "s1")
        .then("FFMA R11, R10, R12, R14", ffma(11, 10, 12, 14), "s1")
        .then(second, ffma(13, 16, 1, 3), "s1")
        .then("NOP", Instr::new(Op::Nop), "s1")
        .exit("s5");
    one_warp("H200", &code).cycles(65, 68)
}

#[test]
fn sources_in_one_bank_cost_bubbles() {
    assert_eq!(bank_conflict("FFMA R13, R16, R17, R19"), 3, "four reads of the even bank in four cycles");
    assert_eq!(bank_conflict("FFMA R13, R16, R18, R19"), 4, "five");
    assert_eq!(bank_conflict("FFMA R13, R16, R18, R20"), 5, "six");
    assert_eq!(bank_conflict("FFMA R13, R16, R18, 1"), 4);
}

#[test]
fn three_registers_an_instruction_are_more_than_two_ports_give_and_reuse_mends_it() {
    let chain = |text: &'static str| {
        let code = Code::new().repeat(200, |code, _| code.then(text, ffma(0, 1, 2, 3), "s1")).exit("s5");
        let run = one_warp("H200", &code);
        (run.cycles(80, 180), stalls(&run, Stall::Dispatch) > 0)
    };
    assert_eq!(chain("FFMA R0, R1, R2, R4"), (200, true), "two of the even bank");
    assert_eq!(chain("FFMA R0, R1, R2.reuse, R4"), (100, false));
    assert_eq!(chain("FFMA R0, R1, R2, 0x3f800000"), (100, false));
}

/// So many FFMA, one a cycle.
fn straight(count: usize) -> Code {
    Code::new().repeat(count, |code, _| code.then("FFMA R0, R1, R2, 1", ffma(0, 1, 2, 3), "s1"))
}

#[test]
fn code_that_is_not_in_the_caches_is_fetched_and_there_at_the_next_launch() {
    let line_cycles = find("H200").unwrap().parameters.instruction_l0_line_cycles;
    let mut bench = Bench::new("H200");
    let code = straight(800).exit("s5");
    bench.machine.system_mut().flush_code();
    let (cold, warm) = (bench.trace(&code, 1, 32), bench.trace(&code, 1, 32));
    let cycles = cold.cycles(0, 800) as f64;
    assert!((cycles / (100.0 * line_cycles) - 1.0).abs() < 0.01, "{cycles} cycles for 100 lines");
    assert_eq!(stalls(&cold, Stall::NoInstruction), cold.cycle(0, 800) - 800);
    assert_eq!((warm.cycles(0, 800), stalls(&warm, Stall::NoInstruction)), (800, 0));
    // Code that takes longer than its lines waits for the first only.
    let chain = Code::new().repeat(100, |code, _| code.then("FFMA R0, R1, R2, R0", ffma(0, 1, 2, 0), "s4")).exit("s5");
    bench.machine.system_mut().flush_code();
    let cold = bench.trace(&chain, 1, 32);
    assert_eq!((cold.cycles(0, 100), stalls(&cold, Stall::NoInstruction)), (400, line_cycles.ceil() as u64));
}

/// Cycles of the second round of a loop of so many FFMA and three instructions more, from its first to the branch.
fn second_round(count: usize) -> u64 {
    let mut compare = lanewise(AluKind::Setp, Ty::U32, 0, &[]);
    (compare.dst[0], compare.pdst[0]) = (None, Some(Pred(1)));
    compare.src = [Src::slot(Slot(8)), Src::constant(3), Src::NONE, Src::NONE];
    if let Op::Alu(alu) = &mut compare.op {
        alu.mods.cmp = Cmp::Lt;
    }
    let count_up = Instr { src: [Src::slot(Slot(8)), Src::constant(3), Src::NONE, Src::NONE], ..iadd(8, 8, 8) };
    let jump = Instr { guard: PredSrc::is(Pred(1)), ..Instr::new(Op::Branch { target: 0, reconverge: None }) };
    let code = straight(count)
        .then("ISETP.LT.AND P1, PT, R8, 0x1, PT", compare, "s13")
        .then("IADD3 R8, R8, 0x1, RZ", count_up, "s4")
        .then("@P1 BRA 0x0", jump, "s5")
        .exit("s5");
    let run = one_warp("H200", &code);
    let issues = |pc| run.issued.iter().filter(|event| event.pc == pc).map(|event| event.cycle).collect::<Vec<_>>();
    let (first, branch) = (issues(0), issues(count as u32 + 2));
    assert_eq!((first.len(), branch.len()), (2, 2));
    assert_eq!(first[1] - branch[0], if count < 2000 { 10 } else { first[1] - branch[0] }, "a branch that is taken");
    branch[1] - first[1]
}

#[test]
fn a_loop_larger_than_the_cache_of_its_scheduler_is_fetched_every_round() {
    assert_eq!(second_round(1500), 1500 + 13 + 4);
    // An H200 takes 2.21 cycles an instruction.
    let per_instruction = second_round(3000) as f64 / 3000.0;
    assert!((2.15..2.27).contains(&per_instruction), "{per_instruction}");
}

#[test]
fn a_branch_that_is_not_taken_costs_its_stall_alone() {
    let never = Instr { guard: PredSrc::is(Pred(1)), ..Instr::new(Op::Branch { target: 0, reconverge: None }) };
    let code = Code::new().then("@P1 BRA 0x0", never, "s5").then("NOP", Instr::new(Op::Nop), "s1").exit("s5");
    assert_eq!(one_warp("H200", &code).cycles(0, 1), 5);
    let always = Instr::new(Op::Branch { target: 2, reconverge: None });
    let code = Code::new().then("BRA 0x20", always, "s5").then("NOP", Instr::new(Op::Nop), "s1");
    let code = code.then("NOP", Instr::new(Op::Nop), "s1").exit("s5");
    assert_eq!(one_warp("H200", &code).cycles(0, 2), 10);
}
