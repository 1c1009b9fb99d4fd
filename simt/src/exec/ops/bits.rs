//! Logic, shifts and bit fields.
//!
//! A shift by the width or more gives what shifting bit by bit would: zeros, or the sign. Operands of 8 and 16 bits sit in the low
//! bits of a slot whatever is above them.

use super::level::Picked;
use super::shape::{binary, binary_with, quaternary, ternary, ternary_with, unary, unary_with};
use crate::isa::{Alu, AluKind, BoolOp, Prmt};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    match alu.ty.bits() {
        8 | 16 => of_16(alu),
        32 => of_32(alu),
        64 => of_64(alu),
        _ => None,
    }
}

fn of_16(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed()) {
        (And, _) => binary(|a: u32, b: u32| a & b & 0xffff),
        (Or, _) => binary(|a: u32, b: u32| (a | b) & 0xffff),
        (Xor, _) => binary(|a: u32, b: u32| (a ^ b) & 0xffff),
        (Not, _) => unary(|a: u32| !a & 0xffff),
        (Cnot, _) => unary(|a: u32| u32::from(a & 0xffff == 0)),
        (Shl, _) => binary(|a: u32, b: u32| if b < 16 { a << b & 0xffff } else { 0 }),
        (Shr, false) => binary(|a: u32, b: u32| if b < 16 { (a & 0xffff) >> b } else { 0 }),
        (Shr, true) => binary(|a: u32, b: u32| (a as u16 as i16 >> b.min(15)) as u16 as u32),
        _ => return None,
    })
}

fn of_32(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed()) {
        (And, _) => binary(|a: u32, b: u32| a & b),
        (Or, _) => binary(|a: u32, b: u32| a | b),
        (Xor, _) => binary(|a: u32, b: u32| a ^ b),
        (Not, _) => unary(|a: u32| !a),
        (Cnot, _) => unary(|a: u32| u32::from(a == 0)),
        (Lop3, _) if alu.mods.bool_op == BoolOp::None => {
            ternary_with(|alu, a: u32, b: u32, c: u32| lop3(alu.mods.lut, a, b, c))
        }
        (Shl, _) => binary(|a: u32, b: u32| if b < 32 { a << b } else { 0 }),
        (Shr, false) => binary(|a: u32, b: u32| if b < 32 { a >> b } else { 0 }),
        (Shr, true) => binary(|a: i32, b: u32| a >> b.min(31)),
        (ShfL, _) if alu.mods.wrap => ternary(|a: u32, b: u32, c: u32| (pair(a, b) << (c & 31) >> 32) as u32),
        (ShfL, _) => ternary(|a: u32, b: u32, c: u32| (pair(a, b) << c.min(32) >> 32) as u32),
        (ShfR, _) if alu.mods.wrap => ternary(|a: u32, b: u32, c: u32| (pair(a, b) >> (c & 31)) as u32),
        (ShfR, _) => ternary(|a: u32, b: u32, c: u32| (pair(a, b) >> c.min(32)) as u32),
        (Prmt, _) => ternary_with(|alu, a: u32, b: u32, c: u32| permute(alu.mods.prmt, a, b, c)),
        (Popc, _) => unary(|a: u32| a.count_ones()),
        (Clz, _) => unary(|a: u32| a.leading_zeros()),
        (Brev, _) => unary(|a: u32| a.reverse_bits()),
        (Bfind, false) => unary_with(|alu, a: u32| find(a.into(), 32, alu.mods.shiftamt)),
        (Bfind, true) => unary_with(|alu, a: i32| find((a ^ (a >> 31)) as u32 as u64, 32, alu.mods.shiftamt)),
        (Bfe, signed) => bfe(32, signed),
        (Bfi, _) => quaternary(|a: u32, b: u32, c: u32, d: u32| insert(a.into(), b.into(), c, d, 32) as u32),
        (Bmsk, _) => binary_with(|alu, a: u32, b: u32| mask(alu.mods.wrap, a, b)),
        (Szext, false) => binary_with(|alu, a: u32, b: u32| zero_extend(a, width(alu.mods.wrap, b))),
        (Szext, true) => binary_with(|alu, a: u32, b: u32| sign_extend(a, width(alu.mods.wrap, b))),
        (Fns, _) => ternary(|a: u32, b: u32, c: u32| nth_set(a, b, c as i32)),
        (Dp4a, signed) => dp4a(signed, alu.from.is_signed()),
        (Dp2a, signed) => dp2a(signed, alu.from.is_signed()),
        _ => return None,
    })
}

