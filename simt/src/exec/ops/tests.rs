//! Every operation that exists, at both CPU levels, on random lanes and masks: same result to the bit, nothing else touched.

use super::choose;
use super::level::CpuLevel;
use crate::exec::Kernel;
use crate::exec::frame::{Frame, Ids};
use crate::isa::*;

/// A small generator of test inputs (xorshift64*), half of them values at which operations change behaviour.
struct Inputs(u64);

impl Inputs {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn word(&mut self) -> u32 {
        #[rustfmt::skip]
        const SPECIAL: [u32; 34] = [
            0, 1, 2, 3, 7, 15, 16, 31, 32, 33, 63, 64, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
            0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 0x0000_0001, 0x807f_ffff, 0x0080_0000,
            0x7f7f_ffff, 0x3ff0_0000, 0x7ff0_0000, 0xfff8_0000, 0x7c00_3c00,
        ];
        match self.bits() % 3 {
            0 => SPECIAL[self.bits() as usize % SPECIAL.len()],
            1 => (self.bits() % 64) as u32,
            _ => self.bits() as u32,
        }
    }

    fn lanes(&mut self) -> Lanes {
        Lanes(std::array::from_fn(|_| self.word()))
    }

    fn mask(&mut self) -> Mask {
        match self.bits() % 4 {
            0 => Mask::MAX,
            1 => 1 << (self.bits() % 32),
            _ => (self.bits() as u32).max(1),
        }
    }
}

#[rustfmt::skip]
const KINDS: &[AluKind] = &{
    use AluKind::*;
    [
        Mov, Pack, Unpack, Add, Sub, Mul, Mad, Mul24, Mad24, Fma, Div, Rem, Abs, Neg, Min, Max, Min3, Max3, Sad, And, Or, Xor, Not,
        Cnot, Lop3, Shl, Shr, ShfL, ShfR, Prmt, Popc, Clz, Brev, Bfind, Bfe, Bfi, Bmsk, Szext, Fns, Dp4a, Dp2a, Rcp, Sqrt, Rsqrt,
        Sin, Cos, Lg2, Ex2, Tanh, Copysign, Testp, Setp, Set, Selp, Slct, PredAnd, PredOr, PredXor, PredNot, PredMov, Cvt, CvtPack,
        CvtaFrom, CvtaTo, IsSpace,
    ]
};

#[rustfmt::skip]
const TYPES: &[Ty] = &[
    Ty::Pred, Ty::B8, Ty::B16, Ty::B32, Ty::B64, Ty::B128, Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::S8, Ty::S16, Ty::S32, Ty::S64,
    Ty::U16x2, Ty::S16x2, Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::TF32, Ty::E4M3x2, Ty::E5M2x2, Ty::F32, Ty::F32x2, Ty::F64,
];

/// Modifiers of which each is tried with every kind and type: more than any instruction has, fewer than all combinations.
fn modifiers(inputs: &mut Inputs) -> Mods {
    use Round::*;
    let flag = |inputs: &mut Inputs| inputs.bits().is_multiple_of(4);
    let pick = |inputs: &mut Inputs, count: usize| inputs.bits() as usize % count;
    Mods {
        round: [Default, Rn, Rna, Rz, Rm, Rp, Rni, Rzi, Rmi, Rpi][pick(inputs, 10)],
        half: [Half::Lo, Half::Hi, Half::Wide][pick(inputs, 3)],
        ftz: flag(inputs),
        sat: flag(inputs),
        relu: flag(inputs),
        nan: flag(inputs),
        xorsign_abs: flag(inputs),
        approx: flag(inputs),
        full: flag(inputs),
        carry_in: flag(inputs),
        carry_out: flag(inputs),
        wrap: flag(inputs),
        shiftamt: flag(inputs),
        lut: inputs.bits() as u8,
        prmt: [Prmt::Index, Prmt::F4e, Prmt::B4e, Prmt::Rc8, Prmt::Ecl, Prmt::Ecr, Prmt::Rc16][pick(inputs, 7)],
        cmp: {
            use Cmp::*;
            [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan][pick(inputs, 18)]
        },
        bool_op: [BoolOp::None, BoolOp::And, BoolOp::Or, BoolOp::Xor][pick(inputs, 4)],
        testp: {
            use Testp::*;
            [Finite, Infinite, Number, NotANumber, Normal, Subnormal][pick(inputs, 6)]
        },
        space: [Space::Global, Space::Shared, Space::Local, Space::Param, Space::Const][pick(inputs, 5)],
        pa: PredOperand(PredSrc { pred: Pred(pick(inputs, 4) as u16), negate: flag(inputs) }),
        ..Mods::default()
    }
}

const SLOTS: u16 = 24;
const PREDS: u16 = 4;

