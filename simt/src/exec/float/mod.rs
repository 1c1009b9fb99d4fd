//! Floating-point arithmetic that the CPU does not offer: other formats, directed rounding, the GPU's approximations.
//!
//! [`soft`] computes exactly and rounds once, for any format; it serves the rarer operations, where being right in every
//! corner counts and speed does not. [`mufu`] is the GPU's unit for transcendental functions, and [`approx`] makes PTX's instructions
//! of it. The common operations, addition to square root rounded to nearest, are the CPU's own.

pub(crate) mod approx;
pub(crate) mod mufu;
pub(crate) mod soft;

/// The one NaN that `f32` operations give (PTX ISA, "floating point").
pub(crate) const NAN_32: u32 = 0x7fff_ffff;
/// The one NaN of the half formats.
pub(crate) const NAN_16: u32 = 0x7fff;

/// The bits of a result, every NaN made the canonical one.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> u32 {
    if value.is_nan() { NAN_32 } else { value.to_bits() }
}

/// A double's NaN made quiet; sign and payload stay.
#[inline(always)]
pub(crate) fn quiet(value: f64) -> f64 {
    f64::from_bits(value.to_bits() | 1 << 51)
}

/// A double result: where it is NaN, the first operand in this order that is one, made quiet, else the default NaN. (Both as
/// an H200 does; its adder and multiplier look at the later operand first.)
#[inline(always)]
pub(crate) fn with_payload<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    let default = f64::from_bits(0xfff8_0000_0000_0000);
    let nan =
        operands.into_iter().rev().fold(default, |nan, operand| if operand.is_nan() { quiet(operand) } else { nan });
    if result.is_nan() { nan } else { result }
}

/// Subnormals become zeros of the same sign.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// Clamps to 0 … 1; NaN and -0.0 become +0.0.
#[inline(always)]
pub(crate) fn saturate(value: f32) -> f32 {
    if value > 0.0 { if value < 1.0 { value } else { 1.0 } } else { 0.0 }
}
