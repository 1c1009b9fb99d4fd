//! The addresses of a memory instruction: base register plus offset, lane by lane, and what the checks want to know of them.

use super::level::{Level, Picked, Words};
use super::shape::{Shape as Operation, picked};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Access, Mask, Op, WARP_SIZE};
use crate::memory::Shape;
use crate::memory::sectors::SECTOR_SHIFT;

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

/// Fills in shape, bounds, alignment bits and sectors. Lanes that take no part get the address of the taking lane before them (the
/// first ones that of the first), so that the loops need no mask and an ascending pattern stays one.
#[inline(always)]
fn summarise(frame: &mut Frame, d: &Decoded, on: Mask) {
    let bytes = width(&d.op);
    let access = &mut frame.access;
    let first = access.lane[(on.trailing_zeros() & 31) as usize];
    if on != Mask::MAX {
        let mut last = first;
        for (index, lane) in access.lane.iter_mut().enumerate() {
            last = if on >> index & 1 != 0 { *lane } else { last };
            *lane = last;
        }
    }
    let (mut step_errors, mut differences, mut bits) = (0, 0, 0);
    for (index, lane) in access.lane.iter().enumerate() {
        step_errors |= lane ^ first.wrapping_add(index as u64 * bytes);
        differences |= lane ^ first;
        bits |= lane;
    }
    access.bits = bits;
    let last = access.lane[WARP_SIZE - 1];
    (access.shape, access.lowest, access.highest, access.sectors) = match (differences, step_errors) {
        (0, _) => (Shape::Uniform, first, first, 1),
        (_, 0) if on == Mask::MAX && first < last => {
            (Shape::Contiguous, first, last, sectors_between(first, last + bytes))
        }
        _ => scattered(&access.lane),
    };
}

/// Sectors of a range that is not empty.
#[inline(always)]
fn sectors_between(first: u64, end: u64) -> u32 {
    (((end - 1) >> SECTOR_SHIFT) - (first >> SECTOR_SHIFT) + 1) as u32
}

/// Bounds of any addresses, and their sectors where these lie within a small range or the addresses ascend or descend.
#[inline(always)]
fn scattered(lane: &[u64; WARP_SIZE]) -> (Shape, u64, u64, u32) {
    let (mut lowest, mut highest) = (lane[0], lane[0]);
    for address in lane {
        lowest = lowest.min(*address);
        highest = highest.max(*address);
    }
    let first = lowest >> SECTOR_SHIFT;
    let sectors = if (highest >> SECTOR_SHIFT) - first < 64 {
        lane.iter().fold(0u64, |seen, address| seen | 1 << ((address >> SECTOR_SHIFT) - first)).count_ones()
    } else {
        changes_one_way(lane).map_or(0, |changes| changes + 1)
    };
    (Shape::Scattered, lowest, highest, sectors)
}

/// How often the sector changes from lane to lane, if it only ever rises or only ever falls.
#[inline(always)]
fn changes_one_way(lane: &[u64; WARP_SIZE]) -> Option<u32> {
    let (mut rises, mut falls) = (0, 0);
    for index in 1..WARP_SIZE {
        let (before, after) = (lane[index - 1] >> SECTOR_SHIFT, lane[index] >> SECTOR_SHIFT);
        rises += u32::from(before < after);
        falls += u32::from(before > after);
    }
    (rises == 0 || falls == 0).then_some(rises + falls)
}
