//! The special function unit's functions, one value at a time.

use super::approx;
use crate::isa::Mufu;

/// The result bits. Subnormal operands and results are flushed, as the unit does.
pub(crate) fn evaluate(function: Mufu, a: f32) -> u32 {
    match function {
        Mufu::Rcp => approx::rcp(a, true),
        Mufu::Rsq => approx::rsqrt(a, true),
        Mufu::Sqrt => approx::sqrt(a, true),
        Mufu::Lg2 => approx::lg2(a, true),
        Mufu::Ex2 => approx::ex2(a, true),
        Mufu::Sin => approx::sin(a, true),
        Mufu::Cos => approx::cos(a, true),
        Mufu::Tanh => approx::tanh(a),
        Mufu::Rcp64h | Mufu::Rsq64h => {
            let whole = f64::from_bits(u64::from(a.to_bits()) << 32);
            let result = if function == Mufu::Rcp64h { 1.0 / whole } else { 1.0 / libm::sqrt(whole) };
            (result.to_bits() >> 32) as u32
        }
    }
}

/// FCHK: whether `a / b` needs the slow path: operands or quotient near the ends of the exponents' range, or special.
pub(crate) fn division_needs_care(a: f32, b: f32) -> bool {
    let exponent = |value: f32| (value.to_bits() >> 23 & 0xff) as i32;
    let (a, b) = (exponent(a), exponent(b));
    let ordinary = |exponent: i32| exponent != 0 && exponent != 255;
    !ordinary(a) || !ordinary(b) || b >= 253 || a - b >= 126 || a - b <= -125 || a <= 24
}
