//! Exact arithmetic with one rounding at the end.
//!
//! A finite number is an integer significand times a power of two, wide enough for any product of two doubles. Sums, quotients and
//! roots may lose bits below the significand; then its last bit is set ("round to odd"), which is enough for [`pack`] to
//! round correctly to any format here, since all are narrower by more than two bits.

/// How a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    NearestAway,
    Zero,
    Down,
    Up,
}

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Explicit significand bits.
    pub fraction_bits: u32,
    pub exponent_bits: u32,
    /// The highest exponent holds infinities and NaNs. Without it (`e4m3`) only all ones is NaN.
    pub has_infinity: bool,
    /// Bits below the last fraction bit in the container (`tf32` in an `f32`).
    pub padding_bits: u32,
}

impl Format {
    const fn new(fraction_bits: u32, exponent_bits: u32) -> Self {
        Self { fraction_bits, exponent_bits, has_infinity: true, padding_bits: 0 }
    }

    pub const F64: Self = Self::new(52, 11);
    pub const F32: Self = Self::new(23, 8);
    pub const F16: Self = Self::new(10, 5);
    pub const BF16: Self = Self::new(7, 8);
    pub const TF32: Self = Self { padding_bits: 13, ..Self::new(10, 8) };
    pub const E5M2: Self = Self::new(2, 5);
    pub const E4M3: Self = Self { has_infinity: false, ..Self::new(3, 4) };

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// Exponent of the smallest normal number.
    const fn least_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// Bits of the largest exponent field with fraction 0, unpadded.
    const fn top_exponent(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.fraction_bits + self.exponent_bits)
    }

    /// Bits of the largest finite number.
    const fn largest(self) -> u64 {
        if self.has_infinity { self.top_exponent() - 1 } else { self.sign_bit() - 2 }
    }

    /// Bits of infinity; of the largest number where there is none.
    const fn infinity(self) -> u64 {
        if self.has_infinity { self.top_exponent() } else { self.largest() }
    }

    /// All ones but the sign: the canonical NaN of every format but `f64`, whose is the CPU's.
    pub const fn nan(self) -> u64 {
        match self.fraction_bits {
            52 => 0xfff8_0000_0000_0000,
            _ => (self.sign_bit() - 1) << self.padding_bits,
        }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

/// `significand` × 2^`exponent`, negated or not; zero has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

impl Exact {
    pub const fn zero(negative: bool) -> Self {
        Self { negative, significand: 0, exponent: 0 }
    }

    pub const fn integer(value: i128) -> Self {
        Self { negative: value < 0, significand: value.unsigned_abs(), exponent: 0 }
    }

    /// Moves the highest bit to bit `top`, upwards only.
    const fn raised(self, top: u32) -> Self {
        let shift = self.significand.leading_zeros().saturating_sub(127 - top);
        Self { significand: self.significand << shift, exponent: self.exponent - shift as i32, ..self }
    }
}

impl Number {
    pub const fn negated(self) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite { negative } => Self::Infinite { negative: !negative },
            Self::Finite(exact) => Self::Finite(Exact { negative: !exact.negative, ..exact }),
        }
    }

    const fn is_negative(self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinite { negative } => negative,
            Self::Finite(exact) => exact.negative,
        }
    }
}

/// Reads a number. Padding bits are ignored.
pub(crate) fn unpack(bits: u64, format: Format) -> Number {
    let bits = bits >> format.padding_bits;
    let negative = bits & format.sign_bit() != 0;
    let magnitude = bits & (format.sign_bit() - 1);
    let fraction = magnitude & ((1 << format.fraction_bits) - 1);
    let field = (magnitude >> format.fraction_bits) as i32;
    if format.has_infinity && magnitude >= format.top_exponent() {
        return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
    }
    if !format.has_infinity && magnitude > format.largest() {
        return Number::Nan;
    }
    let significand = if field == 0 { fraction } else { fraction | 1 << format.fraction_bits };
    let exponent = field.max(1) - format.bias() - format.fraction_bits as i32;
    Number::Finite(Exact { negative, significand: significand.into(), exponent })
}

