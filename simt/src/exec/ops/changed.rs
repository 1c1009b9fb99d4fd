//! Operations whose sources are negated, made absolute or complemented first, as SASS has it. The three settings are the same for
//! all lanes, so they become masks that LLVM keeps out of the loop.

use super::level::Picked;
use super::shape::{binary_with, compare_with, ternary_with, unary_with};
use super::{compare, convert, float32, float64, half, moves};
use crate::exec::float::{canonical, flush};
use crate::isa::{Alu, AluKind, Half, Round, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    match alu.ty {
        Ty::F32 => single(alu),
        Ty::F64 => double(alu),
        Ty::F16x2 | Ty::BF16x2 => pairs(alu),
        Ty::F16 | Ty::BF16 if matches!(alu.kind, AluKind::Ex2 | AluKind::Tanh) => half::choose(alu),
        Ty::U32 | Ty::S32 | Ty::B32 => word(alu),
        Ty::U64 | Ty::S64 => long(alu),
        _ => None,
    }
}

#[inline(always)]
fn bit(set: u8, source: u32) -> u32 {
    u32::from(set >> source & 1)
}

/// A source of `f32`.
#[inline(always)]
pub(super) fn float(alu: &Alu, source: u32, a: f32) -> f32 {
    let (abs, neg) = (bit(alu.mods.abs, source) << 31, bit(alu.mods.neg, source) << 31);
    f32::from_bits((a.to_bits() & !abs) ^ neg)
}

/// A source of `f64`; a NaN goes through as it is.
#[inline(always)]
fn wide(alu: &Alu, source: u32, a: f64) -> f64 {
    if a.is_nan() {
        return a;
    }
    let (abs, neg) = (u64::from(bit(alu.mods.abs, source)) << 63, u64::from(bit(alu.mods.neg, source)) << 63);
    f64::from_bits((a.to_bits() & !abs) ^ neg)
}

/// The halves that an operation takes of a source, unchanged.
#[inline(always)]
pub(super) fn halves(alu: &Alu, source: u32, a: u32) -> u32 {
    match alu.mods.halves >> (2 * source) & 3 {
        0 => a,
        1 => (a & 0xffff) * 0x1_0001,
        _ => (a >> 16) * 0x1_0001,
    }
}

/// A source of two halves, both changed alike.
#[inline(always)]
pub(super) fn pair(alu: &Alu, source: u32, a: u32) -> u32 {
    let both = 0x8000_8000;
    let a = halves(alu, source, a);
    (a & !(both * bit(alu.mods.abs, source))) ^ (both * bit(alu.mods.neg, source))
}

/// A 32-bit integer source.
#[inline(always)]
pub(super) fn integer(alu: &Alu, source: u32, a: u32) -> u32 {
    let a = if bit(alu.mods.abs, source) != 0 { (a as i32).wrapping_abs() as u32 } else { a };
    let flip = 0u32.wrapping_sub(bit(alu.mods.neg | alu.mods.invert, source));
    (a ^ flip).wrapping_add(bit(alu.mods.neg, source))
}

#[inline(always)]
pub(super) fn integer64(alu: &Alu, source: u32, a: u64) -> u64 {
    let flip = 0u64.wrapping_sub(bit(alu.mods.neg | alu.mods.invert, source).into());
    (a ^ flip).wrapping_add(bit(alu.mods.neg, source).into())
}

fn single(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    let mods = &alu.mods;
    let nearest = matches!(mods.round, Round::Default | Round::Rn) && !mods.sat;
    Some(match (alu.kind, nearest, mods.ftz) {
        (Add, true, false) => binary_with(|alu, a: f32, b: f32| canonical(float(alu, 0, a) + float(alu, 1, b))),
        (Mul, true, false) => binary_with(|alu, a: f32, b: f32| canonical(float(alu, 0, a) * float(alu, 1, b))),
        (Fma, true, false) => ternary_with(|alu, a: f32, b: f32, c: f32| {
            canonical(float(alu, 0, a).mul_add(float(alu, 1, b), float(alu, 2, c)))
        }),
        (Fma, true, true) => ternary_with(|alu, a: f32, b: f32, c: f32| {
            let [a, b, c] = [float(alu, 0, a), float(alu, 1, b), float(alu, 2, c)].map(flush);
            canonical(flush(a.mul_add(b, c)))
        }),
        (Add | Mul, _, _) => binary_with(|alu, a: f32, b: f32| {
            float32::evaluate(alu, [float(alu, 0, a).to_bits(), float(alu, 1, b).to_bits(), 0])
        }),
        (Fma, _, _) => ternary_with(|alu, a: f32, b: f32, c: f32| {
            float32::evaluate(alu, [float(alu, 0, a), float(alu, 1, b), float(alu, 2, c)].map(f32::to_bits))
        }),
        (Cvt, _, _) if alu.from == Ty::F16 => {
            unary_with(|alu, a: u32| convert::convert(alu, u64::from(pair(alu, 0, a) & 0xffff)) as u32)
        }
        (Selp, _, _) => moves::changed_select(),
        (Setp, _, _) => compare_with(|alu, a: f32, b: f32| {
            let [a, b] = [float(alu, 0, a), float(alu, 1, b)];
            let [a, b] = if alu.mods.ftz { [flush(a), flush(b)] } else { [a, b] };
            compare::float(alu.mods.cmp, a.into(), b.into())
        }),
        _ => return None,
    })
}

