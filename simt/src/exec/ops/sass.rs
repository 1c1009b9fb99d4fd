//! Operations that only SASS has: three-operand sums with carries, scaled sums, funnel shifts of any form, selections of the lesser
//! or greater by a predicate, logic of three predicates, the special function unit.

use std::marker::PhantomData;

use super::bits::lop3;
use super::changed::{float, halves, integer, integer64, pair};
use super::level::{CHUNKS, Chunk, LANES, Level, Picked, Words};
use super::shape::{Shape, Value, join, picked, set_compared, ternary, ternary_with, unary_with};
use super::{compare, half, packed};
use crate::exec::float::mufu;
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Alu, AluKind, BoolOp, Cmp, Half, Lanes, Mask, Ty, WARP_SIZE};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    let mods = &alu.mods;
    let carries = mods.carry_in || mods.carry_out;
    Some(match (alu.kind, alu.ty) {
        (Add3, _) if !carries && !mods.changes_sources() => {
            ternary(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c))
        }
        (Add3, _) if !carries => ternary_with(|alu, a: u32, b: u32, c: u32| {
            integer(alu, 0, a).wrapping_add(integer(alu, 1, b)).wrapping_add(integer(alu, 2, c))
        }),
        (Add3, _) => flagged(add3),
        (Lea, _) if !carries => ternary_with(|alu, a: u32, b: u32, _: u32| {
            (integer(alu, 0, a) << alu.mods.shift).wrapping_add(integer(alu, 1, b))
        }),
        (Lea, _) => flagged(lea),
        (LeaHi, _) => flagged(lea_hi),
        (Shf, _) => ternary_with(shift),
        (MadCarry, _) if mods.half == Half::Wide => flagged(mad_wide),
        (MadCarry, _) if mods.half == Half::Hi => flagged(mad_high),
        (MadCarry, _) => flagged(mad),
        (Selp, Ty::F32) => flagged(select_float),
        (MinMax, Ty::F32) => flagged(extreme_float),
        (MinMax, Ty::F16x2 | Ty::BF16x2) => flagged(extreme_half),
        (MinMax, Ty::U16x2 | Ty::S16x2) if !mods.changes_sources() => {
            flagged(|alu, a, b, _: u32, flags| (packed::lesser_or_greater(alu, a, b, flags & 1 != 0), 0))
        }
        (MinMax, Ty::U32 | Ty::S32) => flagged(extreme),
        (AddMinMax, Ty::U32 | Ty::S32) => flagged(extreme_of_sum),
        (WhichExtreme, Ty::F64) if !mods.changes_sources() => picked::<ExtremeTest>(),
        (SignLogic, _) if !mods.changes_sources() => Picked::same(sign_logic, Words::new(&[1, 1, 1], &[]), Flow::Next),
        (SetpX, _) => picked::<CompareHigh>(),
        (Plop3, _) => Picked::same(plop3, Words::default(), Flow::Next),
        (Lop3, Ty::B32) if mods.bool_op != BoolOp::None => picked::<LogicWithTest>(),
        (Mufu, _) => unary_with(|alu, a: f32| mufu::evaluate(alu.mods.mufu, float(alu, 0, a))),
        (FloatCheck, _) => picked::<DivisionCheck>(),
        (PredsToReg, _) => Picked::same(preds_to_reg, Words::new(&[1, 1], &[1]), Flow::Next),
        (RegToPreds, _) => Picked::same(reg_to_preds, Words::new(&[1, 1], &[]), Flow::Next),
        _ => return None,
    })
}

/// A function of three sources and of predicates: bit 0 of the flags is `psrc`, bit 1 `mods.pa`, bit 2 `mods.pb`. It gives a result
/// and flags: bit 0 for `pdst[0]`, bit 1 for `pdst[1]`.
struct Flagged<C, R, F>(PhantomData<(C, R, F)>);

fn flagged<C: Value, R: Value, F: Fn(&Alu, u32, u32, C, u32) -> (R, u32) + Copy>(_: F) -> Picked {
    picked::<Flagged<C, R, F>>()
}

