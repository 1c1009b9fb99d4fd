//! The approximate functions: `rcp`, `rsqrt`, `sqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh` and division, in their `.approx` forms.
//!
//! Each is what `ptxas` makes of the PTX instruction for sm_90: an operation of the multifunction unit ([`mufu`]), which flushes
//! subnormals, and without `.ftz` the multiplications around it that keep them. Results equal an H200's to the bit, and so
//! have its errors (PTX ISA: 1 ulp for `rcp`, 2 ulp for `rsqrt`, `ex2` and division, absolute errors of about 2^-20.5 for `sin`
//! and `cos` of small angles, 2^-22 for `lg2`, a relative one of 2^-11 for `tanh`).

use super::{canonical, flush, mufu, with_payload};

const LEAST_NORMAL: f32 = f32::MIN_POSITIVE;
/// Divisors above have reciprocals that are subnormal: 2^126.
const LARGE: f32 = 8.507_059e37;
/// Makes every subnormal number normal: 2^24, an even power, so that roots need an exact factor afterwards.
const UP: f32 = 16_777_216.0;

/// A value from the unit.
fn value(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// A subnormal operand (or a zero) made larger, and whether it was.
fn raised(a: f32, ftz: bool) -> (u32, bool) {
    let small = !ftz && a.abs() < LEAST_NORMAL;
    (if small { a * UP } else { a }.to_bits(), small)
}

pub(crate) fn rcp(a: f32, ftz: bool) -> u32 {
    if ftz {
        return mufu::rcp(a.to_bits());
    }
    let factor = match a.abs() {
        small if small < LEAST_NORMAL => UP,
        large if large > LARGE => 0.25,
        _ => 1.0,
    };
    canonical(factor * value(mufu::rcp((a * factor).to_bits())))
}

pub(crate) fn sqrt(a: f32, ftz: bool) -> u32 {
    let (operand, small) = raised(a, ftz);
    let root = mufu::sqrt(operand);
    if small { canonical(value(root) * (1.0 / 4096.0)) } else { root }
}

/// Infinite, with the operand's sign, at zero.
pub(crate) fn rsqrt(a: f32, ftz: bool) -> u32 {
    let (operand, small) = raised(a, ftz);
    let root = mufu::rsq(operand);
    if small { canonical(value(root) * 4096.0) } else { root }
}

pub(crate) fn lg2(a: f32, ftz: bool) -> u32 {
    let (operand, small) = raised(a, ftz);
    let logarithm = mufu::lg2(operand);
    if small { canonical(value(logarithm) - 24.0) } else { logarithm }
}

/// Where the result is subnormal, the square of that of half the operand.
pub(crate) fn ex2(a: f32, ftz: bool) -> u32 {
    if ftz || a.is_nan() || a >= -126.0 {
        return mufu::ex2(a.to_bits());
    }
    let root = value(mufu::ex2((a * 0.5).to_bits()));
    canonical(root * root)
}

pub(crate) fn sin(a: f32) -> u32 {
    mufu::sin(turns(a))
}

pub(crate) fn cos(a: f32) -> u32 {
    mufu::cos(turns(a))
}

/// The angle in turns: `a` times 1/2π as `f32`, rounded towards zero. So large angles lose what `f32` has no bits for.
fn turns(a: f32) -> u32 {
    const TURNS_A_RADIAN: f32 = 0.159_154_94;
    /// Bits that a double's fraction has beyond an `f32`'s.
    const BEYOND: u64 = (1 << 29) - 1;
    let exact = f64::from(a) * f64::from(TURNS_A_RADIAN);
    // Exact but for subnormal results, which the unit takes for zeros, as it does the least normal ones.
    (f64::from_bits(exact.to_bits() & !BEYOND) as f32).to_bits()
}

pub(crate) fn tanh(a: f32) -> u32 {
    mufu::tanh(a.to_bits())
}

/// `div.approx` and `div.full`: `a` times the reciprocal of `b`. The approximate one gives 0 (NaN for an infinite `a`) for divisors
/// above 2^126, whose reciprocals are subnormal; the full one scales such operands.
pub(crate) fn div(a: f32, b: f32, ftz: bool, full: bool) -> u32 {
    let multiply = |a: f32, b: f32| if ftz { flush(flush(a) * flush(b)) } else { a * b };
    let factor = match b.abs() {
        large if full && large > LARGE => 0.25,
        small if !ftz && small < LEAST_NORMAL => UP,
        _ => 1.0,
    };
    let (a, b) = if factor == 1.0 { (a, b) } else { (multiply(a, factor), multiply(b, factor)) };
    canonical(multiply(a, value(mufu::rcp(b.to_bits()))))
}

/// `rcp.approx.ftz.f64`: reads and writes the upper half only, and flushes subnormals.
pub(crate) fn rcp64(a: f64) -> f64 {
    from_upper(mufu::rcp64h(upper(a)))
}

/// `rsqrt.approx.ftz.f64`: likewise.
pub(crate) fn rsqrt64(a: f64) -> f64 {
    from_upper(mufu::rsq64h(upper(a)))
}

/// `rsqrt.approx.f64`: a step from the seed towards the root, and subnormals kept.
pub(crate) fn rsqrt64_full(a: f64) -> f64 {
    /// 2^54, and the root of 2^54.
    const RAISE: (f64, f64) = (18_014_398_509_481_984.0, 134_217_728.0);
    if a == 0.0 {
        f64::INFINITY.copysign(a)
    } else if a.is_nan() {
        with_payload(a + a, [a])
    } else if a < 0.0 {
        f64::from_bits(0xfff8_0000_0000_0000)
    } else if a.is_infinite() {
        0.0
    } else if a < f64::MIN_POSITIVE {
        improved(a * RAISE.0) * RAISE.1
    } else {
        improved(a)
    }
}

/// The seed of a positive normal number's reciprocal root, and one step of third order.
fn improved(a: f64) -> f64 {
    let seed = rsqrt64(a);
    let error = a.mul_add(-(seed * seed), 1.0);
    error.mul_add(0.375, 0.5).mul_add(seed * error, seed)
}

fn upper(a: f64) -> u32 {
    (a.to_bits() >> 32) as u32
}

fn from_upper(bits: u32) -> f64 {
    f64::from_bits(u64::from(bits) << 32)
}
