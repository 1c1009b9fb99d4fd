//! The addresses of a memory instruction: base register plus offset, lane by lane, and what the checks want to know of them.

use super::level::{Level, Picked, Words};
use super::shape::{Shape as Operation, picked};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Access, Mask, Op, WARP_SIZE};
use crate::memory::Shape;

/// The operation that leaves the addresses of an access in the frame. `words` are the access's data operands.
pub(super) fn address(access: &Access, words: Words) -> Picked {
    let picked = if access.wide_address { picked::<Wide>() } else { picked::<Narrow>() };
    Picked { words, ..picked }
}

/// 64-bit base.
struct Wide;
/// 32-bit base, zero-extended.
struct Narrow;

impl Operation for Wide {
    const WORDS: Words = Words::new(&[], &[]);
    const FLOW: Flow = Flow::Memory;

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the address operand of such an instruction was checked for two words.
        let (low, high) = unsafe {
            let base = frame.source(d.addr);
            (&*base, &*base.add(1))
        };
        for (index, lane) in frame.access.lane.iter_mut().enumerate() {
            let base = u64::from(low.0[index]) | u64::from(high.0[index]) << 32;
            *lane = base.wrapping_add_signed(d.offset);
        }
        summarise(frame, d, on);
    }
}

impl Operation for Narrow {
    const WORDS: Words = Words::new(&[], &[]);
    const FLOW: Flow = Flow::Memory;

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the address operand was checked for a word.
        let base = unsafe { &*frame.source(d.addr) };
        for (lane, base) in frame.access.lane.iter_mut().zip(base.0) {
            *lane = u64::from(base).wrapping_add_signed(d.offset);
        }
        summarise(frame, d, on);
    }
}

/// Bytes a lane moves.
fn width(op: &Op) -> u64 {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => access.bytes().into(),
        _ => 1,
    }
}

/// Fills in shape, bounds and alignment bits. Lanes that take no part get the first taking lane's address, so that the loops
/// need no mask.
#[inline(always)]
fn summarise(frame: &mut Frame, d: &Decoded, on: Mask) {
    let bytes = width(&d.op);
    let access = &mut frame.access;
    let first = access.lane[(on.trailing_zeros() & 31) as usize];
    if on != Mask::MAX {
        for (index, lane) in access.lane.iter_mut().enumerate() {
            *lane = if on >> index & 1 != 0 { *lane } else { first };
        }
    }
    let (mut step_errors, mut differences, mut bits) = (0, 0, 0);
    for (index, lane) in access.lane.iter().enumerate() {
        step_errors |= lane ^ first.wrapping_add(index as u64 * bytes);
        differences |= lane ^ first;
        bits |= lane;
    }
    access.bits = bits;
    access.shape = match (differences, step_errors) {
        (0, _) => Shape::Uniform,
        (_, 0) if on == Mask::MAX => Shape::Contiguous,
        _ => Shape::Scattered,
    };
    (access.lowest, access.highest) = match access.shape {
        Shape::Uniform => (first, first),
        Shape::Contiguous if first <= access.lane[WARP_SIZE - 1] => (first, access.lane[WARP_SIZE - 1]),
        _ => access.lane.iter().fold((u64::MAX, 0), |(low, high), lane| (low.min(*lane), high.max(*lane))),
    };
}
