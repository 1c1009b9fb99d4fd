//! Which class of cost an instruction belongs to.

use crate::device::Class;
use crate::isa::{Alu, AluKind, Half, Instr, Op, Ty};

/// The class by which `devices.toml` gives an instruction's cost.
pub fn class_of(instr: &Instr) -> Class {
    match &instr.op {
        Op::Alu(alu) => lanewise(alu),
        Op::Nop => Class::Free,
        Op::Special(_) => Class::SpecialRegister,
        Op::Load(_) | Op::Store(_) | Op::Atomic(..) => Class::Memory,
        Op::Shuffle(_) => Class::Shuffle,
        Op::Vote(_) | Op::ActiveMask | Op::Elect => Class::Vote,
        Op::Match { .. } => Class::Match,
        Op::Redux(..) => Class::Reduce,
        Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Call { .. }
        | Op::BranchIf { .. }
        | Op::BranchRegister { .. }
        | Op::BranchMembers { .. }
        | Op::Break
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Barrier(_)
        | Op::WarpSync
        | Op::Separate
        | Op::Meet
        | Op::Fence(_)
        | Op::Sleep => Class::Control,
    }
}

/// What sets the cost of a lane-wise operation beside its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Word,
    Long,
    Half,
    Single,
    Double,
}

fn family(ty: Ty) -> Family {
    match ty {
        Ty::F64 => Family::Double,
        Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2 | Ty::E4M3x2 | Ty::E5M2x2 => Family::Half,
        Ty::F32 | Ty::F32x2 | Ty::TF32 => Family::Single,
        Ty::B64 | Ty::U64 | Ty::S64 | Ty::B128 => Family::Long,
        _ => Family::Word,
    }
}

fn lanewise(alu: &Alu) -> Class {
    use AluKind::*;
    let family = family(alu.ty);
    match alu.kind {
        Mov | Pack | Unpack | CvtaFrom | CvtaTo | PredMov => Class::Free,
        PredAnd | PredOr | PredXor | PredNot => Class::Predicate,
        Add | Sub | Fma | Abs | Neg => arithmetic(family),
        Mul | Mad | Mul24 | Mad24 | Dp4a | Dp2a => multiplication(alu, family),
        Div | Rem => division(alu, family),
        Rcp | Sqrt | Rsqrt | Sin | Cos | Lg2 | Ex2 | Tanh => transcendental(alu, family),
        Min | Max | Min3 | Max3 | Copysign | Testp | Setp | Set | Selp | Slct => comparison(alu.kind, family),
        And | Or | Xor | Not | Cnot | Lop3 | Shl | Shr | ShfL | ShfR | Prmt => match family {
            Family::Long => Class::Integer64,
            _ => Class::Integer,
        },
        Add3 | Lea | LeaHi | Shf | MinMax | AddMinMax | SetpX | PredsToReg | RegToPreds => Class::Integer,
        MadCarry => Class::IntegerMultiply,
        Plop3 | SignLogic => Class::Predicate,
        WhichExtreme => Class::Fp64,
        Mufu | FloatCheck => Class::SpecialFunction,
        Popc | Clz | Brev | Bfind => Class::Bits,
        Sad | Bfe | Bfi | Bmsk | Szext | CvtPack => Class::IntegerMulti,
        Fns => Class::IntegerDivide,
        IsSpace => Class::Integer,
        Cvt => conversion(alu),
    }
}

fn arithmetic(family: Family) -> Class {
    match family {
        Family::Word => Class::Integer,
        Family::Long => Class::Integer64,
        Family::Half => Class::Half,
        Family::Single => Class::Fp32,
        Family::Double => Class::Fp64,
    }
}

fn multiplication(alu: &Alu, family: Family) -> Class {
    match (family, alu.mods.half) {
        (Family::Long, _) => Class::Integer64Multiply,
        (Family::Word, Half::Lo) => Class::IntegerMultiply,
        (Family::Word, Half::Hi | Half::Wide) => Class::IntegerMultiplyWide,
        _ => arithmetic(family),
    }
}

fn division(alu: &Alu, family: Family) -> Class {
    match family {
        Family::Word => Class::IntegerDivide,
        Family::Long => Class::Integer64Divide,
        Family::Double => Class::Fp64Sequence,
        _ if alu.mods.approx || alu.mods.full => Class::SpecialSequence,
        _ => Class::Fp32Divide,
    }
}

fn transcendental(alu: &Alu, family: Family) -> Class {
    match (family, alu.kind) {
        (Family::Double, _) => Class::Fp64Sequence,
        (_, AluKind::Rcp | AluKind::Sqrt | AluKind::Rsqrt) if !alu.mods.approx => Class::Fp32Divide,
        (_, AluKind::Sin | AluKind::Cos | AluKind::Sqrt) => Class::SpecialSequence,
        _ => Class::SpecialFunction,
    }
}

