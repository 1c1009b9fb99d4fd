//! Programs made at random, most of them nonsense: refused, run, or ended by a fault, but never a panic and never without end.

use proptest::prelude::*;

use warpwise_simt::checks::Checks;
use warpwise_simt::device::Device;
use warpwise_simt::exec::Divergence;
use warpwise_simt::isa::*;
use warpwise_simt::machine::{Launch, Machine, Mode};

const SLOTS: u16 = 12;
const LENGTH: u32 = 24;

fn slot() -> impl Strategy<Value = Slot> {
    // Rarely one that does not exist.
    (0..SLOTS + 1).prop_map(Slot)
}

fn source() -> impl Strategy<Value = Src> {
    prop_oneof![
        6 => slot().prop_map(Src::slot),
        3 => (0..9u16).prop_map(Src::constant),
        1 => Just(Src::NONE),
    ]
}

fn predicate() -> impl Strategy<Value = PredSrc> {
    prop_oneof![
        3 => Just(PredSrc::TRUE),
        2 => (0..4u16, any::<bool>()).prop_map(|(pred, negate)| PredSrc { pred: Pred(pred), negate }),
    ]
}

fn lanewise() -> impl Strategy<Value = Op> {
    use AluKind::*;
    let kinds = [
        Mov, Add, Sub, Mul, Mad, Fma, Div, Rem, Min, And, Shl, Shr, Setp, Selp, Cvt, Popc, Bfe, Prmt, PredXor, Unpack,
        Pack,
    ];
    let types = [Ty::U32, Ty::S32, Ty::U64, Ty::B32, Ty::B64, Ty::F32, Ty::F64, Ty::F16, Ty::U16, Ty::Pred, Ty::B128];
    (
        prop::sample::select(kinds.to_vec()),
        prop::sample::select(types.to_vec()),
        prop::sample::select(types.to_vec()),
        0..6u8,
    )
        .prop_map(|(kind, ty, from, choice)| {
            let cmp = [Cmp::Eq, Cmp::Lt, Cmp::Ge, Cmp::Gtu, Cmp::Nan, Cmp::Ne][usize::from(choice)];
            let half = [Half::Lo, Half::Hi, Half::Wide][usize::from(choice) % 3];
            let mods = Mods { cmp, half, ftz: choice == 4, sat: choice == 5, ..Mods::default() };
            Op::Alu(Alu { kind, ty, from: if choice < 3 { ty } else { from }, mods })
        })
}

fn access() -> impl Strategy<Value = Access> {
    let spaces = [Space::Generic, Space::Global, Space::Shared, Space::Local, Space::Param, Space::Const];
    let types = [Ty::U32, Ty::U64, Ty::S8, Ty::B16, Ty::F32, Ty::B128];
    (prop::sample::select(spaces.to_vec()), prop::sample::select(types.to_vec()), 0..5u8, any::<bool>()).prop_map(
        |(space, ty, count, wide_address)| Access {
            space,
            ty,
            count,
            wide_address,
            index: None,
            cache: Cache::All,
            order: Order::Weak,
            scope: Scope::Gpu,
        },
    )
}

fn control() -> impl Strategy<Value = Op> {
    let target = 0..LENGTH + 2;
    prop_oneof![
        4 => (target.clone(), prop::option::of(target.clone())).prop_map(|(target, reconverge)| Op::Branch { target, reconverge }),
        1 => (0..2u16, prop::option::of(target.clone())).prop_map(|(table, reconverge)| Op::BranchIndexed { table, reconverge }),
        1 => target.prop_map(|target| Op::Call { target }),
        1 => Just(Op::Return),
        1 => Just(Op::Exit),
        1 => Just(Op::Barrier(BarrierKind::Sync)),
        1 => Just(Op::Barrier(BarrierKind::Reduce(BarrierReduce::Popc))),
        1 => Just(Op::WarpSync),
        1 => Just(Op::Shuffle(ShuffleKind::Down)),
        1 => Just(Op::Vote(VoteKind::Ballot)),
        1 => Just(Op::Match { all: false, bits: 64 }),
        1 => Just(Op::Elect),
        1 => Just(Op::Special(Special::ThreadIdx(0))),
        1 => Just(Op::Special(Special::Clock64)),
        1 => Just(Op::ActiveMask),
    ]
}

