//! Conversions between all number types: `cvt`, `cvt.pack`.
//!
//! Common ones have functions of their own; the others share one that takes a value apart, converts it exactly and rounds once.
//! Results narrower than a slot are extended by the sign of their type.

use super::float32::rounding;
use super::half::format as half_format;
use super::level::Picked;
use super::shape::{binary_with, ternary_with, unary, unary_with};
use crate::exec::float::NAN_32;
use crate::exec::float::soft::{self, Exact, Format, Number, Rounding};
use crate::isa::{Alu, AluKind, Mods, Round, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    match alu.kind {
        AluKind::Cvt => common(alu).or_else(|| packed(alu)).or_else(|| general(alu)),
        AluKind::CvtPack => pack(alu),
        _ => None,
    }
}

/// Conversions without saturation or flushing that compilers write all the time.
fn common(alu: &Alu) -> Option<Picked> {
    use Ty::*;
    let plain = Mods { round: alu.mods.round, ..Mods::default() };
    let nearest = matches!(alu.mods.round, Round::Default | Round::Rn);
    if alu.mods != plain || (!nearest && alu.mods.round != Round::Rzi) {
        return None;
    }
    Some(match (alu.ty, alu.from, nearest) {
        (U64 | S64 | B64, U32 | B32, true) => unary(|a: u32| u64::from(a)),
        (U64 | S64 | B64, S32, true) => unary(|a: i32| i64::from(a)),
        (U32 | S32 | B32, U64 | S64 | B64, true) => unary(|a: u64| a as u32),
        (U32 | S32 | B32, U32 | S32 | B32, true) => unary(|a: u32| a),
        (U32 | S32 | U16 | S16, U8 | B8, true) => unary(|a: u32| a & 0xff),
        (U32 | S32, U16 | B16, true) => unary(|a: u32| a & 0xffff),
        (U32 | S32, S16, true) => unary(|a: u32| a as i16 as u32),
        (U32 | S32, S8, true) => unary(|a: u32| a as i8 as u32),
        (U16 | B16, U32 | S32 | B32, true) => unary(|a: u32| a & 0xffff),
        (F32, S32, true) => unary(|a: i32| a as f32),
        (F32, U32, true) => unary(|a: u32| a as f32),
        (F64, S32, true) => unary(|a: i32| f64::from(a)),
        (F64, U32, true) => unary(|a: u32| f64::from(a)),
        (S32, F32, false) => unary(|a: f32| a as i32),
        (U32, F32, false) => unary(|a: f32| a as u32),
        _ => return None,
    })
}

/// What a value of a type is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Float(Format),
}

fn class(ty: Ty) -> Option<Class> {
    use Ty::*;
    Some(match ty {
        U8 | S8 | B8 | U16 | S16 | B16 | U32 | S32 | B32 | U64 | S64 | B64 => Class::Integer,
        F16 | BF16 => Class::Float(half_format(ty)),
        TF32 => Class::Float(Format::TF32),
        F32 => Class::Float(Format::F32),
        F64 => Class::Float(Format::F64),
        _ => return None,
    })
}

/// Every pair of single types, read as it runs.
fn general(alu: &Alu) -> Option<Picked> {
    class(alu.ty).and(class(alu.from))?;
    Some(match (alu.ty.slots(), alu.from.slots()) {
        (1, 1) => unary_with(|alu, a: u32| convert(alu, a.into()) as u32),
        (1, _) => unary_with(|alu, a: u64| convert(alu, a) as u32),
        (_, 1) => unary_with(|alu, a: u32| convert(alu, a.into())),
        _ => unary_with(convert),
    })
}

pub(super) fn convert(alu: &Alu, bits: u64) -> u64 {
    match (class(alu.from), class(alu.ty)) {
        (Some(Class::Integer), Some(Class::Integer)) => to_integer_type(alu, integer(alu.from, bits), alu.mods.sat),
        (Some(Class::Integer), Some(Class::Float(to))) => {
            finish(alu, Number::Finite(Exact::integer(integer(alu.from, bits))), to)
        }
        (Some(Class::Float(from)), Some(Class::Integer)) => float_to_integer(alu, number(alu, bits, from)),
        (Some(Class::Float(from)), Some(Class::Float(to))) => float_to_float(alu, bits, from, to),
        _ => 0,
    }
}

