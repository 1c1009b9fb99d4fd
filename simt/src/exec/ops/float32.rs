//! `f32` arithmetic. Rounding to nearest has functions of its own, with and without flushing of subnormals; every other
//! combination of modifiers goes through exact arithmetic.

use super::level::Picked;
use super::shape::{binary, binary_with, ternary, ternary_with, unary, unary_with};
use crate::exec::float::soft::{self, Format, Number, Rounding};
use crate::exec::float::{NAN_32, approx, canonical, flush, saturate};
use crate::isa::{Alu, AluKind, Round, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    if alu.ty != Ty::F32 {
        return None;
    }
    let mods = &alu.mods;
    let plain = matches!(mods.round, Round::Default | Round::Rn) && !mods.sat && !mods.relu;
    match (plain, mods.ftz) {
        (true, false) => arithmetic(alu.kind),
        (true, true) => flushing(alu.kind),
        (false, _) => rounded(alu.kind),
    }
    .or_else(|| extremes(alu))
    .or_else(|| functions(alu))
}

/// Rounded to nearest, subnormals kept.
fn arithmetic(kind: AluKind) -> Option<Picked> {
    use AluKind::*;
    Some(match kind {
        Add => binary(|a: f32, b: f32| canonical(a + b)),
        Sub => binary(|a: f32, b: f32| canonical(a - b)),
        Mul => binary(|a: f32, b: f32| canonical(a * b)),
        Fma | Mad => ternary(|a: f32, b: f32, c: f32| canonical(a.mul_add(b, c))),
        _ => return None,
    })
}

/// Rounded to nearest, subnormals flushed.
fn flushing(kind: AluKind) -> Option<Picked> {
    use AluKind::*;
    Some(match kind {
        Add => binary(|a: f32, b: f32| canonical(flush(flush(a) + flush(b)))),
        Sub => binary(|a: f32, b: f32| canonical(flush(flush(a) - flush(b)))),
        Mul => binary(|a: f32, b: f32| canonical(flush(flush(a) * flush(b)))),
        Fma | Mad => ternary(|a: f32, b: f32, c: f32| canonical(flush(flush(a).mul_add(flush(b), flush(c))))),
        _ => return None,
    })
}

/// Any rounding, saturation, flushing, read as it runs.
fn rounded(kind: AluKind) -> Option<Picked> {
    use AluKind::*;
    Some(match kind {
        Add | Sub | Mul => binary_with(|alu, a: u32, b: u32| evaluate(alu, [a, b, 0])),
        Fma | Mad => ternary_with(|alu, a: u32, b: u32, c: u32| evaluate(alu, [a, b, c])),
        _ => return None,
    })
}

/// One value of any operation with a rounding, as it runs.
pub(super) fn evaluate(alu: &Alu, [a, b, c]: [u32; 3]) -> u32 {
    let [a, b, c] = [a, b, c].map(|bits| number(alu, bits));
    let exact = match alu.kind {
        AluKind::Add => soft::add(a, b, rounding(alu)),
        AluKind::Sub => soft::add(a, b.negated(), rounding(alu)),
        AluKind::Mul => soft::mul(a, b),
        _ => soft::fma(a, b, c, rounding(alu)),
    };
    finish(alu, exact)
}

/// The rounding that the modifiers ask for.
pub(super) fn rounding(alu: &Alu) -> Rounding {
    match alu.mods.round {
        Round::Rz | Round::Rzi => Rounding::Zero,
        Round::Rm | Round::Rmi => Rounding::Down,
        Round::Rp | Round::Rpi => Rounding::Up,
        Round::Rna => Rounding::NearestAway,
        Round::Default | Round::Rn | Round::Rni => Rounding::NearestEven,
    }
}

fn number(alu: &Alu, bits: u32) -> Number {
    let bits = if alu.mods.ftz { flush(f32::from_bits(bits)).to_bits() } else { bits };
    soft::unpack(bits.into(), Format::F32)
}

/// Rounds, flushes and clamps.
fn finish(alu: &Alu, exact: Number) -> u32 {
    let mut result = f32::from_bits(soft::pack(exact, Format::F32, rounding(alu)) as u32);
    if alu.mods.ftz {
        result = flush(result);
    }
    if alu.mods.sat {
        result = saturate(result);
    }
    if alu.mods.relu && result < 0.0 {
        result = 0.0;
    }
    canonical(result)
}

