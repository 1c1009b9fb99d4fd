//! The approximate functions: `rcp`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh` and division, in their `.approx` forms.
//!
//! The GPU computes these with tables of its own. Here they are computed in `f64` by `libm`, in plain Rust and so the same on
//! every computer, and rounded once to `f32`: the result is within 0.5000001 units in the last place of the true value, and so
//! within the bounds that the PTX ISA gives for the GPU's (1 ulp for `rcp`, 2 ulp for `rsqrt`, `ex2` and division, absolute errors
//! of about 2^-20.5 for `sin` and `cos` of small angles, 2^-22 for `lg2`, a relative one of 2^-11 for `tanh`). The bits can differ from the GPU's within
//! the sum of the two errors.

use super::{canonical, flush};

/// Applies a function in `f64` and rounds once; `ftz` flushes operand and result.
fn through(a: f32, ftz: bool, f: impl Fn(f64) -> f64) -> u32 {
    let a = if ftz { flush(a) } else { a };
    let result = f(a.into()) as f32;
    canonical(if ftz { flush(result) } else { result })
}

pub(crate) fn rcp(a: f32, ftz: bool) -> u32 {
    through(a, ftz, |a| 1.0 / a)
}

pub(crate) fn sqrt(a: f32, ftz: bool) -> u32 {
    through(a, ftz, libm::sqrt)
}

/// Infinite, with the operand's sign, at zero.
pub(crate) fn rsqrt(a: f32, ftz: bool) -> u32 {
    through(a, ftz, |a| 1.0 / libm::sqrt(a))
}

pub(crate) fn sin(a: f32, ftz: bool) -> u32 {
    through(a, ftz, |a| libm::sin(reduced(a)))
}

pub(crate) fn cos(a: f32, ftz: bool) -> u32 {
    through(a, ftz, |a| libm::cos(reduced(a)))
}

/// The angle as the GPU sees it: `a` times 1/2π in `f32`, rounded towards zero, and of that the fraction of a turn. So large
/// angles lose what `f32` has no bits for, on the GPU and here alike.
fn reduced(a: f64) -> f64 {
    const TURNS_A_RADIAN: f32 = 0.159_154_94;
    let exact = a * f64::from(TURNS_A_RADIAN);
    let nearest = exact as f32;
    let towards_zero =
        if f64::from(nearest.abs()) > exact.abs() { f32::from_bits(nearest.to_bits() - 1) } else { nearest };
    let turns = f64::from(towards_zero);
    (turns - libm::rint(turns)) * std::f64::consts::TAU
}

pub(crate) fn lg2(a: f32, ftz: bool) -> u32 {
    through(a, ftz, libm::log2)
}

pub(crate) fn ex2(a: f32, ftz: bool) -> u32 {
    through(a, ftz, libm::exp2)
}

pub(crate) fn tanh(a: f32) -> u32 {
    through(a, false, libm::tanh)
}

/// `div.approx` and `div.full`. Both compute `a` times a reciprocal; the approximate one gives 0 (NaN for an infinite `a`) for
/// divisors above 2^126, whose reciprocals are subnormal (PTX ISA, `div`); the full one scales such operands.
pub(crate) fn div(a: f32, b: f32, ftz: bool, full: bool) -> u32 {
    let (a, b) = if ftz { (flush(a), flush(b)) } else { (a, b) };
    const LIMIT: f32 = 8.507_059e37;
    let result = match b.abs() > LIMIT && b.is_finite() && !full {
        true => a * 0.0f32.copysign(b),
        false => (f64::from(a) / f64::from(b)) as f32,
    };
    canonical(if ftz { flush(result) } else { result })
}