fn instruction() -> impl Strategy<Value = Instr> {
    let op = prop_oneof![
        5 => lanewise(),
        2 => access().prop_map(Op::Load),
        1 => access().prop_map(Op::Store),
        1 => access().prop_map(|access| Op::Atomic(AtomicKind::Add, access)),
        1 => access().prop_map(|access| Op::Atomic(AtomicKind::Cas, access)),
        4 => control(),
    ];
    let results = (
        prop::array::uniform4(prop::option::weighted(0.9, slot())),
        prop::array::uniform2(prop::option::of((0..4u16).prop_map(Pred))),
    );
    (op, predicate(), results, prop::array::uniform4(source()), predicate(), source(), -8..64i64).prop_map(
        |(op, guard, (dst, pdst), src, psrc, addr, offset)| Instr {
            op,
            guard,
            dst,
            pdst,
            src,
            psrc,
            addr,
            offset,
            index: Src::NONE,
        },
    )
}

fn program(code: Vec<Instr>) -> Program {
    let info =
        code.iter().map(|instr| InstrInfo { text: format!("{:?}", instr.op).into(), ..InstrInfo::default() }).collect();
    Program {
        control: Vec::new(),
        name: "any".to_owned(),
        isa: Isa::Ptx,
        code,
        info,
        params: vec![Param { name: "out".to_owned(), ty: Ty::U64, bytes: 8, offset: 0 }],
        constants: vec![
            Constant::Literal(0),
            Constant::Literal(1),
            Constant::Literal(u32::MAX),
            Constant::Param { offset: 0, bytes: 4, signed: false },
            Constant::Param { offset: 4, bytes: 4, signed: false },
            Constant::BlockDim(0),
            Constant::Literal(SHARED_WINDOW as u32),
            Constant::Literal((SHARED_WINDOW >> 32) as u32),
            Constant::GridId,
        ],
        banks: Vec::new(),
        tables: vec![vec![0, 3, LENGTH]],
        slot_count: SLOTS,
        pred_count: 4,
        shared_static_bytes: 64,
        shared_reserved_bytes: 0,
        shared_dynamic_offset: 64,
        local_bytes: 32,
        max_threads: None,
        required_threads: None,
        min_blocks_per_sm: None,
        max_registers: None,
        estimated_registers: 16,
        barrier_count: 1,
        files: Vec::new(),
    }
}

/// Runs the code in every way; gives how many of the ways were run rather than refused.
fn run(code: &[Instr], threads: u32) -> usize {
    let mut ran = 0;
    for (divergence, mode) in [
        (Divergence::Converge, Mode::Functional),
        (Divergence::Lockstep, Mode::Functional),
        (Divergence::Adversarial(7), Mode::Functional),
        (Divergence::Converge, Mode::Timed),
    ] {
        let mut machine = Machine::new(Device::default_device());
        // What is checked runs through the same code, watched.
        machine.set_checks(if threads.is_multiple_of(2) { Checks::ALL } else { Checks::default() });
        let module = machine.load(&[]).unwrap();
        let Ok(kernel) = machine.prepare(module, &program(code.to_vec())) else { continue };
        let out = machine.alloc(4096).unwrap();
        let launch = Launch {
            divergence,
            mode,
            step_budget: Some(20_000),
            watchdog_instructions: Some(10_000),
            ..Launch::new([3, 1, 1], [threads, 1, 1], out.to_le_bytes().to_vec())
        };
        let report = machine.launch(&kernel, &launch).unwrap();
        if let Some(fault) = report.fault {
            assert!(!fault.to_string().is_empty());
        }
        assert!(report.counters.iter().count() > 30);
        ran += 1;
    }
    ran
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_program_makes_the_machine_panic(code in prop::collection::vec(instruction(), LENGTH as usize), threads in 1..100u32) {
        // Instructions that the machine refuses are dropped one by one, so that something is left to run.
        let mut code = code;
        for index in 0..code.len() {
            let mut alone = vec![Instr::new(Op::Nop); code.len()];
            alone[index] = code[index].clone();
            let mut machine = Machine::new(Device::default_device());
            let module = machine.load(&[]).unwrap();
            if machine.prepare(module, &program(alone)).is_err() {
                code[index] = Instr::new(Op::Nop);
            }
        }
        prop_assert_eq!(run(&code, threads), 4, "what is left runs");
    }
}

#[test]
fn endless_recursion_is_a_fault() {
    let mut code = vec![Instr::new(Op::Nop); LENGTH as usize];
    code[0] = Instr::new(Op::Call { target: 0 });
    let mut machine = Machine::new(Device::default_device());
    let module = machine.load(&[]).unwrap();
    let kernel = machine.prepare(module, &program(code)).unwrap();
    let report = machine.launch(&kernel, &Launch::new([1, 1, 1], [32, 1, 1], vec![0; 8])).unwrap();
    assert_eq!(report.fault.map(|fault| fault.kind), Some(warpwise_simt::fault::FaultKind::CallDepth));
}
