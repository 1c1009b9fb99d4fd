//! What each read-modify-write operation makes of an old value.

use half::{bf16, f16};

use crate::isa::{AtomicKind, Ty};

/// The new value of one element: `kind` of `ty` applied to `old` and the operands, all in the low bits.
///
/// `flush` says that subnormal `f32` inputs and results of an addition become zero, as on global memory; shared memory keeps
/// them (PTX ISA, `atom`). Operations that a type does not have leave `old`; the front end lets none through.
pub fn apply(kind: AtomicKind, ty: Ty, old: u128, operand: u128, swap: u128, flush: bool) -> u128 {
    let mask = if ty.bits() == 128 { u128::MAX } else { (1 << ty.bits()) - 1 };
    let (old, operand) = (old & mask, operand & mask);
    let new = match kind {
        AtomicKind::Exch => operand,
        AtomicKind::Cas if old == operand => swap,
        AtomicKind::Cas => old,
        AtomicKind::And => old & operand,
        AtomicKind::Or => old | operand,
        AtomicKind::Xor => old ^ operand,
        AtomicKind::Inc if old >= operand => 0,
        AtomicKind::Inc => old + 1,
        AtomicKind::Dec if old == 0 || old > operand => operand,
        AtomicKind::Dec => old - 1,
        AtomicKind::Add if ty.is_float() => add_float(ty, old as u64, operand as u64, flush).into(),
        AtomicKind::Add => old.wrapping_add(operand),
        AtomicKind::Min | AtomicKind::Max if ty.is_float() => {
            extreme_float(kind, ty, old as u64, operand as u64).into()
        }
        AtomicKind::Min | AtomicKind::Max => {
            let shift = 128 - ty.bits();
            let less = match ty.is_signed() {
                true => ((old << shift) as i128) < (operand << shift) as i128,
                false => old < operand,
            };
            if less == (kind == AtomicKind::Min) { old } else { operand }
        }
    };
    new & mask
}

/// As [`apply`], for types of 32 bits.
pub fn apply_word(kind: AtomicKind, ty: Ty, old: u32, operand: u32, swap: u32, flush: bool) -> u32 {
    match (kind, ty) {
        (AtomicKind::Add, Ty::U32 | Ty::S32 | Ty::B32) => old.wrapping_add(operand),
        (AtomicKind::Add, Ty::F32) => add_f32(old, operand, flush),
        (AtomicKind::Cas, _) => {
            if old == operand {
                swap
            } else {
                old
            }
        }
        (AtomicKind::Exch, _) => operand,
        _ => apply(kind, ty, old.into(), operand.into(), swap.into(), flush) as u32,
    }
}

fn add_float(ty: Ty, old: u64, operand: u64, flush: bool) -> u64 {
    match ty {
        Ty::F32 => add_f32(old as u32, operand as u32, flush).into(),
        Ty::F64 => (f64::from_bits(old) + f64::from_bits(operand)).to_bits(),
        Ty::F16 => add_f16(old as u16, operand as u16).into(),
        Ty::BF16 => add_bf16(old as u16, operand as u16).into(),
        Ty::F16x2 => halves(old, operand, add_f16),
        Ty::BF16x2 => halves(old, operand, add_bf16),
        _ => old,
    }
}

fn extreme_float(kind: AtomicKind, ty: Ty, old: u64, operand: u64) -> u64 {
    let least = kind == AtomicKind::Min;
    let pick = |a: f32, b: f32, first: u16, second: u16| match (a.is_nan(), b.is_nan(), a < b) {
        (true, _, _) => second,
        (_, true, _) => first,
        (_, _, less) if less == least => first,
        _ => second,
    };
    let f16s = |a: u16, b: u16| pick(f16::from_bits(a).to_f32(), f16::from_bits(b).to_f32(), a, b);
    let bf16s = |a: u16, b: u16| pick(bf16::from_bits(a).to_f32(), bf16::from_bits(b).to_f32(), a, b);
    match ty {
        Ty::F16 => f16s(old as u16, operand as u16).into(),
        Ty::BF16 => bf16s(old as u16, operand as u16).into(),
        Ty::F16x2 => halves(old, operand, f16s),
        Ty::BF16x2 => halves(old, operand, bf16s),
        _ => old,
    }
}