/// Slots of sources and destinations: sources may overlap each other and destinations.
fn instruction(alu: Alu, inputs: &mut Inputs) -> Instr {
    let mut slot = || Slot((inputs.bits() % u64::from(SLOTS - 4)) as u16);
    let mut instr = Instr { dst: std::array::from_fn(|_| Some(slot())), ..Instr::new(Op::Alu(alu)) };
    instr.src = std::array::from_fn(|_| Src::slot(slot()));
    // Two results of one instruction are different registers.
    if matches!(alu.kind, AluKind::Unpack) {
        instr.dst = std::array::from_fn(|index| Some(Slot(4 + 4 * index as u16)));
    }
    instr.pdst = [Some(Pred(1)), Some(Pred(2))];
    instr.psrc = PredSrc { pred: Pred((inputs.bits() % 4) as u16), negate: inputs.bits() & 1 != 0 };
    instr
}

fn program(instr: Instr) -> Program {
    Program {
        name: "one".to_owned(),
        isa: Isa::Ptx,
        code: vec![instr],
        info: Vec::new(),
        control: Vec::new(),
        params: Vec::new(),
        constants: Vec::new(),
        banks: Vec::new(),
        tables: Vec::new(),
        slot_count: SLOTS,
        pred_count: PREDS,
        shared_static_bytes: 0,
        shared_reserved_bytes: 0,
        shared_dynamic_offset: 0,
        local_bytes: 0,
        max_threads: None,
        required_threads: None,
        min_blocks_per_sm: None,
        max_registers: None,
        estimated_registers: 1,
        barrier_count: 0,
        files: Vec::new(),
    }
}

type State = (Vec<Lanes>, Vec<Mask>);

/// A kernel of one instruction.
pub(super) fn prepared(instr: Instr, level: CpuLevel) -> Kernel {
    Kernel::prepare(&program(instr), level, |_| None).unwrap()
}

/// The registers after the instruction, from the given ones.
fn after(level: CpuLevel, instr: &Instr, before: &State, on: Mask) -> State {
    let kernel = prepared(instr.clone(), level);
    let (mut slots, mut preds) = before.clone();
    let thread = [Lanes::ZERO; 3];
    let ids = Ids { thread: &thread, block: [0; 3], sm: 0, warp_in_sm: 0, active: on };
    let constants = vec![Lanes::ZERO; kernel.constants.len()];
    let mut frame = Frame::new();
    frame.enter(&mut slots, &constants, &mut preds, ids);
    let d = &kernel.code[0];
    // SAFETY: the frame was entered with the kernel's files; the mask is not 0.
    unsafe { (d.run)(&mut frame, d, on) };
    (slots, preds)
}

/// Lanes in which anything but the destination words changed, or any lane that is off.
fn stray(instr: &Instr, before: &State, found: &State, on: Mask) -> Option<String> {
    let words = choose(&instr.op)?.words;
    let is_result = |slot: usize| {
        let mut results = instr.dst.iter().flatten().zip(words.dst);
        results.any(|(first, count)| (usize::from(first.0)..usize::from(first.0 + count)).contains(&slot))
    };
    for (slot, (old, new)) in before.0.iter().zip(&found.0).enumerate() {
        for lane in 0..WARP_SIZE {
            let may_change = on >> lane & 1 != 0 && is_result(slot);
            if old.0[lane] != new.0[lane] && !may_change {
                return Some(format!("slot {slot}, lane {lane}: {:x} became {:x}", old.0[lane], new.0[lane]));
            }
        }
    }
    let pred_changes = before.1.iter().zip(&found.1).map(|(old, new)| old ^ new);
    let wrong = pred_changes
        .enumerate()
        .find(|(index, changed)| changed & !on != 0 || (*changed != 0 && ![1, 2].contains(index)));
    wrong.map(|(index, changed)| format!("predicate {index} changed in lanes {changed:x}"))
}

#[test]
fn both_levels_agree_to_the_bit_and_touch_nothing_else() {
    let mut inputs = Inputs(0x5eed);
    let mut tried = 0;
    for kind in KINDS {
        for ty in TYPES {
            for from in TYPES {
                let two_types = matches!(
                    kind,
                    AluKind::Cvt
                        | AluKind::CvtPack
                        | AluKind::Set
                        | AluKind::Slct
                        | AluKind::Pack
                        | AluKind::Unpack
                        | AluKind::Dp4a
                        | AluKind::Dp2a
                );
                if from != ty && !two_types {
                    continue;
                }
                for round in 0..24 {
                    let mods = if round == 0 { Mods::default() } else { modifiers(&mut inputs) };
                    let alu = Alu { kind: *kind, ty: *ty, from: *from, mods };
                    if choose(&Op::Alu(alu)).is_none() {
                        continue;
                    }
                    tried += 1;
                    let instr = instruction(alu, &mut inputs);
                    let slots = (0..SLOTS + 4).map(|_| inputs.lanes()).collect();
                    let preds =
                        (0..PREDS).map(|index| if index == 0 { Mask::MAX } else { inputs.bits() as u32 }).collect();
                    let before: State = (slots, preds);
                    let on = inputs.mask();
                    let portable = after(CpuLevel::Portable, &instr, &before, on);
                    let best = after(CpuLevel::detect(), &instr, &before, on);
                    assert_eq!(portable, best, "{alu:?} in lanes {on:x}");
                    assert_eq!(stray(&instr, &before, &best, on), None, "{alu:?} in lanes {on:x}");
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried} operations were tried");
}