/// Operations on signs and order.
fn extremes(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    let mods = &alu.mods;
    let plain = !mods.nan && !mods.xorsign_abs && !mods.ftz;
    Some(match (alu.kind, plain) {
        (Abs, true) => unary(|a: f32| canonical(a.abs())),
        (Neg, true) => unary(|a: f32| canonical(-a)),
        (Abs, false) => unary(|a: f32| canonical(flush(a).abs())),
        (Neg, false) => unary(|a: f32| canonical(-flush(a))),
        (Min, true) => binary(|a: f32, b: f32| lesser(a, b)),
        (Max, true) => binary(|a: f32, b: f32| greater(a, b)),
        (Min, false) => binary_with(|alu, a: f32, b: f32| extreme(alu, [a, b, b], lesser)),
        (Max, false) => binary_with(|alu, a: f32, b: f32| extreme(alu, [a, b, b], greater)),
        (Min3, _) => ternary_with(|alu, a: f32, b: f32, c: f32| extreme(alu, [a, b, c], lesser)),
        (Max3, _) => ternary_with(|alu, a: f32, b: f32, c: f32| extreme(alu, [a, b, c], greater)),
        (Copysign, _) => binary(|a: u32, b: u32| (a & 0x8000_0000) | (b & 0x7fff_ffff)),
        _ => return None,
    })
}

/// `Min` or `Max` of one lane, with its modifiers.
pub(super) fn lesser_or_greater(alu: &Alu, [a, b]: [f32; 2]) -> u32 {
    extreme(alu, [a, b, b], if alu.kind == AluKind::Min { lesser } else { greater })
}

/// The smaller number; a number rather than a NaN; -0.0 rather than +0.0.
fn lesser(a: f32, b: f32) -> u32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN_32,
        (true, false) => b.to_bits(),
        (false, true) => a.to_bits(),
        _ if a == b => a.to_bits() | b.to_bits(),
        _ => if a < b { a } else { b }.to_bits(),
    }
}

/// The larger number; a number rather than a NaN; +0.0 rather than -0.0.
fn greater(a: f32, b: f32) -> u32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN_32,
        (true, false) => b.to_bits(),
        (false, true) => a.to_bits(),
        _ if a == b => a.to_bits() & b.to_bits(),
        _ => if a > b { a } else { b }.to_bits(),
    }
}

/// `min` and `max` with modifiers, of two (the last one twice) or three.
fn extreme(alu: &Alu, operands: [f32; 3], pick: fn(f32, f32) -> u32) -> u32 {
    let mods = &alu.mods;
    let [a, b, c] = operands.map(|operand| if mods.ftz { flush(operand) } else { operand });
    if mods.nan && [a, b, c].iter().any(|operand| operand.is_nan()) {
        return NAN_32;
    }
    if mods.xorsign_abs {
        let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
        let magnitude = pick(a.abs(), b.abs());
        return if magnitude == NAN_32 { NAN_32 } else { magnitude | sign };
    }
    pick(f32::from_bits(pick(a, b)), c)
}

/// Division, roots and the transcendental functions.
fn functions(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.mods.approx) {
        (Div, true) => binary_with(|alu, a: f32, b: f32| approx::div(a, b, alu.mods.ftz, alu.mods.full)),
        (Div, false) if alu.mods.full => binary_with(|alu, a: f32, b: f32| approx::div(a, b, alu.mods.ftz, true)),
        (Div, false) if is_nearest(alu) => binary(|a: f32, b: f32| canonical(a / b)),
        (Div, false) => binary_with(|alu, a: u32, b: u32| finish(alu, soft::div(number(alu, a), number(alu, b)))),
        (Rcp, true) => unary_with(|alu, a: f32| approx::rcp(a, alu.mods.ftz)),
        (Rcp, false) if is_nearest(alu) => unary(|a: f32| canonical(1.0 / a)),
        (Rcp, false) => {
            unary_with(|alu, a: u32| finish(alu, soft::div(soft::unpack(0x3f80_0000, Format::F32), number(alu, a))))
        }
        (Sqrt, true) => unary_with(|alu, a: f32| approx::sqrt(a, alu.mods.ftz)),
        (Sqrt, false) if is_nearest(alu) => unary(|a: f32| canonical(a.sqrt())),
        (Sqrt, false) => unary_with(|alu, a: u32| finish(alu, soft::sqrt(number(alu, a)))),
        (Rsqrt, _) => unary_with(|alu, a: f32| approx::rsqrt(a, alu.mods.ftz)),
        (Sin, _) => unary(|a: f32| approx::sin(a)),
        (Cos, _) => unary(|a: f32| approx::cos(a)),
        (Lg2, _) => unary_with(|alu, a: f32| approx::lg2(a, alu.mods.ftz)),
        (Ex2, _) => unary_with(|alu, a: f32| approx::ex2(a, alu.mods.ftz)),
        (Tanh, _) => unary(|a: f32| approx::tanh(a)),
        _ => return None,
    })
}

fn is_nearest(alu: &Alu) -> bool {
    matches!(alu.mods.round, Round::Default | Round::Rn) && !alu.mods.ftz && !alu.mods.sat
}