fn halves(old: u64, operand: u64, op: impl Fn(u16, u16) -> u16) -> u64 {
    let low = op(old as u16, operand as u16);
    let high = op((old >> 16) as u16, (operand >> 16) as u16);
    u64::from(low) | u64::from(high) << 16
}

fn add_f32(old: u32, operand: u32, flush: bool) -> u32 {
    let flushed = |bits: u32| if flush && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
    let sum = f32::from_bits(flushed(old)) + f32::from_bits(flushed(operand));
    if sum.is_nan() { 0x7fff_ffff } else { flushed(sum.to_bits()) }
}

// Sums of two 11-bit or 8-bit significands rounded to 24 bits and then to the narrow format are rounded right: 24 ≥ 2·11 + 2.
fn add_f16(old: u16, operand: u16) -> u16 {
    let sum = f16::from_bits(old).to_f32() + f16::from_bits(operand).to_f32();
    if sum.is_nan() { 0x7fff } else { f16::from_f32(sum).to_bits() }
}

fn add_bf16(old: u16, operand: u16) -> u16 {
    let sum = bf16::from_bits(old).to_f32() + bf16::from_bits(operand).to_f32();
    if sum.is_nan() { 0x7fff } else { bf16::from_f32(sum).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_on_ordinary_and_extreme_values() {
        use AtomicKind::*;
        let f = |x: f32| u128::from(x.to_bits());
        #[rustfmt::skip]
        let cases: &[(AtomicKind, Ty, u128, u128, u128)] = &[
            (Add, Ty::U32, 0xffff_ffff, 2, 1),
            (Add, Ty::U64, u64::MAX.into(), 1, 0),
            (Add, Ty::F32, f(1.5), f(2.25), f(3.75)),
            (Add, Ty::F32, f(f32::INFINITY), f(f32::NEG_INFINITY), 0x7fff_ffff),
            (Min, Ty::S32, 0x8000_0000, 5, 0x8000_0000),
            (Min, Ty::U32, 0x8000_0000, 5, 5),
            (Max, Ty::S64, u64::MAX.into(), 0, 0),
            (Max, Ty::U64, u64::MAX.into(), 0, u64::MAX.into()),
            (Inc, Ty::U32, 7, 7, 0),
            (Inc, Ty::U32, 6, 7, 7),
            (Inc, Ty::U32, 9, 7, 0),
            (Dec, Ty::U32, 0, 7, 7),
            (Dec, Ty::U32, 9, 7, 7),
            (Dec, Ty::U32, 7, 7, 6),
            (And, Ty::B32, 0xf0f0, 0xff00, 0xf000),
            (Or, Ty::B64, 1 << 63, 1, (1 << 63) | 1),
            (Xor, Ty::B32, 0xffff_ffff, 0xffff_ffff, 0),
            (Exch, Ty::B128, 3, u128::MAX, u128::MAX),
            (Add, Ty::F16x2, 0x3c00_bc00, 0x3c00_3c00, 0x4000_0000),
            (Add, Ty::BF16, 0x3f80, 0x3f80, 0x4000),
        ];
        for &(kind, ty, old, operand, new) in cases {
            assert_eq!(apply(kind, ty, old, operand, 0, false), new, "{kind:?} {ty:?} {old:#x} {operand:#x}");
        }
    }

    #[test]
    fn compare_and_swap_stores_only_on_a_match() {
        assert_eq!(apply(AtomicKind::Cas, Ty::B32, 5, 5, 9, false), 9);
        assert_eq!(apply(AtomicKind::Cas, Ty::B32, 5, 6, 9, false), 5);
        assert_eq!(apply(AtomicKind::Cas, Ty::B16, 0x1_0005, 5, 0xa_0009, false), 9, "only the low 16 bits count");
    }

    #[test]
    fn subnormal_sums_are_flushed_on_global_memory_only() {
        assert_eq!(apply(AtomicKind::Add, Ty::F32, 1, 1, 0, false), 2);
        assert_eq!(apply(AtomicKind::Add, Ty::F32, 0x8000_0001, 0x8000_0001, 0, true), 0x8000_0000);
    }
}