fn float_to_float(alu: &Alu, bits: u64, from: Format, to: Format) -> u64 {
    let value = number(alu, bits, from);
    match (value, alu.mods.round) {
        (Number::Nan, _) if alu.from == Ty::BF16 && alu.ty == Ty::F32 => bits << 16,
        (Number::Nan, Round::Rna) if alu.ty == Ty::TF32 => bits & 0xffff_e000,
        (Number::Nan, _) if keeps_payload(alu) => soft::convert_nan(bits & width_mask(alu.from), from, to),
        (_, Round::Rni | Round::Rzi | Round::Rmi | Round::Rpi) => finish(alu, integral(alu, value), to),
        (Number::Nan, Round::Default) if from == Format::F32 && to == Format::F64 => {
            soft::convert_nan(u64::from(NAN_32), from, to)
        }
        _ if alu.ty == alu.from && alu.mods == Mods::default() => bits & width_mask(alu.from),
        _ => finish(alu, value, to),
    }
}

/// Whether a NaN is made quiet and goes on with its sign and payload: where doubles are involved, as seen on an H200. (From
/// `bf16`, and to `tf32` by `rna`, the bits just move.) Flushing an `f32` to be widened makes its NaN canonical first.
fn keeps_payload(alu: &Alu) -> bool {
    let doubles = alu.ty == Ty::F64 || alu.from == Ty::F64;
    let flushed_first = alu.mods.ftz && alu.from == Ty::F32;
    doubles && !flushed_first && !alu.mods.sat
}

fn width_mask(ty: Ty) -> u64 {
    u64::MAX >> (64 - ty.bits())
}

/// A source, its subnormals flushed where it is an `f32` and the instruction says so.
fn number(alu: &Alu, bits: u64, from: Format) -> Number {
    let bits = bits & width_mask(alu.from);
    let subnormal = from == Format::F32 && bits & 0x7f80_0000 == 0;
    soft::unpack(if alu.mods.ftz && subnormal { bits & 0x8000_0000 } else { bits }, from)
}

fn integer(ty: Ty, bits: u64) -> i128 {
    let up = 64 - ty.bits();
    match ty.is_signed() {
        true => i128::from((bits << up) as i64 >> up),
        false => i128::from(bits << up >> up),
    }
}

/// Range of an integer type.
fn range(ty: Ty) -> (i128, i128) {
    match ty.is_signed() {
        true => (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1),
        false => (0, (1 << ty.bits()) - 1),
    }
}

/// The value in the type, clamped or wrapped, extended by the type's sign to its slots.
fn to_integer_type(alu: &Alu, value: i128, clamp: bool) -> u64 {
    let (least, most) = range(alu.ty);
    let value = if clamp { value.clamp(least, most) } else { value };
    integer(alu.ty, value as u64) as u64
}

/// Out-of-range values are clamped. A NaN gives 0; where source or result has 64 bits, the top bit alone (PTX ISA, `cvt`).
fn float_to_integer(alu: &Alu, value: Number) -> u64 {
    let rounding = match alu.mods.round {
        Round::Default => Rounding::Zero,
        _ => rounding(alu),
    };
    match soft::to_integer(value, rounding) {
        Some(value) => to_integer_type(alu, value, true),
        None if alu.from == Ty::F64 || alu.ty.bits() == 64 => integer(alu.ty, 1 << (alu.ty.bits() - 1)) as u64,
        None => 0,
    }
}

/// The value rounded to an integer, as a float; a zero keeps its sign.
fn integral(alu: &Alu, value: Number) -> Number {
    match value {
        Number::Finite(exact) if exact.exponent < 0 => match soft::to_integer(value, rounding(alu)) {
            Some(0) | None => Number::Finite(Exact::zero(exact.negative)),
            Some(rounded) => Number::Finite(Exact::integer(rounded)),
        },
        other => other,
    }
}

