//! What an operation works on: the lanes of one warp, and the addresses it leaves for a memory access.
//!
//! Operations reach registers through raw pointers without checks. That is sound because:
//! 1. [`super::Kernel::prepare`] refuses a program in which an operand of an instruction, with all its words, lies outside
//!    the slots, constants or predicates that the program declares, or is missing;
//! 2. a [`Frame`] is only made from files of those sizes (`Frame::enter`), which are borrowed exclusively meanwhile;
//! 3. an operation is only called with the [`Decoded`] instruction it was chosen for.

use super::ops::Summary;
use crate::isa::{Alu, Lanes, Mask, Op, Slot, Src, WARP_SIZE};

/// What the loop around an operation has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flow {
    /// Go on with the next instruction.
    Next,
    /// Addresses are in the frame: access memory.
    Memory,
    Branch,
    BranchIndexed,
    /// Branches whose lanes or targets only the registers tell.
    BranchByValue,
    Call,
    Return,
    Exit,
    Trap,
    Barrier,
    /// Lanes exchange values or wait for each other.
    Collective,
    Fence,
    Sleep,
    /// Reads a clock.
    Clock,
}

/// One operation on the lanes of a mask, which is never 0.
pub(crate) type OpFn = unsafe fn(&mut Frame, &Decoded, Mask) -> Flow;

/// A predicate operand: the lanes of `preds[index]`, all flipped or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredRef {
    pub index: u16,
    pub flip: Mask,
}

/// Which optional operands the instruction has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub src: [bool; 4],
    pub dst: [bool; 4],
}

/// An instruction as the loop runs it.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub run: OpFn,
    pub guard: PredRef,
    pub src: [Src; 4],
    /// First slots of results; results that nobody wants go to the sink slots.
    pub dst: [Slot; 4],
    /// 0 (constantly true, not writable) where there is no result predicate.
    pub pdst: [u16; 2],
    pub psrc: PredRef,
    pub pa: PredRef,
    pub pb: PredRef,
    pub addr: Src,
    pub index: Src,
    pub offset: i64,
    pub given: Given,
    pub flow: Flow,
    /// The operation of `Op::Alu`; otherwise meaningless.
    pub alu: Alu,
    pub op: Op,
}

impl Decoded {
    /// Whether it touches nothing but registers of its own lanes, so that nobody can tell when it runs.
    #[inline(always)]
    pub fn is_private(&self) -> bool {
        self.flow == Flow::Next
    }
}

/// Where the lanes of a warp live while it runs.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The warp's slots, the launch's constants: as [`Src::is_constant`] tells.
    files: [*mut Lanes; 2],
    preds: *mut Mask,
    pub ids: Ids,
    pub access: Addresses,
}

/// Which warp this is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    /// `%tid` of each lane, by axis.
    pub thread: *const [Lanes; 3],
    pub block: [u32; 3],
    pub sm: u32,
    pub warp_in_sm: u32,
    /// Lanes of the split that runs.
    pub active: Mask,
}

/// Lane addresses of a memory instruction, with what the checks want to know about them. Lanes that take no part have the address
/// of one that does.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Addresses {
    pub lane: [u64; WARP_SIZE],
    pub summary: Summary,
}

impl Frame {
    /// A frame that no operation may run in yet.
    pub fn new() -> Self {
        Self {
            files: [std::ptr::null_mut(); 2],
            preds: std::ptr::null_mut(),
            ids: Ids { thread: std::ptr::null(), block: [0; 3], sm: 0, warp_in_sm: 0, active: 0 },
            access: Addresses { lane: [0; WARP_SIZE], summary: Summary::uniform(0) },
        }
    }

    /// Turns to a warp. Constants are only read, through a mutable pointer for want of two types of file.
    pub fn enter(&mut self, slots: &mut [Lanes], constants: &[Lanes], preds: &mut [Mask], ids: Ids) {
        self.files = [slots.as_mut_ptr(), constants.as_ptr().cast_mut()];
        self.preds = preds.as_mut_ptr();
        self.ids = ids;
    }

    /// The first word of a source operand.
    ///
    /// # Safety
    /// The frame was entered with the files of the program that the operand belongs to.
    #[inline(always)]
    pub unsafe fn source(&self, src: Src) -> *const Lanes {
        // SAFETY: the operand was checked against the size of its file.
        unsafe { self.files.get_unchecked(usize::from(src.is_constant())).add(src.index()) }
    }

    /// The first word of a destination.
    ///
    /// # Safety
    /// As [`Frame::source`].
    #[inline(always)]
    pub unsafe fn target(&self, slot: Slot) -> *mut Lanes {
        // SAFETY: as in `source`.
        unsafe { self.files[0].add(slot.0.into()) }
    }

    /// The lanes in which a predicate operand is true.
    ///
    /// # Safety
    /// As [`Frame::source`].
    #[inline(always)]
    pub unsafe fn pred(&self, pred: PredRef) -> Mask {
        // SAFETY: as in `source`.
        unsafe { *self.preds.add(pred.index.into()) ^ pred.flip }
    }

    /// Sets a result predicate in the lanes `on`.
    ///
    /// # Safety
    /// As [`Frame::source`].
    #[inline(always)]
    pub unsafe fn set_pred(&mut self, index: u16, value: Mask, on: Mask) {
        if index != 0 {
            // SAFETY: as in `source`.
            unsafe {
                let pred = self.preds.add(index.into());
                *pred = (*pred & !on) | (value & on);
            }
        }
    }

    /// Writes a 32-bit result in the lanes `on`.
    ///
    /// # Safety
    /// As [`Frame::source`].
    pub unsafe fn write(&mut self, slot: Slot, value: &Lanes, on: Mask) {
        // SAFETY: as in `source`.
        let to = unsafe { &mut *self.target(slot) };
        if on == Mask::MAX {
            *to = *value;
            return;
        }
        for lane in 0..WARP_SIZE {
            if on >> lane & 1 != 0 {
                to.0[lane] = value.0[lane];
            }
        }
    }
}
