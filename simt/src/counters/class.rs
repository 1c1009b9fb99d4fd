//! Which group an instruction's threads are counted in.

use crate::isa::{AluKind, Op, Ty};

/// Groups that Nsight Compute counts thread instructions in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Fadd,
    Fmul,
    Ffma,
    Dadd,
    Dmul,
    Dfma,
    Hadd,
    Hmul,
    Hfma,
    Integer,
    Bit,
    Conversion,
    Control,
    Memory,
    Communication,
    Other,
}

pub(super) const CLASSES: usize = Class::Other as usize + 1;

/// The group of an operation.
pub(super) fn class(op: &Op) -> Class {
    match op {
        Op::Alu(alu) => match (alu.kind, alu.ty) {
            (AluKind::Add | AluKind::Sub, Ty::F32 | Ty::F32x2) => Class::Fadd,
            (AluKind::Mul, Ty::F32 | Ty::F32x2) => Class::Fmul,
            (AluKind::Fma | AluKind::Mad, Ty::F32 | Ty::F32x2) => Class::Ffma,
            (AluKind::Add | AluKind::Sub, Ty::F64) => Class::Dadd,
            (AluKind::Mul, Ty::F64) => Class::Dmul,
            (AluKind::Fma | AluKind::Mad, Ty::F64) => Class::Dfma,
            (AluKind::Add | AluKind::Sub, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hadd,
            (AluKind::Mul, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hmul,
            // A constant that HFMA2 moves.
            (AluKind::Mov, Ty::F16x2) => Class::Hfma,
            (AluKind::Fma, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hfma,
            (AluKind::Cvt | AluKind::CvtPack, _) => Class::Conversion,
            (AluKind::And | AluKind::Or | AluKind::Xor | AluKind::Not | AluKind::Lop3, _) => Class::Bit,
            (AluKind::Shl | AluKind::Shr | AluKind::ShfL | AluKind::ShfR | AluKind::Prmt, _) => Class::Bit,
            (AluKind::Popc | AluKind::Clz | AluKind::Brev | AluKind::Bfind | AluKind::Bfe | AluKind::Bfi, _) => {
                Class::Bit
            }
            (AluKind::Mov | AluKind::Pack | AluKind::Unpack | AluKind::Selp, _) => Class::Other,
            (_, ty) if !ty.is_float() && ty != Ty::Pred => Class::Integer,
            _ => Class::Other,
        },
        Op::Exit | Op::Trap => Class::Control,
        op if op.is_branch() => Class::Control,
        Op::Load(_) | Op::Store(_) | Op::Atomic(..) => Class::Memory,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..) | Op::Elect => Class::Communication,
        _ => Class::Other,
    }
}