/// Rounds to a format.
pub(crate) fn pack(number: Number, format: Format, rounding: Rounding) -> u64 {
    let sign = |negative: bool| if negative { format.sign_bit() } else { 0 };
    let bits = match number {
        Number::Nan => return format.nan(),
        Number::Infinite { negative } => sign(negative) | format.infinity(),
        Number::Finite(exact) => sign(exact.negative) | round_magnitude(exact, format, rounding),
    };
    bits << format.padding_bits
}

fn round_magnitude(exact: Exact, format: Format, rounding: Rounding) -> u64 {
    if exact.significand == 0 {
        return 0;
    }
    let top = 127 - exact.significand.leading_zeros() as i32 + exact.exponent;
    let fraction_bits = format.fraction_bits as i32;
    // Exponent of the last bit kept; below the least exponent the format has fewer bits.
    let last = top.max(format.least_exponent()) - fraction_bits;
    let kept = shift_rounded(exact, last, rounding) as u64;
    let field = (last + fraction_bits - format.least_exponent() + 1) as u64;
    // With the hidden bit, `kept` adds one to the exponent field; a subnormal has neither; a carry moves into the field.
    let bits = match kept >> format.fraction_bits {
        0 => kept,
        _ if field > format.top_exponent() >> format.fraction_bits => u64::MAX,
        _ => ((field - 1) << format.fraction_bits) + kept,
    };
    if bits <= format.largest() {
        return bits;
    }
    match (rounding, exact.negative) {
        (Rounding::Zero, _) | (Rounding::Down, false) | (Rounding::Up, true) => format.largest(),
        _ => format.infinity(),
    }
}

/// The magnitude as a multiple of 2^`last`, rounded.
fn shift_rounded(exact: Exact, last: i32, rounding: Rounding) -> u128 {
    let shift = last - exact.exponent;
    if shift <= 0 {
        return exact.significand << shift.unsigned_abs().min(127);
    }
    let shift = shift as u32;
    let (kept, half, rest) = match shift {
        1..=127 => {
            let below = exact.significand & ((1 << shift) - 1);
            let half = 1 << (shift - 1);
            (exact.significand >> shift, below & half != 0, below & (half - 1) != 0)
        }
        128 => (0, exact.significand >> 127 != 0, exact.significand << 1 != 0),
        _ => (0, false, exact.significand != 0),
    };
    let up = match rounding {
        Rounding::NearestEven => half && (rest || kept & 1 != 0),
        Rounding::NearestAway => half,
        Rounding::Zero => false,
        Rounding::Down => exact.negative && (half || rest),
        Rounding::Up => !exact.negative && (half || rest),
    };
    kept + u128::from(up)
}

/// A NaN in another format: sign and the upper payload stay, and it is quiet.
pub(crate) fn convert_nan(bits: u64, from: Format, to: Format) -> u64 {
    let bits = bits >> from.padding_bits;
    let payload = bits & ((1 << from.fraction_bits) - 1) | 1 << (from.fraction_bits - 1);
    let moved = match to.fraction_bits.checked_sub(from.fraction_bits) {
        Some(up) => payload << up,
        None => payload >> (from.fraction_bits - to.fraction_bits),
    };
    let sign = if bits & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    (sign | to.top_exponent() | moved) << to.padding_bits
}

/// The number rounded to an integer, within ±2^126; NaN is `None`, infinities and larger values that bound.
pub(crate) fn to_integer(number: Number, rounding: Rounding) -> Option<i128> {
    const BOUND: i128 = 1 << 126;
    let signed = |magnitude: i128, negative: bool| if negative { -magnitude } else { magnitude };
    match number {
        Number::Nan => None,
        Number::Infinite { negative } => Some(signed(BOUND, negative)),
        Number::Finite(exact) => {
            let top = 127 - exact.significand.leading_zeros() as i32 + exact.exponent;
            let magnitude = match exact.significand != 0 && top >= 126 {
                true => BOUND,
                false => shift_rounded(exact, 0, rounding) as i128,
            };
            Some(signed(magnitude, exact.negative))
        }
    }
}

