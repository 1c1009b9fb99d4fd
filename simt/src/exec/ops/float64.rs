//! `f64` arithmetic. A NaN operand's payload goes on into the result; subnormals are always kept.

use super::float32::rounding;
use super::level::Picked;
use super::shape::{binary, binary_with, ternary, ternary_with, unary, unary_with};
use crate::exec::float::soft::{self, Format, Number};
use crate::exec::float::{approx, quiet, with_payload};
use crate::isa::{Alu, AluKind, Round, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    if alu.ty != Ty::F64 {
        return None;
    }
    if !matches!(alu.mods.round, Round::Default | Round::Rn) {
        return rounded(alu.kind);
    }
    Some(match (alu.kind, alu.mods.approx) {
        (Add, _) => binary(|a: f64, b: f64| with_payload(a + b, [b, a])),
        (Sub, _) => binary(|a: f64, b: f64| with_payload(a - b, [b, a])),
        (Mul, _) => binary(|a: f64, b: f64| with_payload(a * b, [b, a])),
        (Fma | Mad, _) => ternary(|a: f64, b: f64, c: f64| with_payload(a.mul_add(b, c), [b, c, a])),
        (Div, _) => binary(|a: f64, b: f64| with_payload(a / b, [a, b])),
        (Rcp, false) => unary(|a: f64| with_payload(1.0 / a, [a])),
        (Rcp, true) => unary(|a: f64| approx::rcp64(a)),
        (Sqrt, _) => unary(|a: f64| with_payload(a.sqrt(), [a])),
        (Rsqrt, _) if alu.mods.ftz => unary(|a: f64| approx::rsqrt64(a)),
        (Rsqrt, _) => unary(|a: f64| approx::rsqrt64_full(a)),
        (Abs, _) => unary(|a: f64| if a.is_nan() { quiet(a) } else { a.abs() }),
        (Neg, _) => unary(|a: f64| if a.is_nan() { quiet(a) } else { -a }),
        (Min, _) => binary(lesser),
        (Max, _) => binary(greater),
        (Copysign, _) => binary(|a: u64, b: u64| (a & 1 << 63) | (b & (u64::MAX >> 1))),
        _ => return None,
    })
}

fn lesser(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

fn greater(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if a == b => f64::from_bits(a.to_bits() & b.to_bits()),
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

fn number(bits: u64) -> Number {
    soft::unpack(bits, Format::F64)
}

/// Rounds; a NaN takes its payload from the operands, the first in their order that is NaN.
fn finish<const N: usize>(alu: &Alu, exact: Number, operands: [u64; N]) -> f64 {
    let result = f64::from_bits(soft::pack(exact, Format::F64, rounding(alu)));
    with_payload(result, operands.map(f64::from_bits))
}

/// `Add`, `Mul` or `Fma` of one lane, in any rounding.
pub(super) fn evaluate(alu: &Alu, [a, b, c]: [u64; 3]) -> f64 {
    match alu.kind {
        AluKind::Add => finish(alu, soft::add(number(a), number(b), rounding(alu)), [b, a]),
        AluKind::Mul => finish(alu, soft::mul(number(a), number(b)), [b, a]),
        _ => finish(alu, soft::fma(number(a), number(b), number(c), rounding(alu)), [b, c, a]),
    }
}

/// Directed rounding, by exact arithmetic.
fn rounded(kind: AluKind) -> Option<Picked> {
    use AluKind::*;
    Some(match kind {
        Add | Mul => binary_with(|alu, a: u64, b: u64| evaluate(alu, [a, b, 0])),
        Sub => binary_with(|alu, a: u64, b: u64| {
            finish(alu, soft::add(number(a), number(b).negated(), rounding(alu)), [b, a])
        }),
        Fma | Mad => ternary_with(|alu, a: u64, b: u64, c: u64| evaluate(alu, [a, b, c])),
        Div => binary_with(|alu, a: u64, b: u64| finish(alu, soft::div(number(a), number(b)), [a, b])),
        Rcp => unary_with(|alu, a: u64| finish(alu, soft::div(number(1.0f64.to_bits()), number(a)), [a])),
        Sqrt => unary_with(|alu, a: u64| finish(alu, soft::sqrt(number(a)), [a])),
        _ => return None,
    })
}
