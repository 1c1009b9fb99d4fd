//! The multifunction unit: `MUFU.RCP`, `RSQ`, `SQRT`, `LG2`, `EX2`, `SIN`, `COS`, `TANH` and the seeds of doubles, to the bit.
//!
//! The unit interpolates quadratically: the leading bits of the operand's fraction choose a [`Segment`] of three coefficients, the
//! rest is multiplied in, and the sum is cut off, not rounded (S. Oberman and M. Siu, "A High-Performance Area-Efficient
//! Multifunction Interpolator", ARITH 2005). How its square is truncated and how operands are reduced was first described by
//! M. Kościelnicki for the first unit of this kind (envytools, `nvhw/sfu.c`, 2015); an H200 still computes the same.
//!
//! The coefficients in [`tables`] were solved for from an H200's outputs: in every segment they are the only ones that give all of
//! its results. Every function here was compared with an H200 for every operand there is; the checksums of
//! those outputs are in `tests/data/h200_mufu.tsv`, and the tests hold the functions to them.
//!
//! Operands and results are bits. Subnormal operands count as zeros and subnormal results become zeros (`TANH` alone keeps both);
//! what a PTX instruction without `.ftz` needs beyond that, [`super::approx`] adds, as `ptxas` does.

mod tables;
#[cfg(test)]
mod tests;

use super::soft::{self, Format, Rounding};
use super::{NAN_16, NAN_32};
use crate::isa::Mufu;

/// The result bits of a function; `a` is the upper half of a double for the seeds of doubles.
#[inline]
pub(crate) fn evaluate(function: Mufu, a: f32) -> u32 {
    let bits = a.to_bits();
    match function {
        Mufu::Rcp => rcp(bits),
        Mufu::Rsq => rsq(bits),
        Mufu::Sqrt => sqrt(bits),
        Mufu::Lg2 => lg2(bits),
        Mufu::Ex2 => ex2(bits),
        Mufu::Sin => sin(bits),
        Mufu::Cos => cos(bits),
        Mufu::Tanh => tanh(bits),
        Mufu::Rcp64h => rcp64h(bits),
        Mufu::Rsq64h => rsq64h(bits),
    }
}

/// Constant, linear and quadratic coefficient of one segment.
type Segment = [i32; 3];

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
/// Bits of an `f32`'s fraction, and the same as a mask.
const FRACTION_BITS: u32 = 23;
const FRACTION: u32 = 0x7f_ffff;
const HIDDEN_BIT: u32 = 1 << FRACTION_BITS;
/// The exponent field of 1.
const BIAS: i32 = 127;
/// Bits of the operand that are multiplied with the coefficients (one fewer for `RCP`).
const LOW_BITS: u32 = 17;
const LOW: u32 = (1 << LOW_BITS) - 1;

/// The square of 17 bits over 2^19, of which the partial products below 2^18 are left out.
#[inline(always)]
fn square(low: u32) -> u32 {
    let (upper, lower) = (low >> 9, low & 511);
    let mixed: u32 = (1..8).map(|bit| (lower >> (9 - bit)) * (upper >> bit & 1)).sum();
    ((upper * upper) >> 1) + mixed
}

/// The polynomial: coefficients and rounding constant are scaled as the function asks.
#[inline(always)]
fn interpolate(segment: Segment, scale: [u32; 2], low: u32, square: u32, rounding: i64) -> i64 {
    let [c0, c1, c2] = segment.map(i64::from);
    (c0 << scale[0]) + c1 * i64::from(low) + ((c2 * i64::from(square)) << scale[1]) + rounding
}

/// A float from its sign bit, exponent field and significand of 24 bits, or 2^24; subnormals are flushed.
#[inline(always)]
fn assemble(sign: u32, exponent: i32, significand: i64) -> u32 {
    let carry = (significand >> (FRACTION_BITS + 1)) as i32;
    match exponent + carry {
        ..=0 => sign,
        255.. => sign | INFINITY,
        // A significand of 2^24 has fraction 0, as has the one after the carry.
        exponent => sign | (exponent as u32) << FRACTION_BITS | significand as u32 & FRACTION,
    }
}