fn of_64(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.is_signed()) {
        (And, _) => binary(|a: u64, b: u64| a & b),
        (Or, _) => binary(|a: u64, b: u64| a | b),
        (Xor, _) => binary(|a: u64, b: u64| a ^ b),
        (Not, _) => unary(|a: u64| !a),
        (Cnot, _) => unary(|a: u64| u64::from(a == 0)),
        (Shl, _) => binary(|a: u64, b: u32| if b < 64 { a << b } else { 0 }),
        (Shr, false) => binary(|a: u64, b: u32| if b < 64 { a >> b } else { 0 }),
        (Shr, true) => binary(|a: i64, b: u32| a >> b.min(63)),
        (Popc, _) => unary(|a: u64| a.count_ones()),
        (Clz, _) => unary(|a: u64| a.leading_zeros()),
        (Brev, _) => unary(|a: u64| a.reverse_bits()),
        (Bfind, false) => unary_with(|alu, a: u64| find(a, 64, alu.mods.shiftamt)),
        (Bfind, true) => unary_with(|alu, a: i64| find((a ^ (a >> 63)) as u64, 64, alu.mods.shiftamt)),
        (Bfe, signed) => bfe(64, signed),
        (Bfi, _) => quaternary(|a: u64, b: u64, c: u32, d: u32| insert(a, b, c, d, 64)),
        _ => return None,
    })
}

/// The funnel: `b` above `a`.
fn pair(a: u32, b: u32) -> u64 {
    u64::from(a) | u64::from(b) << 32
}

/// Each bit of the result is the bit of the table at the index that the three operands' bits make, `a` the highest.
#[inline(always)]
pub(super) fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let row = |index: u32| 0u32.wrapping_sub(u32::from(table) >> index & 1);
    let by_c = |index: u32| (c & row(index + 1)) | (!c & row(index));
    let by_b = |index: u32| (b & by_c(index + 2)) | (!b & by_c(index));
    (a & by_b(4)) | (!a & by_b(0))
}

/// Bytes 0 to 3 are `a`'s, 4 to 7 `b`'s. A selector's bit 3 replicates the byte's sign.
fn permute(mode: Prmt, a: u32, b: u32, c: u32) -> u32 {
    let bytes = pair(a, b);
    let selector = c & 3;
    let chosen: [u32; 4] = match mode {
        Prmt::Index => std::array::from_fn(|index| c >> (4 * index) & 15),
        Prmt::F4e => std::array::from_fn(|index| selector + index as u32),
        Prmt::B4e => std::array::from_fn(|index| selector.wrapping_sub(index as u32) & 7),
        Prmt::Rc8 => [selector; 4],
        Prmt::Ecl => std::array::from_fn(|index| selector.max(index as u32)),
        Prmt::Ecr => std::array::from_fn(|index| selector.min(index as u32)),
        Prmt::Rc16 => std::array::from_fn(|index| 2 * (selector & 1) + (index as u32 & 1)),
    };
    let byte = |selector: u32| {
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        if selector & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte }
    };
    u32::from_le_bytes(chosen.map(byte))
}

/// Position of the highest set bit, or how far to shift it to the top; all ones where there is none.
fn find(value: u64, width: u32, shift_amount: bool) -> u32 {
    match (value, shift_amount) {
        (0, _) => u32::MAX,
        (_, true) => value.leading_zeros() - (64 - width),
        (_, false) => 63 - value.leading_zeros(),
    }
}

/// A bit position or length. Those of 32-bit fields have 8 bits; 64-bit fields take the whole operand, as an H200 does.
fn field_operand(value: u32, width: u32) -> u32 {
    if width == 32 { value & 255 } else { value }
}

/// Extracts `c` bits from bit `b` on. Past the top come zeros, or the sign of the highest extracted bit that exists.
fn extract(a: u64, b: u32, c: u32, width: u32, signed: bool) -> u64 {
    let (start, length) = (field_operand(b, width), field_operand(c, width));
    if length == 0 {
        return 0;
    }
    let sign_at = start.saturating_add(length - 1).min(width - 1);
    let sign = if signed && a >> sign_at & 1 != 0 { u64::MAX } else { 0 };
    let field = if start < width { a >> start } else { 0 };
    let taken = length.min(width.saturating_sub(start));
    if taken >= 64 { field } else { (field & ((1 << taken) - 1)) | (sign << taken) }
}

