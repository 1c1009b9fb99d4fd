//! Comparisons: `setp`, `set`, `testp`.
//!
//! For floats, an ordered comparison is false and an unordered one (`equ` …) true when an operand is NaN. A float's `ftz` flushes
//! both operands first.

use std::convert::identity;
use std::marker::PhantomData;

use half::{bf16, f16};

use super::changed::pair;
use super::level::{CHUNKS, Chunk, LANES, Level, Picked, Words};
use super::shape::{Shape, Value, compare, compare_with, join, picked, test};
use crate::exec::frame::{Decoded, Frame};
use crate::isa::{Alu, AluKind, Cmp, Mask, Testp, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    match alu.kind {
        AluKind::Setp => setp(alu),
        AluKind::Set => set(alu),
        AluKind::Testp => testp(alu.ty),
        _ => None,
    }
}

/// The comparison `$op` as a function of its own for each comparison that the type has.
macro_rules! by_cmp {
    ($cmp:expr, $a:ty, $view:expr) => {
        match $cmp {
            Cmp::Eq => compare(|a: $a, b: $a| $view(a) == $view(b)),
            Cmp::Ne => compare(|a: $a, b: $a| $view(a) != $view(b)),
            Cmp::Lt | Cmp::Lo => compare(|a: $a, b: $a| $view(a) < $view(b)),
            Cmp::Le | Cmp::Ls => compare(|a: $a, b: $a| $view(a) <= $view(b)),
            Cmp::Gt | Cmp::Hi => compare(|a: $a, b: $a| $view(a) > $view(b)),
            Cmp::Ge | Cmp::Hs => compare(|a: $a, b: $a| $view(a) >= $view(b)),
            _ => return None,
        }
    };
}

/// An unordered comparison is the negation of the opposite ordered one.
macro_rules! by_float_cmp {
    ($cmp:expr, $a:ty, $view:expr) => {
        match $cmp {
            Cmp::Eq => compare(|a: $a, b: $a| $view(a) == $view(b)),
            Cmp::Ne => compare(|a: $a, b: $a| ($view(a) < $view(b)) | ($view(a) > $view(b))),
            Cmp::Lt => compare(|a: $a, b: $a| $view(a) < $view(b)),
            Cmp::Le => compare(|a: $a, b: $a| $view(a) <= $view(b)),
            Cmp::Gt => compare(|a: $a, b: $a| $view(a) > $view(b)),
            Cmp::Ge => compare(|a: $a, b: $a| $view(a) >= $view(b)),
            Cmp::Neu => compare(|a: $a, b: $a| $view(a) != $view(b)),
            Cmp::Equ => compare(|a: $a, b: $a| !(($view(a) < $view(b)) | ($view(a) > $view(b)))),
            Cmp::Ltu => compare(|a: $a, b: $a| !($view(a) >= $view(b))),
            Cmp::Leu => compare(|a: $a, b: $a| !($view(a) > $view(b))),
            Cmp::Gtu => compare(|a: $a, b: $a| !($view(a) <= $view(b))),
            Cmp::Geu => compare(|a: $a, b: $a| !($view(a) < $view(b))),
            Cmp::Num => compare(|a: $a, b: $a| !$view(a).is_nan() & !$view(b).is_nan()),
            Cmp::Nan => compare(|a: $a, b: $a| $view(a).is_nan() | $view(b).is_nan()),
            _ => return None,
        }
    };
}

#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "how unordered comparisons are defined")]
/// The bits are enough for equality; `lo` and its kind compare unsigned whatever the type says.
fn setp(alu: &Alu) -> Option<Picked> {
    let unsigned = matches!(alu.mods.cmp, Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs);
    Some(match (alu.ty, alu.mods.ftz) {
        (Ty::S32, _) if !unsigned => by_cmp!(alu.mods.cmp, i32, identity),
        (Ty::U32 | Ty::S32 | Ty::B32, _) => by_cmp!(alu.mods.cmp, u32, identity),
        (Ty::S64, _) if !unsigned => by_cmp!(alu.mods.cmp, i64, identity),
        (Ty::U64 | Ty::S64 | Ty::B64, _) => by_cmp!(alu.mods.cmp, u64, identity),
        (Ty::S16, _) if !unsigned => by_cmp!(alu.mods.cmp, u32, |a: u32| a as i16),
        (Ty::U16 | Ty::S16 | Ty::B16, _) => by_cmp!(alu.mods.cmp, u32, |a: u32| a as u16),
        (Ty::F32, false) => by_float_cmp!(alu.mods.cmp, f32, identity),
        (Ty::F32, true) => compare_with(|alu, a: f32, b: f32| float(alu.mods.cmp, flush(a).into(), flush(b).into())),
        (Ty::F64, _) => by_float_cmp!(alu.mods.cmp, f64, identity),
        (Ty::F16 | Ty::BF16, _) => compare_with(|alu, a: u32, b: u32| half_compare(alu, a, b)),
        (Ty::F16x2 | Ty::BF16x2, _) => picked::<SetpPair>(),
        _ => return None,
    })
}