impl<C: Value, R: Value, F: Fn(&Alu, u32, u32, C, u32) -> (R, u32) + Copy> Shape for Flagged<C, R, F> {
    const WORDS: Words = Words::new(&[1, 1, C::SLOTS], &[R::SLOTS]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let f = super::shape::conjure::<F>();
        let (mut first, mut second): (Mask, Mask) = (0, 0);
        // SAFETY: the frame and the instruction belong together; operands were checked for WORDS. All sources of a chunk are read
        // before its result is written.
        unsafe {
            let flags = [frame.pred(d.psrc), frame.pred(d.pa), frame.pred(d.pb)];
            let to = frame.target(d.dst[0]);
            let [a, b, c] = [0, 1, 2].map(|index| frame.source(d.src[index]));
            for chunk in 0..CHUNKS {
                let (a, b) = (u32::load::<L>(a, chunk), u32::load::<L>(b, chunk));
                let c = C::load::<L>(c, chunk);
                let flag = |lane: usize| {
                    let bit = |mask: Mask| mask >> (LANES * chunk + lane) & 1;
                    bit(flags[0]) | bit(flags[1]) << 1 | bit(flags[2]) << 2
                };
                let results: [(R, u32); LANES] =
                    std::array::from_fn(|lane| f(&d.alu, a[lane], b[lane], c[lane], flag(lane)));
                R::store::<L>(to, chunk, results.map(|(result, _)| result), (on >> (LANES * chunk)) as u8);
                first |= L::movemask(Chunk(results.map(|(_, flags)| flags << 31))) << (LANES * chunk);
                second |= L::movemask(Chunk(results.map(|(_, flags)| flags << 30))) << (LANES * chunk);
            }
            frame.set_pred(d.pdst[0], first, on);
            frame.set_pred(d.pdst[1], second, on);
        }
    }
}

/// Flags of a sum by how often it carried.
fn carried(sum: u64) -> (u32, u32) {
    let carries = (sum >> 32) as u32;
    (sum as u32, u32::from(carries >= 1) | u32::from(carries >= 2) << 1)
}

/// A source of a sum with carries: a negated one is its complement with a carry of 1.
fn term(alu: &Alu, source: u32, a: u32) -> u64 {
    match alu.mods.neg >> source & 1 {
        0 => integer(alu, source, a).into(),
        _ => u64::from(!a) + 1,
    }
}

fn carry_in(alu: &Alu, flags: u32) -> u64 {
    if alu.mods.carry_in { u64::from(flags & 1) + u64::from(flags >> 1 & 1) } else { 0 }
}

fn add3(alu: &Alu, a: u32, b: u32, c: u32, flags: u32) -> (u32, u32) {
    carried(term(alu, 0, a) + term(alu, 1, b) + term(alu, 2, c) + carry_in(alu, flags))
}

fn lea(alu: &Alu, a: u32, b: u32, _: u32, _: u32) -> (u32, u32) {
    carried(u64::from(integer(alu, 0, a) << alu.mods.shift) + u64::from(integer(alu, 1, b)))
}

/// The negation of a LEA.HI is of the 64-bit value that is shifted.
fn lea_hi(alu: &Alu, a: u32, b: u32, c: u32, flags: u32) -> (u32, u32) {
    let high = if alu.ty == Ty::S32 { ((a as i32) >> 31) as u32 } else { c };
    let pair = integer64(alu, 0, u64::from(a) | u64::from(high) << 32);
    let part = (pair << alu.mods.shift >> 32) as u32;
    let carry = if alu.mods.carry_in { u64::from(flags & 1) } else { 0 };
    carried(u64::from(part) + u64::from(integer(alu, 1, b)) + carry)
}

fn shift(alu: &Alu, low: u32, by: u32, high: u32) -> u32 {
    let width = alu.ty.bits();
    let by = if alu.mods.wrap { by & (width - 1) } else { by.min(width) };
    let pair = u64::from(low) | u64::from(high) << 32;
    let whole = match (alu.mods.left, alu.ty.is_signed()) {
        (true, _) => pair.checked_shl(by).unwrap_or(0),
        (false, false) => pair.checked_shr(by).unwrap_or(0),
        (false, true) => (pair as i64 >> by.min(63)) as u64,
    };
    if alu.mods.half == Half::Hi { (whole >> 32) as u32 } else { whole as u32 }
}

fn mad(alu: &Alu, a: u32, b: u32, c: u32, flags: u32) -> (u32, u32) {
    let (a, b) = (integer(alu, 0, a), integer(alu, 1, b));
    carried(u64::from(a.wrapping_mul(b)) + term(alu, 2, c) + carry_in(alu, flags & 1))
}

fn mad_wide(alu: &Alu, a: u32, b: u32, c: u64, flags: u32) -> (u64, u32) {
    let (a, b) = (integer(alu, 0, a), integer(alu, 1, b));
    let product = match alu.ty.is_signed() {
        true => (i64::from(a as i32) * i64::from(b as i32)) as u64,
        false => u64::from(a) * u64::from(b),
    };
    let (sum, first) = product.overflowing_add(integer64(alu, 2, c));
    let (sum, second) = sum.overflowing_add(carry_in(alu, flags & 1));
    (sum, u32::from(first | second))
}