/// Rounds to a float type with flushing, saturation and relu.
fn finish(alu: &Alu, value: Number, to: Format) -> u64 {
    let value = match value {
        Number::Finite(exact) if exact.negative && exact.significand != 0 && (alu.mods.relu || alu.mods.sat) => {
            Number::Finite(Exact::zero(false))
        }
        Number::Infinite { negative: true } if alu.mods.relu || alu.mods.sat => Number::Finite(Exact::zero(false)),
        Number::Finite(exact) if (alu.mods.relu || alu.mods.sat) && exact.significand == 0 => {
            Number::Finite(Exact::zero(false))
        }
        Number::Nan if alu.mods.sat => Number::Finite(Exact::zero(false)),
        other => other,
    };
    let bits = soft::pack(value, to, rounding(alu));
    let one = soft::pack(Number::Finite(Exact::integer(1)), to, Rounding::NearestEven);
    match to == Format::F32 && alu.mods.ftz && bits & 0x7f80_0000 == 0 {
        true => bits & 0x8000_0000,
        false if alu.mods.sat => bits.min(one),
        false => bits,
    }
}

/// Conversions to and from pairs: `src[0]` is the high half, `src[1]` the low one.
fn packed(alu: &Alu) -> Option<Picked> {
    use Ty::*;
    Some(match (alu.ty, alu.from) {
        (F16x2 | BF16x2, F32) => binary_with(|alu, a: u32, b: u32| {
            let one = |bits: u32| finish(alu, number(alu, bits.into(), Format::F32), half_format(alu.ty)) as u32;
            one(a) << 16 | one(b)
        }),
        (E4M3x2 | E5M2x2, F32) => binary_with(|alu, a: u32, b: u32| {
            let one = |bits: u32| quarter(alu, number(alu, bits.into(), Format::F32));
            one(a) << 8 | one(b)
        }),
        (E4M3x2 | E5M2x2, F16x2) => unary_with(|alu, a: u32| {
            let one = |bits: u32| quarter(alu, soft::unpack(u64::from(bits & 0xffff), Format::F16));
            one(a >> 16) << 8 | one(a)
        }),
        (F16x2, E4M3x2 | E5M2x2) => unary_with(|alu, a: u32| {
            let from = quarter_format(alu.from);
            let one = |bits: u32| finish(alu, soft::unpack(u64::from(bits & 0xff), from), Format::F16) as u32;
            one(a >> 8) << 16 | one(a)
        }),
        _ => return None,
    })
}

fn quarter_format(ty: Ty) -> Format {
    if ty == Ty::E5M2x2 { Format::E5M2 } else { Format::E4M3 }
}

/// An 8-bit float; `.satfinite`, which these conversions always have, keeps infinities out.
fn quarter(alu: &Alu, value: Number) -> u32 {
    let format = quarter_format(alu.ty);
    let bits = finish(alu, value, format) as u32;
    match (value, bits & 0x7f) {
        (Number::Nan, _) => bits,
        (_, 0x7c) if format == Format::E5M2 => bits - 1,
        _ => bits,
    }
}

/// `cvt.pack.sat`: two 32-bit integers clamped to 16 bits, or to 8 bits above the low half of a third operand.
fn pack(alu: &Alu) -> Option<Picked> {
    if !matches!(alu.from, Ty::S32 | Ty::U32) || class(alu.ty) != Some(Class::Integer) {
        return None;
    }
    Some(match alu.ty.bits() {
        16 => binary_with(|alu, a: u32, b: u32| clamped(alu, a) << 16 | clamped(alu, b) & 0xffff),
        8 => {
            ternary_with(|alu, a: u32, b: u32, c: u32| c << 16 | (clamped(alu, a) & 0xff) << 8 | clamped(alu, b) & 0xff)
        }
        _ => return None,
    })
}

fn clamped(alu: &Alu, value: u32) -> u32 {
    to_integer_type(alu, integer(alu.from, value.into()), true) as u32
}