/// A float comparison chosen as it runs.
pub(super) fn float(cmp: Cmp, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b && !unordered,
        Cmp::Lt | Cmp::Lo => a < b,
        Cmp::Le | Cmp::Ls => a <= b,
        Cmp::Gt | Cmp::Hi => a > b,
        Cmp::Ge | Cmp::Hs => a >= b,
        Cmp::Equ => a == b || unordered,
        Cmp::Neu => a != b,
        Cmp::Ltu => a < b || unordered,
        Cmp::Leu => a <= b || unordered,
        Cmp::Gtu => a > b || unordered,
        Cmp::Geu => a >= b || unordered,
        Cmp::Num => !unordered,
        Cmp::Nan => unordered,
    }
}

/// An integer comparison chosen as it runs.
pub(super) fn integer(cmp: Cmp, a: i128, b: i128) -> bool {
    match cmp {
        Cmp::Eq | Cmp::Equ => a == b,
        Cmp::Ne | Cmp::Neu => a != b,
        Cmp::Lt | Cmp::Lo | Cmp::Ltu => a < b,
        Cmp::Le | Cmp::Ls | Cmp::Leu => a <= b,
        Cmp::Gt | Cmp::Hi | Cmp::Gtu => a > b,
        Cmp::Ge | Cmp::Hs | Cmp::Geu => a >= b,
        Cmp::Num => true,
        Cmp::Nan => false,
    }
}

fn flush(a: f32) -> f32 {
    if a.is_subnormal() { 0.0f32.copysign(a) } else { a }
}

/// The value of the low 16 bits. `f16` subnormals are flushed on request; `bf16` has no such form.
fn half_value(alu: &Alu, bits: u32) -> f64 {
    match alu.ty {
        Ty::BF16 | Ty::BF16x2 => bf16::from_bits(bits as u16).to_f64(),
        _ if alu.mods.ftz && bits & 0x7c00 == 0 => 0.0,
        _ => f16::from_bits(bits as u16).to_f64(),
    }
}

fn half_compare(alu: &Alu, a: u32, b: u32) -> bool {
    float(alu.mods.cmp, half_value(alu, a), half_value(alu, b))
}

/// `setp` of two halves: the first predicate is of the low halves, the second of the high ones.
struct SetpPair(PhantomData<()>);

impl Shape for SetpPair {
    const WORDS: Words = Words::new(&[1, 1], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let (mut low, mut high): (Mask, Mask) = (0, 0);
        // SAFETY: the frame and the instruction belong together; both operands have a word.
        unsafe {
            let (a, b) = (frame.source(d.src[0]), frame.source(d.src[1]));
            for chunk in 0..CHUNKS {
                let a = u32::load::<L>(a, chunk).map(|a| pair(&d.alu, 0, a));
                let b = u32::load::<L>(b, chunk).map(|b| pair(&d.alu, 1, b));
                let mask = |result: bool| 0u32.wrapping_sub(result.into());
                let lows = std::array::from_fn(|lane| mask(half_compare(&d.alu, a[lane], b[lane])));
                let highs = std::array::from_fn(|lane| mask(half_compare(&d.alu, a[lane] >> 16, b[lane] >> 16)));
                low |= L::movemask(Chunk(lows)) << (LANES * chunk);
                high |= L::movemask(Chunk(highs)) << (LANES * chunk);
            }
            let with = frame.pred(d.psrc);
            frame.set_pred(d.pdst[0], join(d.alu.mods.bool_op, low, with), on);
            frame.set_pred(d.pdst[1], join(d.alu.mods.bool_op, high, with), on);
        }
    }
}

/// `set`: a comparison whose result is a value of type `from`: all ones or 1.0, or zero.
struct Set;

