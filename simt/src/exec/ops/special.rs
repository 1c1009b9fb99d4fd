//! Special registers: who this thread is.

use super::level::{Picked, Words};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Lanes, Mask, Op, Special, WARP_SIZE};

/// The operation that reads a special register.
pub(super) fn special(register: Special) -> Picked {
    use Special::*;
    match register {
        Clock | ClockHi | GlobalTimerLo | GlobalTimerHi => Picked::same(clock, Words::new(&[], &[1]), Flow::Clock),
        Clock64 | GlobalTimer => Picked::same(clock, Words::new(&[], &[2]), Flow::Clock),
        _ => Picked::same(identity, Words::new(&[], &[1]), Flow::Next),
    }
}

/// `activemask`: the lanes of the split that runs, whatever the guard says.
pub(super) fn active_mask() -> Picked {
    Picked::same(active, Words::new(&[], &[1]), Flow::Next)
}

/// Clocks belong to whoever keeps time.
unsafe fn clock(_: &mut Frame, _: &Decoded, _: Mask) -> Flow {
    Flow::Clock
}

unsafe fn active(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    let value = Lanes::splat(frame.ids.active);
    // SAFETY: the frame and the instruction belong together (`OpFn`).
    unsafe { frame.write(d.dst[0], &value, on) };
    Flow::Next
}

unsafe fn identity(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    let Op::Special(register) = d.op else { return Flow::Next };
    let ids = &frame.ids;
    let lane_masks = |f: fn(u32) -> u32| Lanes(std::array::from_fn(|lane| f(lane as u32)));
    let value = match register {
        // SAFETY: `thread` points at the launch's table of this warp; there are three axes.
        Special::ThreadIdx(axis) => unsafe { (*ids.thread)[usize::from(axis.min(2))] },
        Special::BlockIdx(axis) => Lanes::splat(ids.block[usize::from(axis.min(2))]),
        Special::LaneId => lane_masks(|lane| lane),
        Special::WarpId => Lanes::splat(ids.warp_in_sm),
        Special::SmId => Lanes::splat(ids.sm),
        Special::LaneMaskEq => lane_masks(|lane| 1 << lane),
        Special::LaneMaskLe => lane_masks(|lane| u32::MAX >> (WARP_SIZE as u32 - 1 - lane)),
        Special::LaneMaskLt => lane_masks(|lane| (1 << lane) - 1),
        Special::LaneMaskGe => lane_masks(|lane| u32::MAX << lane),
        Special::LaneMaskGt => lane_masks(|lane| (u32::MAX - 1) << lane),
        _ => Lanes::ZERO,
    };
    // SAFETY: the frame and the instruction belong together (`OpFn`).
    unsafe { frame.write(d.dst[0], &value, on) };
    Flow::Next
}