/// A float from a fixed-point magnitude with `point` bits behind the point, cut off.
#[inline(always)]
fn normalise(sign: u32, magnitude: u64, point: u32) -> u32 {
    if magnitude == 0 {
        return sign;
    }
    let top = 63 - magnitude.leading_zeros();
    let fraction =
        if top >= FRACTION_BITS { magnitude >> (top - FRACTION_BITS) } else { magnitude << (FRACTION_BITS - top) };
    sign | (BIAS as u32 + top - point) << FRACTION_BITS | fraction as u32 & FRACTION
}

/// What an operand is, as far as the unit tells operands apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Zeros and subnormals.
    Zero,
    Normal,
    Infinite,
    Nan,
}

/// Sign bit, exponent field, fraction and class.
#[inline(always)]
fn parts(bits: u32) -> (u32, i32, u32, Class) {
    let (exponent, fraction) = (bits >> FRACTION_BITS & 0xff, bits & FRACTION);
    let class = match (exponent, fraction) {
        (0, _) => Class::Zero,
        (255, 0) => Class::Infinite,
        (255, _) => Class::Nan,
        _ => Class::Normal,
    };
    (bits & SIGN, exponent as i32, fraction, class)
}

/// `MUFU.RCP`: 1/x. Subnormal results (of operands above 2^126) are zeros.
#[inline]
pub(crate) fn rcp(bits: u32) -> u32 {
    let (sign, exponent, fraction, class) = parts(bits);
    match class {
        Class::Normal => assemble(sign, 2 * BIAS - 1 - exponent, rcp_fraction(fraction)),
        Class::Zero => sign | INFINITY,
        Class::Infinite => sign,
        Class::Nan => NAN_32,
    }
}

/// 2^24 over 1 and a fraction, between 2^23 and 2^24.
#[inline(always)]
fn rcp_fraction(fraction: u32) -> i64 {
    let low = fraction & 0xffff;
    interpolate(tables::RCP[(fraction >> 16) as usize], [13, 0], low, square(low << 1), 0x7e7) >> 15
}

/// `MUFU.RSQ`: 1/√x; infinite, with the operand's sign, at zero.
#[inline]
pub(crate) fn rsq(bits: u32) -> u32 {
    let (sign, exponent, fraction, class) = parts(bits);
    match class {
        Class::Normal if sign == 0 => {
            let power = exponent - BIAS;
            assemble(0, BIAS - 1 - (power >> 1), rsq_fraction((power as u32 & 1) << FRACTION_BITS | fraction))
        }
        Class::Zero => sign | INFINITY,
        Class::Infinite if sign == 0 => 0,
        _ => NAN_32,
    }
}

/// 2^24 over the root of a number from 1 to 4, whose odd exponent is bit 23.
#[inline(always)]
fn rsq_fraction(fraction: u32) -> i64 {
    if fraction == 0 {
        return 1 << 24;
    }
    let low = fraction & LOW;
    interpolate(tables::RSQ[(fraction >> LOW_BITS) as usize], [14, 2], low, square(low), 0x3fff) >> 16
}

/// `MUFU.SQRT`: √x, zeros with the operand's sign.
#[inline]
pub(crate) fn sqrt(bits: u32) -> u32 {
    let (sign, exponent, fraction, class) = parts(bits);
    match class {
        Class::Normal if sign == 0 => {
            let power = exponent - BIAS;
            let fraction = (power as u32 & 1) << FRACTION_BITS | fraction;
            let low = fraction & LOW;
            let segment = tables::SQRT[(fraction >> LOW_BITS) as usize];
            assemble(0, BIAS + (power >> 1), interpolate(segment, [15, 1], low, square(low), 0x7fff) >> 17)
        }
        Class::Zero => sign,
        Class::Infinite if sign == 0 => INFINITY,
        _ => NAN_32,
    }
}

/// `MUFU.LG2`: the binary logarithm; -∞ at zeros of either sign.
#[inline]
pub(crate) fn lg2(bits: u32) -> u32 {
    /// Bits behind the point of the sum of exponent and interpolated fraction.
    const POINT: u32 = 36;
    let (sign, exponent, fraction, class) = parts(bits);
    match class {
        Class::Zero => SIGN | INFINITY,
        Class::Normal if sign == 0 => {
            let low = fraction & LOW;
            let segment = tables::LG2[(fraction >> LOW_BITS) as usize];
            let of_fraction = interpolate(segment, [12, 1], low, square(low), 0x345) >> 2;
            let whole = i64::from(exponent - BIAS) << POINT;
            match whole + if bits == ONE { 0 } else { of_fraction } {
                // The complement, one less than the magnitude.
                negative @ ..0 => normalise(SIGN, !negative as u64, POINT),
                positive => normalise(0, positive as u64, POINT),
            }
        }
        Class::Infinite if sign == 0 => INFINITY,
        _ => NAN_32,
    }
}

