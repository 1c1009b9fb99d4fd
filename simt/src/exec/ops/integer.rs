//! Integer arithmetic of 16, 32 and 64 bits: results wrap around, and a 16-bit result is zero-extended in its slot.

use super::level::Picked;
use super::shape::{binary, ternary, unary};
use crate::isa::{Alu, AluKind, Half, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    if alu.mods.carry_in || alu.mods.carry_out {
        return None;
    }
    match alu.ty {
        Ty::U16 | Ty::S16 | Ty::B16 => of_16(alu),
        Ty::U32 | Ty::S32 | Ty::B32 => of_32(alu),
        Ty::U64 | Ty::S64 | Ty::B64 => of_64(alu),
        _ => None,
    }
}

fn of_32(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    let mods = &alu.mods;
    Some(match (alu.kind, alu.ty.is_signed(), mods.half) {
        (Add, true, _) if mods.sat => binary(|a: i32, b: i32| a.saturating_add(b)),
        (Sub, true, _) if mods.sat => binary(|a: i32, b: i32| a.saturating_sub(b)),
        (Add, ..) => binary(|a: u32, b: u32| a.wrapping_add(b)),
        (Sub, ..) => binary(|a: u32, b: u32| a.wrapping_sub(b)),
        (Mul, _, Half::Lo) => binary(|a: u32, b: u32| a.wrapping_mul(b)),
        (Mul, false, Half::Hi) => binary(|a: u32, b: u32| high_unsigned(a, b)),
        (Mul, true, Half::Hi) => binary(|a: i32, b: i32| high_signed(a, b)),
        (Mul, false, Half::Wide) => binary(|a: u32, b: u32| u64::from(a) * u64::from(b)),
        (Mul, true, Half::Wide) => binary(|a: i32, b: i32| i64::from(a) * i64::from(b)),
        (Mad, _, Half::Lo) => ternary(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)),
        (Mad, false, Half::Hi) => ternary(|a: u32, b: u32, c: u32| high_unsigned(a, b).wrapping_add(c)),
        (Mad, true, Half::Hi) if mods.sat => ternary(|a: i32, b: i32, c: i32| high_signed(a, b).saturating_add(c)),
        (Mad, true, Half::Hi) => ternary(|a: i32, b: i32, c: i32| high_signed(a, b).wrapping_add(c)),
        (Mad, false, Half::Wide) => ternary(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c)),
        (Mad, true, Half::Wide) => ternary(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)),
        (Mul24, ..) | (Mad24, ..) => return of_24(alu),
        (Div, false, _) => binary(|a: u32, b: u32| a.checked_div(b).unwrap_or(u32::MAX)),
        (Div, true, _) => binary(|a: i32, b: i32| if b == 0 { -1 } else { a.wrapping_div(b) }),
        (Rem, false, _) => binary(|a: u32, b: u32| a.checked_rem(b).unwrap_or(a)),
        (Rem, true, _) => binary(|a: i32, b: i32| if b == 0 { a } else { a.wrapping_rem(b) }),
        (Abs, ..) => unary(|a: i32| a.wrapping_abs()),
        (Neg, ..) => unary(|a: i32| a.wrapping_neg()),
        (Min, false, _) => binary(|a: u32, b: u32| a.min(b)),
        (Max, false, _) => binary(|a: u32, b: u32| a.max(b)),
        (Min, true, _) if mods.relu => binary(|a: i32, b: i32| a.min(b).max(0)),
        (Max, true, _) if mods.relu => binary(|a: i32, b: i32| a.max(b).max(0)),
        (Min, true, _) => binary(|a: i32, b: i32| a.min(b)),
        (Max, true, _) => binary(|a: i32, b: i32| a.max(b)),
        (Sad, false, _) => ternary(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
        (Sad, true, _) => ternary(|a: i32, b: i32, c: u32| a.abs_diff(b).wrapping_add(c)),
        _ => return None,
    })
}

fn high_unsigned(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn high_signed(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

/// Products of the low 24 bits: `lo` is bits 0 to 31 of the 48-bit product, `hi` bits 16 to 47.
fn of_24(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed(), alu.mods.half, alu.mods.sat) {
        (Mul24, false, Half::Lo, _) => binary(|a: u32, b: u32| product_24(a, b) as u32),
        (Mul24, true, Half::Lo, _) => binary(|a: i32, b: i32| product_24_signed(a, b) as i32),
        (Mul24, false, Half::Hi, _) => binary(|a: u32, b: u32| (product_24(a, b) >> 16) as u32),
        (Mul24, true, Half::Hi, _) => binary(|a: i32, b: i32| (product_24_signed(a, b) >> 16) as i32),
        (Mad24, false, Half::Lo, _) => ternary(|a: u32, b: u32, c: u32| (product_24(a, b) as u32).wrapping_add(c)),
        (Mad24, true, Half::Lo, _) => {
            ternary(|a: i32, b: i32, c: i32| (product_24_signed(a, b) as i32).wrapping_add(c))
        }
        (Mad24, false, Half::Hi, _) => {
            ternary(|a: u32, b: u32, c: u32| ((product_24(a, b) >> 16) as u32).wrapping_add(c))
        }
        (Mad24, true, Half::Hi, false) => {
            ternary(|a: i32, b: i32, c: i32| ((product_24_signed(a, b) >> 16) as i32).wrapping_add(c))
        }
        (Mad24, true, Half::Hi, true) => {
            ternary(|a: i32, b: i32, c: i32| ((product_24_signed(a, b) >> 16) as i32).saturating_add(c))
        }
        _ => return None,
    })
}

