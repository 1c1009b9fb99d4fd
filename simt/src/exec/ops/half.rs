//! `f16` and `bf16` arithmetic, single and in pairs, by exact arithmetic: one rounding whatever the operation.

use super::changed::halves;
use super::float32::rounding;
use super::level::Picked;
use super::shape::{binary_with, ternary_with, unary_with};
use crate::exec::float::soft::{self, Format, Number};
use crate::exec::float::{NAN_16, mufu};
use crate::isa::{Alu, AluKind, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    if !matches!(alu.ty, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) {
        return None;
    }
    Some(match alu.kind {
        Add => binary_with(|alu, a: u32, b: u32| evaluate(alu, [a, b, 0])),
        Sub => binary_with(|alu, a: u32, b: u32| {
            each(alu, [a, b, 0], |[a, b, _]| {
                finish(alu, soft::add(number(alu, a), number(alu, b).negated(), rounding(alu)))
            })
        }),
        Mul => binary_with(|alu, a: u32, b: u32| evaluate(alu, [a, b, 0])),
        Fma => ternary_with(|alu, a: u32, b: u32, c: u32| evaluate(alu, [a, b, c])),
        Abs => unary_with(|alu, a: u32| each(alu, [a, 0, 0], |[a, ..]| resigned(alu, a, |bits| bits & 0x7fff))),
        Neg => unary_with(|alu, a: u32| each(alu, [a, 0, 0], |[a, ..]| resigned(alu, a, |bits| bits ^ 0x8000))),
        Min => binary_with(|alu, a: u32, b: u32| lesser_or_greater(alu, a, b, true)),
        Max => binary_with(|alu, a: u32, b: u32| lesser_or_greater(alu, a, b, false)),
        Ex2 => unary_with(|alu, a: u32| {
            let a = halves(alu, 0, a);
            each(alu, [a, 0, 0], |[a, ..]| function(alu, a, [mufu::ex2_f16, mufu::ex2_bf16]))
        }),
        Tanh => unary_with(|alu, a: u32| {
            let a = halves(alu, 0, a);
            each(alu, [a, 0, 0], |[a, ..]| function(alu, a, [mufu::tanh_f16, mufu::tanh_bf16]))
        }),
        _ => return None,
    })
}

/// `Add`, `Mul` or `Fma` of one lane.
pub(super) fn evaluate(alu: &Alu, operands: [u32; 3]) -> u32 {
    each(alu, operands, |operands| {
        let [a, b, c] = operands.map(|operand| number(alu, operand));
        finish(
            alu,
            match alu.kind {
                AluKind::Add => soft::add(a, b, rounding(alu)),
                AluKind::Mul => soft::mul(a, b),
                _ => soft::fma(a, b, c, rounding(alu)),
            },
        )
    })
}

/// The lesser or greater halves of two pairs.
pub(super) fn lesser_or_greater(alu: &Alu, a: u32, b: u32, least: bool) -> u32 {
    each(alu, [a, b, 0], |[a, b, _]| extreme(alu, a, b, least))
}

/// The format of one half.
pub(super) fn format(ty: Ty) -> Format {
    match ty {
        Ty::BF16 | Ty::BF16x2 => Format::BF16,
        _ => Format::F16,
    }
}

/// Applies a function to the low halves, and to the high ones where the type is a pair.
fn each(alu: &Alu, operands: [u32; 3], f: impl Fn([u32; 3]) -> u32) -> u32 {
    let low = f(operands.map(|operand| operand & 0xffff));
    match alu.ty {
        Ty::F16x2 | Ty::BF16x2 => low | f(operands.map(|operand| operand >> 16)) << 16,
        _ => low,
    }
}

/// Subnormal halves become zeros where the instruction says so.
fn flushed(alu: &Alu, bits: u32) -> u32 {
    let exponent = format(alu.ty).fraction_bits;
    let subnormal = bits & 0x7fff < 1 << exponent;
    if alu.mods.ftz && subnormal { bits & 0x8000 } else { bits }
}

fn number(alu: &Alu, bits: u32) -> Number {
    soft::unpack(flushed(alu, bits).into(), format(alu.ty))
}

/// Rounds, flushes and clamps.
fn finish(alu: &Alu, exact: Number) -> u32 {
    let bits = flushed(alu, soft::pack(exact, format(alu.ty), rounding(alu)) as u32);
    let one = if format(alu.ty) == Format::BF16 { 0x3f80 } else { 0x3c00 };
    match (is_nan(alu.ty, bits), bits & 0x8000 != 0) {
        (true, _) if alu.mods.sat => 0,
        (true, _) => NAN_16,
        (_, true) if alu.mods.sat || alu.mods.relu => 0,
        (_, false) if alu.mods.sat => bits.min(one),
        _ => bits,
    }
}

/// An operation on the sign; a NaN becomes the canonical one.
fn resigned(alu: &Alu, a: u32, f: impl Fn(u32) -> u32) -> u32 {
    if is_nan(alu.ty, a) { NAN_16 } else { f(flushed(alu, a)) }
}

fn is_nan(ty: Ty, bits: u32) -> bool {
    soft::unpack(bits.into(), format(ty)) == Number::Nan
}

/// `min` (`least`) or `max`. A number is preferred to a NaN unless `.NaN` says otherwise.
fn extreme(alu: &Alu, a: u32, b: u32, least: bool) -> u32 {
    let (a, b) = (flushed(alu, a), flushed(alu, b));
    let sign = if alu.mods.xorsign_abs { (a ^ b) & 0x8000 } else { 0 };
    let (a, b) = if alu.mods.xorsign_abs { (a & 0x7fff, b & 0x7fff) } else { (a, b) };
    // Bits in the order of their values: negative numbers reversed below positive ones.
    let order = |bits: u32| if bits & 0x8000 != 0 { -((bits & 0x7fff) as i32) - 1 } else { bits as i32 };
    let result = match (is_nan(alu.ty, a), is_nan(alu.ty, b)) {
        (true, true) => return NAN_16,
        (true, _) | (_, true) if alu.mods.nan => return NAN_16,
        (true, _) => b,
        (_, true) => a,
        _ if (order(a) < order(b)) == least => a,
        _ => b,
    };
    let result = result | sign;
    if alu.mods.relu && result & 0x8000 != 0 { 0 } else { result }
}

/// A function of the multifunction unit, in its `f16` and its `bf16` form.
fn function(alu: &Alu, a: u32, forms: [fn(u32) -> u32; 2]) -> u32 {
    forms[usize::from(format(alu.ty) == Format::BF16)](a)
}