/// `MUFU.EX2`: 2^x. The operand is made fixed-point with 23 bits behind the point, and cut off there.
#[inline]
pub(crate) fn ex2(bits: u32) -> u32 {
    let (sign, exponent, fraction, class) = parts(bits);
    let infinite = if sign == 0 { INFINITY } else { 0 };
    match class {
        Class::Nan => NAN_32,
        Class::Infinite => infinite,
        Class::Normal if exponent - BIAS >= 7 => infinite,
        _ => {
            let magnitude = fixed(exponent, fraction, 0) as i64;
            // The fraction's complement stands for the negated one, unless it is zero: one unit less.
            let fixed = match (sign, magnitude as u32 & FRACTION) {
                (0, _) => magnitude,
                (_, 0) => -magnitude,
                _ => !magnitude,
            };
            let (whole, fraction) = ((fixed >> FRACTION_BITS) as i32, fixed as u32 & FRACTION);
            let low = fraction & LOW;
            let segment = tables::EX2[(fraction >> LOW_BITS) as usize];
            assemble(0, BIAS + whole, interpolate(segment, [13, 0], low, square(low), 0x17e2) >> 15)
        }
    }
}

/// A float's magnitude times 2^`scale` with 23 bits behind the point; bits that fall out at either end are lost.
#[inline(always)]
fn fixed(exponent: i32, fraction: u32, scale: i32) -> u32 {
    let significand = if exponent == 0 { 0 } else { fraction | HIDDEN_BIT };
    match exponent - BIAS + scale {
        up @ 0..32 => significand << up,
        down @ -31..0 => significand >> -down,
        _ => 0,
    }
}

/// `MUFU.SIN`: the sine of an angle in turns.
#[inline]
pub(crate) fn sin(turns: u32) -> u32 {
    sine(turns, false)
}

/// `MUFU.COS`: the cosine of an angle in turns.
#[inline]
pub(crate) fn cos(turns: u32) -> u32 {
    sine(turns, true)
}

#[inline(always)]
fn sine(turns: u32, cosine: bool) -> u32 {
    /// Bits behind the point of the interpolated sine.
    const POINT: u32 = 37;
    let (sign, exponent, fraction, class) = parts(turns);
    if matches!(class, Class::Infinite | Class::Nan) {
        return NAN_32;
    }
    // Quarter turns; a cosine is the sine a quarter later, and even.
    let quarters = fixed(exponent, fraction, 2);
    let (quadrant, sign) = ((quarters >> FRACTION_BITS) + u32::from(cosine), if cosine { 0 } else { sign });
    let sign = sign ^ (quadrant & 2) << 30;
    let fraction = if quadrant & 1 == 0 { quarters } else { !quarters } & FRACTION;
    let low = fraction & LOW;
    let segment = tables::SIN[(fraction >> LOW_BITS) as usize];
    normalise(sign, interpolate(segment, [11, 0], low, square(low), 0) as u64, POINT)
}

/// `MUFU.TANH`: the operand itself below 2^-8, ±1 from 8 on.
#[inline]
pub(crate) fn tanh(bits: u32) -> u32 {
    /// The exponent field of 2^-8, and how many binary orders of segments in a power of two there are from there to 8.
    const FIRST: i32 = 119;
    const ORDERS: [u8; 11] = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3];
    /// Where each power of two begins in the table.
    const STARTS: [u8; 11] = [0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43];
    let (sign, exponent, fraction, class) = parts(bits);
    if class == Class::Nan {
        return NAN_32;
    }
    let Ok(power) = usize::try_from(exponent - FIRST) else { return bits };
    if power >= ORDERS.len() {
        return sign | ONE;
    }
    // The last bits of the fraction do not count.
    let fraction = fraction >> (FRACTION_BITS - LOW_BITS - u32::from(ORDERS[power]));
    let low = fraction & LOW;
    let segment = tables::TANH[usize::from(STARTS[power]) + (fraction >> LOW_BITS) as usize];
    let magnitude = interpolate(segment, [16, 0], low, square(low), 0) as u64;
    // 2^40 stands for twice the operand's power of two, and for 1 from there on.
    normalise(sign, magnitude, (39 + BIAS - exponent.min(BIAS - 1)) as u32)
}