/// The upper half of the same sum: the addend has 64 bits here too.
fn mad_high(alu: &Alu, a: u32, b: u32, c: u64, flags: u32) -> (u32, u32) {
    let (sum, carry) = mad_wide(alu, a, b, c, flags);
    ((sum >> 32) as u32, carry)
}

fn extreme(alu: &Alu, a: u32, b: u32, _: u32, flags: u32) -> (u32, u32) {
    let (a, b) = (integer(alu, 0, a), integer(alu, 1, b));
    (lesser_or_greater(alu, a, b, flags & 1 != 0), 0)
}

fn lesser_or_greater(alu: &Alu, a: u32, b: u32, least: bool) -> u32 {
    let less = if alu.ty.is_signed() { (a as i32) < (b as i32) } else { a < b };
    match if less == least { a } else { b } {
        negative if alu.mods.relu && (negative as i32) < 0 => 0,
        other => other,
    }
}

fn extreme_of_sum(alu: &Alu, a: u32, b: u32, c: u32, flags: u32) -> (u32, u32) {
    let sum = integer(alu, 0, a).wrapping_add(integer(alu, 1, b));
    (lesser_or_greater(alu, sum, integer(alu, 2, c), flags & 1 != 0), 0)
}

/// As with `f32`, XORSIGN takes the signs that the sources had before their bars.
fn extreme_half(alu: &Alu, a: u32, b: u32, _: u32, flags: u32) -> (u32, u32) {
    let source = if alu.mods.xorsign_abs { halves } else { pair };
    (half::lesser_or_greater(alu, source(alu, 0, a), source(alu, 1, b), flags & 1 != 0), 0)
}

/// DSETP.MAX and DSETP.MIN. Of two zeros the one whose sign the result has is chosen.
struct ExtremeTest;

impl Shape for ExtremeTest {
    const WORDS: Words = Words::new(&[2, 2], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let (mut first, mut neither): (Mask, Mask) = (0, 0);
        // SAFETY: the frame and the instruction belong together; both operands have two words.
        unsafe {
            let (a, b) = (frame.source(d.src[0]), frame.source(d.src[1]));
            for lane in 0..WARP_SIZE {
                let value = |from: *const Lanes| {
                    f64::from_bits(u64::from((*from).0[lane]) | u64::from((*from.add(1)).0[lane]) << 32)
                };
                let (a, b) = (value(a), value(b));
                let is_first = match d.alu.mods.cmp {
                    Cmp::Lt => a < b || (a == b && a.is_sign_negative()),
                    _ => a > b || (a == b && a.is_sign_positive()),
                };
                first |= Mask::from(is_first || (b.is_nan() && !a.is_nan())) << lane;
                neither |= Mask::from(a.is_nan() && b.is_nan()) << lane;
            }
            frame.set_pred(d.pdst[0], first, on);
            frame.set_pred(d.pdst[1], neither, on);
        }
    }
}

/// FSEL of sources with another sign.
fn select_float(alu: &Alu, a: u32, b: u32, _: u32, flags: u32) -> (u32, u32) {
    let source = |source: u32, bits: u32| float(alu, source, f32::from_bits(bits)).to_bits();
    (if flags & 1 != 0 { source(0, a) } else { source(1, b) }, 0)
}

fn extreme_float(alu: &Alu, a: u32, b: u32, _: u32, flags: u32) -> (u32, u32) {
    // XORSIGN takes the signs that the sources had before their bars.
    let source = |source: u32, bits: u32| match alu.mods.xorsign_abs {
        true => f32::from_bits(bits),
        false => float(alu, source, f32::from_bits(bits)),
    };
    let operands = [source(0, a), source(1, b)];
    let mut alu = *alu;
    alu.kind = if flags & 1 != 0 { AluKind::Min } else { AluKind::Max };
    (super::float32::lesser_or_greater(&alu, operands), 0)
}

/// ISETP.EX: high words are compared, and where they are equal the low words' comparison counts.
struct CompareHigh;

impl Shape for CompareHigh {
    const WORDS: Words = Words::new(&[1, 1], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let mut result: Mask = 0;
        // SAFETY: the frame and the instruction belong together; both operands have a word.
        unsafe {
            let low = frame.pred(d.pb);
            let (a, b) = (*frame.source(d.src[0]), *frame.source(d.src[1]));
            for lane in 0..WARP_SIZE {
                let (a, b) = (integer(&d.alu, 0, a.0[lane]), integer(&d.alu, 1, b.0[lane]));
                let holds = match (a == b, d.alu.ty.is_signed()) {
                    (true, _) => low >> lane & 1 != 0,
                    (false, true) => compare::integer(d.alu.mods.cmp, (a as i32).into(), (b as i32).into()),
                    (false, false) => compare::integer(d.alu.mods.cmp, a.into(), b.into()),
                };
                result |= Mask::from(holds) << lane;
            }
            set_compared(frame, d, result, on);
        }
    }
}