impl Shape for Set {
    /// Sources are widened by `choose` for 64-bit types.
    const WORDS: Words = Words::new(&[1, 1], &[1]);

    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the frame and the instruction belong together; operands were checked for the words of their types.
        unsafe {
            let with = frame.pred(d.psrc);
            let wide = d.alu.ty.slots() == 2;
            let (a, b) = (frame.source(d.src[0]), frame.source(d.src[1]));
            let mut result = crate::isa::Lanes::ZERO;
            for lane in 0..crate::isa::WARP_SIZE {
                let read = |from: *const crate::isa::Lanes| {
                    let high = if wide { (*from.add(1)).0[lane] } else { 0 };
                    u64::from((*from).0[lane]) | u64::from(high) << 32
                };
                result.0[lane] = set_lane(&d.alu, read(a), read(b), with >> lane & 1 != 0);
            }
            frame.write(d.dst[0], &result, on);
        }
    }
}

fn set(alu: &Alu) -> Option<Picked> {
    use Ty::*;
    let sources =
        matches!(alu.ty, U16 | S16 | B16 | U32 | S32 | B32 | U64 | S64 | B64 | F32 | F64 | F16 | BF16 | F16x2 | BF16x2);
    let results = matches!(alu.from, U16 | S16 | U32 | S32 | B32 | F32 | F16 | BF16 | F16x2 | BF16x2);
    let words = alu.ty.slots();
    (sources && results).then(|| Picked { words: Words::new(&[words, words], &[1]), ..picked::<Set>() })
}

fn set_lane(alu: &Alu, a: u64, b: u64, with: bool) -> u32 {
    let joined = |result: bool| join(alu.mods.bool_op, result.into(), with.into()) & 1 != 0;
    let (low, high) = match alu.ty {
        Ty::F16x2 | Ty::BF16x2 => {
            let (a, b) = (pair(alu, 0, a as u32), pair(alu, 1, b as u32));
            (joined(half_compare(alu, a, b)), joined(half_compare(alu, a >> 16, b >> 16)))
        }
        _ => (joined(compare_bits(alu, a, b)), false),
    };
    let pair = |one: u32| if low { one } else { 0 } | if high { one << 16 } else { 0 };
    match alu.from {
        Ty::F32 => {
            if low {
                1.0f32.to_bits()
            } else {
                0
            }
        }
        Ty::F16 => pair(0x3c00) & 0xffff,
        Ty::BF16 => pair(0x3f80) & 0xffff,
        Ty::F16x2 => pair(0x3c00),
        Ty::BF16x2 => pair(0x3f80),
        Ty::U16 | Ty::S16 => {
            if low {
                0xffff
            } else {
                0
            }
        }
        _ if matches!(alu.ty, Ty::F16x2 | Ty::BF16x2) => pair(0xffff),
        _ => {
            if low {
                u32::MAX
            } else {
                0
            }
        }
    }
}

fn compare_bits(alu: &Alu, a: u64, b: u64) -> bool {
    let unsigned = matches!(alu.mods.cmp, Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs);
    let cmp = alu.mods.cmp;
    match alu.ty {
        Ty::F32 => {
            let value = |bits: u64| {
                let value = f32::from_bits(bits as u32);
                f64::from(if alu.mods.ftz { flush(value) } else { value })
            };
            float(cmp, value(a), value(b))
        }
        Ty::F64 => float(cmp, f64::from_bits(a), f64::from_bits(b)),
        Ty::F16 | Ty::BF16 => half_compare(alu, a as u32, b as u32),
        ty => {
            let up = 64 - ty.bits();
            let value = |bits: u64| match ty.is_signed() && !unsigned {
                true => i128::from((bits << up) as i64 >> up),
                false => i128::from(bits << up >> up),
            };
            integer(cmp, value(a), value(b))
        }
    }
}

fn testp(ty: Ty) -> Option<Picked> {
    Some(match ty {
        Ty::F32 => test(|alu, a: f32| test_class(alu.mods.testp, a.is_nan(), a.is_infinite(), a.is_subnormal())),
        Ty::F64 => test(|alu, a: f64| test_class(alu.mods.testp, a.is_nan(), a.is_infinite(), a.is_subnormal())),
        _ => return None,
    })
}

/// Zeros count as normal (PTX ISA, `testp`).
fn test_class(test: Testp, nan: bool, infinite: bool, subnormal: bool) -> bool {
    match test {
        Testp::Finite => !nan && !infinite,
        Testp::Infinite => infinite,
        Testp::Number => !nan,
        Testp::NotANumber => nan,
        Testp::Normal => !nan && !infinite && !subnormal,
        Testp::Subnormal => subnormal,
    }
}