fn bfe(width: u32, signed: bool) -> Picked {
    match (width, signed) {
        (32, false) => ternary(|a: u32, b: u32, c: u32| extract(a.into(), b, c, 32, false) as u32),
        (32, true) => ternary(|a: u32, b: u32, c: u32| extract(a.into(), b, c, 32, true) as u32),
        (_, false) => ternary(|a: u64, b: u32, c: u32| extract(a, b, c, 64, false)),
        (_, true) => ternary(|a: u64, b: u32, c: u32| extract(a, b, c, 64, true)),
    }
}

/// `a`'s low `d` bits put into `b` at bit `c`; what would fall off the top does.
fn insert(a: u64, b: u64, c: u32, d: u32, width: u32) -> u64 {
    let (start, length) = (field_operand(c, width), field_operand(d, width));
    let taken = length.min(width.saturating_sub(start));
    if taken == 0 {
        return b;
    }
    let field = u64::MAX >> (64 - taken);
    (b & !(field << start)) | ((a & field) << start)
}

/// A width operand: the low 5 bits, or at most 32.
fn width(wrap: bool, value: u32) -> u32 {
    if wrap { value & 31 } else { value.min(32) }
}

/// Ones from bit `a` on, `b` of them.
fn mask(wrap: bool, a: u32, b: u32) -> u32 {
    let (start, length) = (width(wrap, a), width(wrap, b));
    let ones = if length >= 32 { u32::MAX } else { (1 << length) - 1 };
    if start >= 32 { 0 } else { ones << start }
}

fn zero_extend(a: u32, bits: u32) -> u32 {
    if bits >= 32 { a } else { a & ((1 << bits) - 1) }
}

fn sign_extend(a: u32, bits: u32) -> u32 {
    if bits == 0 || bits >= 32 { zero_extend(a, bits) } else { ((a << (32 - bits)) as i32 >> (32 - bits)) as u32 }
}

/// Position of the `offset`-th set bit of `mask` from bit `base` upwards (downwards if negative); all ones where there is none.
/// An offset of 0 finds `base` itself if it is set.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let is_set = |bit: &u32| mask >> bit & 1 != 0;
    let found = match offset {
        0 => is_set(&base).then_some(base),
        1.. => (base..32).filter(is_set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(is_set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(u32::MAX)
}

fn byte(word: u32, index: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { (byte as i8).into() } else { byte.into() }
}

fn dot4(a: u32, b: u32, c: u32, signed: [bool; 2]) -> u32 {
    (0..4).fold(c, |sum, index| sum.wrapping_add((byte(a, index, signed[0]) * byte(b, index, signed[1])) as u32))
}

fn dp4a(a_signed: bool, b_signed: bool) -> Picked {
    match (a_signed, b_signed) {
        (false, false) => ternary(|a: u32, b: u32, c: u32| dot4(a, b, c, [false, false])),
        (false, true) => ternary(|a: u32, b: u32, c: u32| dot4(a, b, c, [false, true])),
        (true, false) => ternary(|a: u32, b: u32, c: u32| dot4(a, b, c, [true, false])),
        (true, true) => ternary(|a: u32, b: u32, c: u32| dot4(a, b, c, [true, true])),
    }
}

/// Two 16-bit values of `a` times the low or high two bytes of `b`.
fn dot2(alu: &Alu, a: u32, b: u32, c: u32, signed: [bool; 2]) -> u32 {
    let first = if alu.mods.half == crate::isa::Half::Hi { 2 } else { 0 };
    (0..2).fold(c, |sum, index| {
        let half = (a >> (16 * index)) as u16;
        let half = if signed[0] { i32::from(half as i16) } else { half.into() };
        sum.wrapping_add(half.wrapping_mul(byte(b, first + index, signed[1])) as u32)
    })
}

fn dp2a(a_signed: bool, b_signed: bool) -> Picked {
    match (a_signed, b_signed) {
        (false, false) => ternary_with(|alu, a: u32, b: u32, c: u32| dot2(alu, a, b, c, [false, false])),
        (false, true) => ternary_with(|alu, a: u32, b: u32, c: u32| dot2(alu, a, b, c, [false, true])),
        (true, false) => ternary_with(|alu, a: u32, b: u32, c: u32| dot2(alu, a, b, c, [true, false])),
        (true, true) => ternary_with(|alu, a: u32, b: u32, c: u32| dot2(alu, a, b, c, [true, true])),
    }
}
