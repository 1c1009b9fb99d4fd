//! `f64` arithmetic. NaNs keep the payload that the CPU gives them, as the GPU's do; subnormals are always kept.

use super::float32::rounding;
use super::level::Picked;
use super::shape::{binary, binary_with, ternary, ternary_with, unary, unary_with};
use crate::exec::float::soft::{self, Format, Number};
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
        (Add, _) => binary(|a: f64, b: f64| a + b),
        (Sub, _) => binary(|a: f64, b: f64| a - b),
        (Mul, _) => binary(|a: f64, b: f64| a * b),
        (Fma | Mad, _) => ternary(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        (Div, _) => binary(|a: f64, b: f64| a / b),
        (Rcp, false) => unary(|a: f64| 1.0 / a),
        (Rcp, true) => unary(|a: f64| upper_half(1.0 / upper_half(a))),
        (Sqrt, _) => unary(|a: f64| a.sqrt()),
        (Rsqrt, _) => unary(|a: f64| upper_half(1.0 / libm::sqrt(upper_half(a)))),
        (Abs, _) => unary(|a: u64| a & (u64::MAX >> 1)),
        (Neg, _) => unary(|a: u64| a ^ 1 << 63),
        (Min, _) => binary(lesser),
        (Max, _) => binary(greater),
        (Copysign, _) => binary(|a: u64, b: u64| (a & 1 << 63) | (b & (u64::MAX >> 1))),
        _ => return None,
    })
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` read and write the upper 32 bits only, and flush subnormals.
fn upper_half(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    let flushed = if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits };
    if a.is_nan() { f64::NAN } else { f64::from_bits(flushed) }
}

fn lesser(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
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

fn finish(alu: &Alu, exact: Number) -> u64 {
    soft::pack(exact, Format::F64, rounding(alu))
}

/// Directed rounding, by exact arithmetic.
fn rounded(kind: AluKind) -> Option<Picked> {
    use AluKind::*;
    Some(match kind {
        Add => binary_with(|alu, a: u64, b: u64| finish(alu, soft::add(number(a), number(b), rounding(alu)))),
        Sub => binary_with(|alu, a: u64, b: u64| finish(alu, soft::add(number(a), number(b).negated(), rounding(alu)))),
        Mul => binary_with(|alu, a: u64, b: u64| finish(alu, soft::mul(number(a), number(b)))),
        Fma | Mad => ternary_with(|alu, a: u64, b: u64, c: u64| {
            finish(alu, soft::fma(number(a), number(b), number(c), rounding(alu)))
        }),
        Div => binary_with(|alu, a: u64, b: u64| finish(alu, soft::div(number(a), number(b)))),
        Rcp => unary_with(|alu, a: u64| finish(alu, soft::div(number(1.0f64.to_bits()), number(a)))),
        Sqrt => unary_with(|alu, a: u64| finish(alu, soft::sqrt(number(a)))),
        _ => return None,
    })
}