/// `a` + `b`. An exact zero from operands of different sign is negative only when rounding down.
pub(crate) fn add(a: Number, b: Number, rounding: Rounding) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { negative: a }, Number::Infinite { negative: b }) if a != b => Number::Nan,
        (Number::Infinite { .. }, _) => a,
        (_, Number::Infinite { .. }) => b,
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(sum(a, b, rounding)),
    }
}

fn sum(a: Exact, b: Exact, rounding: Rounding) -> Exact {
    let cancelled = rounding == Rounding::Down;
    match (a.significand, b.significand) {
        (0, 0) => return Exact::zero(if a.negative == b.negative { a.negative } else { cancelled }),
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    let (a, b) = (a.raised(124), b.raised(124));
    let (a, b) = if a.exponent < b.exponent { (b, a) } else { (a, b) };
    let distance = a.exponent.abs_diff(b.exponent);
    let lower = match distance {
        0..=127 => {
            let lost = b.significand & ((1 << distance) - 1) != 0;
            b.significand >> distance | u128::from(lost)
        }
        _ => 1,
    };
    let (larger, smaller) = (a.significand as i128, lower as i128);
    let total = if a.negative == b.negative { larger + smaller } else { larger - smaller };
    match total {
        0 => Exact::zero(cancelled),
        _ => Exact { negative: a.negative != (total < 0), significand: total.unsigned_abs(), exponent: a.exponent },
    }
}

/// `a` × `b`, exact: significands of at most 64 bits each.
pub(crate) fn mul(a: Number, b: Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Finite(other)) | (Number::Finite(other), Number::Infinite { .. })
            if other.significand == 0 =>
        {
            Number::Nan
        }
        (Number::Infinite { .. }, _) | (_, Number::Infinite { .. }) => Number::Infinite { negative },
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(Exact {
            negative,
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
        }),
    }
}

/// `a` ÷ `b`.
pub(crate) fn div(a: Number, b: Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Infinite { .. }) => Number::Nan,
        (Number::Infinite { .. }, _) => Number::Infinite { negative },
        (_, Number::Infinite { .. }) => Number::Finite(Exact::zero(negative)),
        (Number::Finite(a), Number::Finite(b)) => match (a.significand, b.significand) {
            (0, 0) => Number::Nan,
            (_, 0) => Number::Infinite { negative },
            (0, _) => Number::Finite(Exact::zero(negative)),
            _ => {
                let a = a.raised(127);
                let inexact = a.significand % b.significand != 0;
                let significand = (a.significand / b.significand) | u128::from(inexact);
                Number::Finite(Exact { negative, significand, exponent: a.exponent - b.exponent })
            }
        },
    }
}

/// The square root; of negative numbers NaN, of -0 itself.
pub(crate) fn sqrt(a: Number) -> Number {
    match a {
        Number::Finite(exact) if exact.significand == 0 => a,
        Number::Nan => Number::Nan,
        _ if a.is_negative() => Number::Nan,
        Number::Infinite { .. } => a,
        Number::Finite(exact) => {
            let raised = exact.raised(126);
            // An odd exponent is made even by giving up a bit, which is zero: significands have at most 64 bits.
            let odd = raised.exponent & 1;
            let (square, exponent) = (raised.significand >> odd, (raised.exponent + odd) / 2);
            let root = square.isqrt();
            let significand = root | u128::from(root * root != square);
            Number::Finite(Exact { negative: false, significand, exponent })
        }
    }
}

/// `a` × `b` + `c`, not yet rounded.
pub(crate) fn fma(a: Number, b: Number, c: Number, rounding: Rounding) -> Number {
    add(mul(a, b), c, rounding)
}