fn product_24(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

fn product_24_signed(a: i32, b: i32) -> i64 {
    i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
}

fn of_64(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed(), alu.mods.half) {
        (Add, ..) => binary(|a: u64, b: u64| a.wrapping_add(b)),
        (Sub, ..) => binary(|a: u64, b: u64| a.wrapping_sub(b)),
        (Mul, _, Half::Lo) => binary(|a: u64, b: u64| a.wrapping_mul(b)),
        (Mul, false, Half::Hi) => binary(|a: u64, b: u64| high_unsigned_64(a, b)),
        (Mul, true, Half::Hi) => binary(|a: i64, b: i64| high_signed_64(a, b)),
        (Mad, _, Half::Lo) => ternary(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c)),
        (Mad, false, Half::Hi) => ternary(|a: u64, b: u64, c: u64| high_unsigned_64(a, b).wrapping_add(c)),
        (Mad, true, Half::Hi) => ternary(|a: i64, b: i64, c: i64| high_signed_64(a, b).wrapping_add(c)),
        (Div, false, _) => binary(|a: u64, b: u64| a.checked_div(b).unwrap_or(u64::MAX)),
        (Div, true, _) => binary(|a: i64, b: i64| if b == 0 { -1 } else { a.wrapping_div(b) }),
        (Rem, false, _) => binary(|a: u64, b: u64| a.checked_rem(b).unwrap_or(a)),
        (Rem, true, _) => binary(|a: i64, b: i64| if b == 0 { a } else { a.wrapping_rem(b) }),
        (Abs, ..) => unary(|a: i64| a.wrapping_abs()),
        (Neg, ..) => unary(|a: i64| a.wrapping_neg()),
        (Min, false, _) => binary(|a: u64, b: u64| a.min(b)),
        (Max, false, _) => binary(|a: u64, b: u64| a.max(b)),
        (Min, true, _) => binary(|a: i64, b: i64| a.min(b)),
        (Max, true, _) => binary(|a: i64, b: i64| a.max(b)),
        (Sad, false, _) => ternary(|a: u64, b: u64, c: u64| a.abs_diff(b).wrapping_add(c)),
        (Sad, true, _) => ternary(|a: i64, b: i64, c: u64| a.abs_diff(b).wrapping_add(c)),
        _ => return None,
    })
}

fn high_unsigned_64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn high_signed_64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

/// 16-bit operands sit in the low half of a slot whatever is above them.
fn of_16(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed(), alu.mods.half) {
        (Add, ..) => binary(|a: u32, b: u32| low(a.wrapping_add(b))),
        (Sub, ..) => binary(|a: u32, b: u32| low(a.wrapping_sub(b))),
        (Mul, _, Half::Lo) => binary(|a: u32, b: u32| low(a.wrapping_mul(b))),
        (Mul, false, Half::Hi) => binary(|a: u32, b: u32| (low(a) * low(b)) >> 16),
        (Mul, true, Half::Hi) => binary(|a: u32, b: u32| low(((signed(a) * signed(b)) >> 16) as u32)),
        (Mul, false, Half::Wide) => binary(|a: u32, b: u32| low(a) * low(b)),
        (Mul, true, Half::Wide) => binary(|a: u32, b: u32| (signed(a) * signed(b)) as u32),
        (Mad, _, Half::Lo) => ternary(|a: u32, b: u32, c: u32| low(a.wrapping_mul(b).wrapping_add(c))),
        (Mad, false, Half::Hi) => ternary(|a: u32, b: u32, c: u32| low(((low(a) * low(b)) >> 16) + low(c))),
        (Mad, true, Half::Hi) => {
            ternary(|a: u32, b: u32, c: u32| low(((signed(a) * signed(b)) >> 16).wrapping_add(signed(c)) as u32))
        }
        (Mad, false, Half::Wide) => ternary(|a: u32, b: u32, c: u32| (low(a) * low(b)).wrapping_add(c)),
        (Mad, true, Half::Wide) => ternary(|a: u32, b: u32, c: u32| ((signed(a) * signed(b)) as u32).wrapping_add(c)),
        (Div, false, _) => binary(|a: u32, b: u32| low(low(a).checked_div(low(b)).unwrap_or(u32::MAX))),
        (Div, true, _) => binary(|a: u32, b: u32| low(if low(b) == 0 { -1 } else { signed(a) / signed(b) } as u32)),
        (Rem, false, _) => binary(|a: u32, b: u32| low(a).checked_rem(low(b)).unwrap_or(low(a))),
        (Rem, true, _) => {
            binary(|a: u32, b: u32| low(if low(b) == 0 { signed(a) } else { signed(a) % signed(b) } as u32))
        }
        (Abs, ..) => unary(|a: u32| low(signed(a).wrapping_abs() as u32)),
        (Neg, ..) => unary(|a: u32| low(a.wrapping_neg())),
        (Min, false, _) => binary(|a: u32, b: u32| low(a).min(low(b))),
        (Max, false, _) => binary(|a: u32, b: u32| low(a).max(low(b))),
        (Min, true, _) => binary(|a: u32, b: u32| low(signed(a).min(signed(b)) as u32)),
        (Max, true, _) => binary(|a: u32, b: u32| low(signed(a).max(signed(b)) as u32)),
        (Sad, false, _) => ternary(|a: u32, b: u32, c: u32| low(low(a).abs_diff(low(b)).wrapping_add(c))),
        (Sad, true, _) => ternary(|a: u32, b: u32, c: u32| low(signed(a).abs_diff(signed(b)).wrapping_add(c))),
        _ => return None,
    })
}

fn low(a: u32) -> u32 {
    a & 0xffff
}

fn signed(a: u32) -> i32 {
    i32::from(a as u16 as i16)
}