/// `MUFU.RCP64H`: the upper half of a first approximation to 1/x, from the upper half of a double.
#[inline]
pub(crate) fn rcp64h(upper: u32) -> u32 {
    let (sign, exponent, fraction) = (upper & SIGN, (upper >> 20 & 0x7ff) as i32, upper & 0xf_ffff);
    match (exponent, fraction) {
        (0, _) => sign | 0x7ff0_0000,
        (0x7ff, 0) => sign,
        (0x7ff, _) => 0x7fff_ffff,
        _ => assemble64(sign, 2045 - exponent, rcp_fraction(fraction << 3)),
    }
}

/// `MUFU.RSQ64H`: the upper half of a first approximation to 1/√x, from the upper half of a double.
#[inline]
pub(crate) fn rsq64h(upper: u32) -> u32 {
    let (sign, exponent, fraction) = (upper & SIGN, (upper >> 20 & 0x7ff) as i32, upper & 0xf_ffff);
    match (exponent, fraction) {
        (0, _) => sign | 0x7ff0_0000,
        (0x7ff, 0) if sign == 0 => 0,
        (1..0x7ff, _) if sign == 0 => {
            let power = exponent - 1023;
            assemble64(0, 1022 - (power >> 1), rsq_fraction((power as u32 & 1) << FRACTION_BITS | fraction << 3))
        }
        _ => 0x7fff_ffff,
    }
}

/// As [`assemble`], the upper half of a double.
#[inline(always)]
fn assemble64(sign: u32, exponent: i32, significand: i64) -> u32 {
    match exponent + (significand >> (FRACTION_BITS + 1)) as i32 {
        ..=0 => sign,
        exponent => sign | (exponent as u32) << 20 | (significand as u32 & FRACTION) >> 3,
    }
}

/// `MUFU.EX2.F16`: as [`ex2`], cut off to `f16`, subnormals kept.
pub(crate) fn ex2_f16(bits: u32) -> u32 {
    cut_to_f16(ex2(widened(bits)))
}

/// `MUFU.TANH.F16`: as [`tanh`], cut off to `f16`.
pub(crate) fn tanh_f16(bits: u32) -> u32 {
    cut_to_f16(tanh(widened(bits)))
}

/// `MUFU.EX2.BF16`: as [`ex2`], cut off to `bf16`.
pub(crate) fn ex2_bf16(bits: u32) -> u32 {
    ex2(bits << 16) >> 16
}

/// `MUFU.TANH.BF16`: as [`tanh`], cut off to `bf16`.
pub(crate) fn tanh_bf16(bits: u32) -> u32 {
    tanh(bits << 16) >> 16
}

/// An `f16`, in the lower half, as `f32`.
fn widened(bits: u32) -> u32 {
    half::f16::from_bits(bits as u16).to_f32().to_bits()
}

/// Rounds towards zero, but 2^16 and more to infinity.
fn cut_to_f16(bits: u32) -> u32 {
    const TOO_LARGE: u32 = 0x4780_0000;
    match bits & !SIGN {
        NAN_32 => NAN_16,
        TOO_LARGE.. => bits >> 16 & 0x8000 | 0x7c00,
        _ => soft::pack(soft::unpack(bits.into(), Format::F32), Format::F16, Rounding::Zero) as u32,
    }
}

/// FCHK: whether `a / b` needs the slow path: operands or quotient near the ends of the exponents' range, or special. Only exponents
/// count; as an H200 has it for every pair of them (with fractions of all zeros, all ones and between).
pub(crate) fn division_needs_care(a: f32, b: f32) -> bool {
    let exponent = |value: f32| (value.to_bits() >> FRACTION_BITS & 0xff) as i32;
    let (a, b) = (exponent(a), exponent(b));
    !(matches!(a, 25..=254) && matches!(b, 2..=251) && matches!(a - b, -124..=126))
}
