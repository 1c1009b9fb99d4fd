//! The addresses of a memory instruction: base register plus offset, lane by lane, and what the checks want to know of them.

use super::level::{CHUNKS, LANES, Level, Picked, Words};
use super::shape::{Shape as Operation, Value, picked};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Access, Mask, Op};

/// The operation that leaves the addresses of an access in the frame. `words` are the access's data operands.
pub(super) fn address(access: &Access, words: Words) -> Picked {
    let picked = match (access.index, access.wide_address) {
        (Some(_), _) => picked::<Indexed>(),
        (None, true) => picked::<Wide>(),
        (None, false) => picked::<Narrow>(),
    };
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
        for chunk in 0..CHUNKS {
            // SAFETY: the address operand of such an instruction was checked for two words.
            unsafe {
                let base = u64::load::<L>(frame.source(d.addr), chunk);
                frame.access.lane.as_chunks_mut().0[chunk] = L::add(base, d.offset as u64);
            }
        }
        // SAFETY: the caller's.
        unsafe { summarise::<L>(frame, d, on) };
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
        // SAFETY: the caller's.
        unsafe { summarise::<L>(frame, d, on) };
    }
}

/// A SASS address of up to two registers.
struct Indexed;

impl Operation for Indexed {
    const WORDS: Words = Words::new(&[], &[]);
    const FLOW: Flow = Flow::Memory;

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let (Op::Load(access) | Op::Store(access) | Op::Atomic(_, access)) = d.op else { return };
        let Some(index) = access.index else { return };
        let wraps = if access.wide_address || index.wide { u64::MAX } else { u32::MAX.into() };
        for chunk in 0..CHUNKS {
            // SAFETY: both registers were checked for as many words as the access says.
            unsafe {
                let value = |source, wide: bool| {
                    let from = frame.source(source);
                    if wide { u64::load::<L>(from, chunk) } else { u32::load::<L>(from, chunk).map(u64::from) }
                };
                let (base, other) = (value(d.addr, access.wide_address), value(d.index, index.wide));
                let lanes: [u64; LANES] = std::array::from_fn(|lane| {
                    let sum = (base[lane] << index.shift).wrapping_add(other[lane]);
                    sum.wrapping_add_signed(d.offset) & wraps
                });
                frame.access.lane.as_chunks_mut().0[chunk] = lanes;
            }
        }
        // SAFETY: the caller's.
        unsafe { summarise::<L>(frame, d, on) };
    }
}

/// Bytes a lane moves.
fn width(op: &Op) -> u64 {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => access.bytes().into(),
        _ => 1,
    }
}

/// Fills in the summary. Lanes that take no part get the address of the taking lane before them (the first ones that of the first),
/// so that the summary needs no mask and an ascending pattern stays one; a row needs 32 addresses, so it needs all lanes.
///
/// # Safety
/// The CPU has the level's instructions.
#[inline(always)]
unsafe fn summarise<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
    let access = &mut frame.access;
    if on != Mask::MAX {
        let mut last = access.lane[(on.trailing_zeros() & 31) as usize];
        for (index, lane) in access.lane.iter_mut().enumerate() {
            last = if on >> index & 1 != 0 { *lane } else { last };
            *lane = last;
        }
    }
    // SAFETY: the caller's.
    access.summary = unsafe { L::summary(&access.lane, width(&d.op)) };
}

#[cfg(test)]
mod tests {
    use crate::exec::CpuLevel;
    use crate::exec::frame::{Frame, Ids};
    use crate::exec::ops::tests::prepared;
    use crate::isa::*;
    use crate::memory::Shape;

    /// The frame's addresses after a load of four bytes in the lanes `on`, its base in slots 0 and 1.
    fn addresses(level: CpuLevel, base: [u64; WARP_SIZE], offset: i64, on: Mask) -> crate::exec::frame::Addresses {
        let op = Op::Load(Access::WORD);
        let instr =
            Instr { addr: Src::slot(Slot(0)), offset, dst: [Some(Slot(2)), None, None, None], ..Instr::new(op) };
        let kernel = prepared(instr, level);
        let mut slots = vec![Lanes::ZERO; kernel.slot_count];
        slots[0] = Lanes(base.map(|address| address as u32));
        slots[1] = Lanes(base.map(|address| (address >> 32) as u32));
        let thread = [Lanes::ZERO; 3];
        let ids = Ids { thread: &thread, block: [0; 3], sm: 0, warp_in_sm: 0, active: on };
        let (mut preds, constants) = (vec![Mask::MAX; 8], vec![Lanes::ZERO; kernel.constants.len()]);
        let mut frame = Frame::new();
        frame.enter(&mut slots, &constants, &mut preds, ids);
        // SAFETY: the frame was entered with the kernel's files; the mask is not 0.
        unsafe { (kernel.code[0].run)(&mut frame, &kernel.code[0], on) };
        frame.access
    }

    #[test]
    fn lanes_that_take_no_part_do_not_count() {
        let garbage = 0xdead_beef_dead_beef;
        for level in [CpuLevel::Portable, CpuLevel::detect()] {
            for on in [Mask::MAX, 1, 1 << 31, 0xffff, 0xffff_0000, 0x5555_5555, 0x8000_0001, 0x00f0_0f00] {
                let base =
                    std::array::from_fn(|lane| if on >> lane & 1 != 0 { 4096 + 4 * lane as u64 } else { garbage });
                let found = addresses(level, base, 64, on);
                let taking = || (0..WARP_SIZE).filter(|lane| on >> lane & 1 != 0);
                assert!(taking().all(|lane| found.lane[lane] == base[lane] + 64), "{level:?}, {on:x}");
                let (first, last) = (taking().next().unwrap() as u64, taking().next_back().unwrap() as u64);
                let summary = found.summary;
                assert_eq!((summary.lowest, summary.highest), (4160 + 4 * first, 4160 + 4 * last), "{level:?}, {on:x}");
                let sectors = taking().map(|lane| lane / 8).collect::<std::collections::BTreeSet<_>>().len();
                assert_eq!(summary.sectors, sectors as u32, "{level:?}, {on:x}");
                let shape = match (on, first == last) {
                    (Mask::MAX, _) => Shape::Contiguous,
                    (_, true) => Shape::Uniform,
                    _ => Shape::Scattered,
                };
                assert_eq!(summary.shape, shape, "{level:?}, {on:x}: only 32 lanes make a row");
            }
        }
    }

    #[test]
    fn an_offset_wraps_past_either_end() {
        for level in [CpuLevel::Portable, CpuLevel::detect()] {
            let past_end = addresses(level, [u64::MAX - 3; WARP_SIZE], 8, Mask::MAX);
            let before_start = addresses(level, [4; WARP_SIZE], -8, Mask::MAX);
            assert_eq!((past_end.lane, before_start.lane), ([4; WARP_SIZE], [u64::MAX - 3; WARP_SIZE]), "{level:?}");
        }
    }
}