/// Rows of the table that the three predicates choose, as a mask of lanes.
fn table(lut: u8, a: Mask, b: Mask, c: Mask) -> Mask {
    lop3(lut, a, b, c)
}

unsafe fn plop3(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: the frame and the instruction belong together (`OpFn`).
    unsafe {
        let (a, b, c) = (frame.pred(d.pa), frame.pred(d.psrc), frame.pred(d.pb));
        frame.set_pred(d.pdst[0], table(d.alu.mods.lut, a, b, c), on);
        frame.set_pred(d.pdst[1], table(d.alu.mods.lut2, a, b, c), on);
    }
    Flow::Next
}

/// PLOP3 of the signs of three registers.
unsafe fn sign_logic(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: the frame and the instruction belong together (`OpFn`); the sources have a word each.
    unsafe {
        let [a, b, c] = [0, 1, 2].map(|index: usize| {
            let values = *frame.source(d.src[index]);
            (0..WARP_SIZE).fold(0, |signs: Mask, lane| signs | (values.0[lane] >> 31) << lane)
        });
        frame.set_pred(d.pdst[0], table(d.alu.mods.lut, a, b, c), on);
        frame.set_pred(d.pdst[1], table(d.alu.mods.lut2, a, b, c), on);
    }
    Flow::Next
}

/// LOP3 whose result is also compared with zero.
struct LogicWithTest;

impl Shape for LogicWithTest {
    const WORDS: Words = Words::new(&[1, 1, 1], &[1]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let mut zero: Mask = 0;
        // SAFETY: the frame and the instruction belong together; operands were checked for WORDS.
        unsafe {
            let to = frame.target(d.dst[0]);
            let sources = [0, 1, 2].map(|index| frame.source(d.src[index]));
            for chunk in 0..CHUNKS {
                let [a, b, c] = sources.map(|source| u32::load::<L>(source, chunk));
                let results = std::array::from_fn(|lane| lop3(d.alu.mods.lut, a[lane], b[lane], c[lane]));
                let zeros = results.map(|result: u32| 0u32.wrapping_sub(u32::from(result == 0)));
                zero |= L::movemask(Chunk(zeros)) << (LANES * chunk);
                u32::store::<L>(to, chunk, results, (on >> (LANES * chunk)) as u8);
            }
            let with = frame.pred(d.psrc);
            frame.set_pred(d.pdst[0], join(d.alu.mods.bool_op, !zero, with), on);
        }
    }
}

/// FCHK.DIVIDE: whether a quotient cannot be had from the reciprocal and a correction.
struct DivisionCheck;

impl Shape for DivisionCheck {
    const WORDS: Words = Words::new(&[1, 1], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the frame and the instruction belong together; both operands have a word.
        unsafe {
            let (a, b) = (*frame.source(d.src[0]), *frame.source(d.src[1]));
            let needs = |lane: usize| {
                mufu::division_needs_care(float(&d.alu, 0, f32::from_bits(a.0[lane])), f32::from_bits(b.0[lane]))
            };
            let result = (0..WARP_SIZE).fold(0, |mask, lane| mask | Mask::from(needs(lane)) << lane);
            frame.set_pred(d.pdst[0], result, on);
        }
    }
}

/// Predicates that P2R and R2P move.
const MOVED: u16 = 7;

unsafe fn preds_to_reg(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: the frame and the instruction belong together (`OpFn`); a SASS program has P0 to P6 as predicates 1 to 7.
    unsafe {
        let preds: [Mask; MOVED as usize] =
            std::array::from_fn(|index| frame.pred(crate::exec::frame::PredRef { index: index as u16 + 1, flip: 0 }));
        let (old, mask) = (*frame.source(d.src[0]), *frame.source(d.src[1]));
        let bits =
            |lane: usize| preds.iter().enumerate().fold(0, |bits, (index, pred)| bits | (pred >> lane & 1) << index);
        let value = Lanes(std::array::from_fn(|lane| (old.0[lane] & !mask.0[lane]) | (bits(lane) & mask.0[lane])));
        frame.write(d.dst[0], &value, on);
    }
    Flow::Next
}

unsafe fn reg_to_preds(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: as in `preds_to_reg`.
    unsafe {
        let (value, mask) = (*frame.source(d.src[0]), *frame.source(d.src[1]));
        for index in 0..MOVED {
            let column =
                |lanes: &Lanes| (0..WARP_SIZE).fold(0, |bits, lane| bits | (lanes.0[lane] >> index & 1) << lane);
            frame.set_pred(index + 1, column(&value), on & column(&mask));
        }
    }
    Flow::Next
}