fn double(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match alu.kind {
        Add | Mul => binary_with(|alu, a: f64, b: f64| {
            float64::evaluate(alu, [wide(alu, 0, a), wide(alu, 1, b), 0.0].map(f64::to_bits))
        }),
        Fma => ternary_with(|alu, a: f64, b: f64, c: f64| {
            float64::evaluate(alu, [wide(alu, 0, a), wide(alu, 1, b), wide(alu, 2, c)].map(f64::to_bits))
        }),
        Setp => compare_with(|alu, a: f64, b: f64| compare::float(alu.mods.cmp, wide(alu, 0, a), wide(alu, 1, b))),
        _ => return None,
    })
}

fn pairs(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match alu.kind {
        Add | Mul => binary_with(|alu, a: u32, b: u32| half::evaluate(alu, [pair(alu, 0, a), pair(alu, 1, b), 0])),
        Fma => ternary_with(|alu, a: u32, b: u32, c: u32| {
            half::evaluate(alu, [pair(alu, 0, a), pair(alu, 1, b), pair(alu, 2, c)])
        }),
        Setp | Set => return compare::choose(alu),
        _ => return None,
    })
}

fn word(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed(), alu.mods.half) {
        (Mov, ..) => unary_with(|alu, a: u32| integer(alu, 0, a)),
        (Add, ..) if !alu.mods.carry_in && !alu.mods.carry_out && !alu.mods.sat => {
            binary_with(|alu, a: u32, b: u32| integer(alu, 0, a).wrapping_add(integer(alu, 1, b)))
        }
        (Mad, _, Half::Lo) => ternary_with(|alu, a: u32, b: u32, c: u32| {
            integer(alu, 0, a).wrapping_mul(integer(alu, 1, b)).wrapping_add(integer(alu, 2, c))
        }),
        (Mad, false, Half::Wide) => ternary_with(|alu, a: u32, b: u32, c: u64| {
            let product = u64::from(integer(alu, 0, a)) * u64::from(integer(alu, 1, b));
            product.wrapping_add(integer64(alu, 2, c))
        }),
        (Mad, true, Half::Wide) => ternary_with(|alu, a: u32, b: u32, c: u64| {
            let signed = |value: u32| i64::from(value as i32);
            let product = signed(integer(alu, 0, a)) * signed(integer(alu, 1, b));
            (product as u64).wrapping_add(integer64(alu, 2, c))
        }),
        (Popc, ..) => unary_with(|alu, a: u32| integer(alu, 0, a).count_ones()),
        (Bfind, false, _) => unary_with(|alu, a: u32| leading(integer(alu, 0, a), alu.mods.shiftamt)),
        _ => return None,
    })
}

/// Place of the highest bit, from the bottom or, as a shift, from the top; all ones where there is none.
fn leading(a: u32, as_shift: bool) -> u32 {
    match a {
        0 => u32::MAX,
        _ if as_shift => a.leading_zeros(),
        _ => 31 - a.leading_zeros(),
    }
}

fn long(alu: &Alu) -> Option<Picked> {
    Some(match alu.kind {
        AluKind::Add if !alu.mods.carry_in && !alu.mods.carry_out => {
            binary_with(|alu, a: u64, b: u64| integer64(alu, 0, a).wrapping_add(integer64(alu, 1, b)))
        }
        AluKind::Mov => unary_with(|alu, a: u64| integer64(alu, 0, a)),
        _ => return None,
    })
}