fn comparison(kind: AluKind, family: Family) -> Class {
    match (family, kind) {
        (Family::Double, AluKind::Selp | AluKind::Slct | AluKind::Copysign) | (Family::Long, _) => Class::Integer64,
        (Family::Double, _) => Class::Fp64,
        (Family::Half, AluKind::Selp | AluKind::Slct) => Class::Select,
        (Family::Half, _) => Class::Half,
        (Family::Word, AluKind::Min | AluKind::Max | AluKind::Min3 | AluKind::Max3) => Class::Integer,
        _ => Class::Select,
    }
}

fn conversion(alu: &Alu) -> Class {
    use Family::*;
    match (family(alu.ty), family(alu.from)) {
        // Same bits, or the high word dropped or zero.
        (Long, Long) | (Word, Long) => Class::Free,
        (Long, Word) if !alu.from.is_signed() && alu.from.bits() == 32 => Class::Free,
        (Long | Word, Word) if alu.ty.bits() == alu.from.bits() && !alu.mods.sat => Class::Free,
        (Long | Word, Word) => Class::Integer,
        (Half, Single) | (Single, Half) | (Half, Half) => Class::Half,
        _ => Class::Convert,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Mods;

    fn of(kind: AluKind, ty: Ty, from: Ty, mods: Mods) -> Class {
        class_of(&Instr::new(Op::Alu(Alu { kind, ty, from, mods })))
    }

    fn plain(kind: AluKind, ty: Ty) -> Class {
        of(kind, ty, ty, Mods::default())
    }

    #[test]
    fn arithmetic_costs_by_type() {
        use AluKind::*;
        assert_eq!(plain(Fma, Ty::F32), Class::Fp32);
        assert_eq!(plain(Fma, Ty::F64), Class::Fp64);
        assert_eq!(plain(Add, Ty::F16x2), Class::Half);
        assert_eq!((plain(Add, Ty::U32), plain(Add, Ty::S64)), (Class::Integer, Class::Integer64));
        assert_eq!((plain(Mul, Ty::F32), plain(Mad, Ty::U32)), (Class::Fp32, Class::IntegerMultiply));
        let wide = Mods { half: Half::Wide, ..Mods::default() };
        assert_eq!(of(Mul, Ty::U32, Ty::U32, wide), Class::IntegerMultiplyWide);
        assert_eq!((plain(Mul, Ty::U64), plain(Rem, Ty::U32)), (Class::Integer64Multiply, Class::IntegerDivide));
        assert_eq!((plain(Min, Ty::S32), plain(Min, Ty::F32)), (Class::Integer, Class::Select));
        assert_eq!((plain(Setp, Ty::F64), plain(Selp, Ty::F64)), (Class::Fp64, Class::Integer64));
    }

    #[test]
    fn rounding_decides_between_one_instruction_and_a_sequence() {
        use AluKind::*;
        let approx = Mods { approx: true, ..Mods::default() };
        assert_eq!(of(Div, Ty::F32, Ty::F32, approx), Class::SpecialSequence);
        assert_eq!((plain(Div, Ty::F32), plain(Sqrt, Ty::F32)), (Class::Fp32Divide, Class::Fp32Divide));
        assert_eq!(of(Rsqrt, Ty::F32, Ty::F32, approx), Class::SpecialFunction);
        assert_eq!(of(Sin, Ty::F32, Ty::F32, approx), Class::SpecialSequence);
        assert_eq!((plain(Ex2, Ty::F16), plain(Sqrt, Ty::F64)), (Class::SpecialFunction, Class::Fp64Sequence));
    }

    #[test]
    fn moves_and_reinterpretations_are_free_and_conversions_are_not() {
        use AluKind::*;
        let cvt = |ty, from| of(Cvt, ty, from, Mods::default());
        assert_eq!((plain(Mov, Ty::B32), plain(CvtaTo, Ty::U64)), (Class::Free, Class::Free));
        assert_eq!((cvt(Ty::U64, Ty::U32), cvt(Ty::U32, Ty::U64)), (Class::Free, Class::Free));
        assert_eq!((cvt(Ty::S64, Ty::S32), cvt(Ty::U32, Ty::U8)), (Class::Integer, Class::Integer));
        assert_eq!((cvt(Ty::F32, Ty::S32), cvt(Ty::S32, Ty::F32)), (Class::Convert, Class::Convert));
        assert_eq!((cvt(Ty::F64, Ty::F32), cvt(Ty::F16, Ty::F32)), (Class::Convert, Class::Half));
        assert_eq!(class_of(&Instr::new(Op::Exit)), Class::Control);
    }
}
