//! Memory instructions: from lane addresses to data, with the checks that are always on.
//!
//! An access is checked whole before any of it takes effect: alignment by the or-ed address bits, bounds by the lowest and the
//! highest address against the allocation that this instruction touched last. Only what fails those looks lane by lane.
//! Generic addresses are sorted by window first, and each space that occurs is accessed for its lanes.

use super::block::{Block, Spaces};
use super::data::{collect_data, collect_swap};
use super::executor::Executor;
use super::frame::{Addresses, Decoded};
use super::ops::Summary;
use crate::fault::{Action, Detail, FaultKind, Violation};
use crate::isa::{
    Access, AtomicKind, GLOBAL_BASE, LOCAL_WINDOW, Mask, Op, PARAM_WINDOW, Pc, SHARED_WINDOW, Space, WARP_SIZE,
    WINDOW_BYTES,
};
use crate::memory::sectors::{self, Wavefronts, lanes};
use crate::memory::{
    AtomicReply, AtomicRequest, Extent, NULL_BYTES, Nearest, Port, Request, Shape, modify, read_lane, write_lane,
};

/// What an access did, in figures. Its lane addresses are in [`Executor::access`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessNote {
    pub kind: AccessKind,
    /// Bytes a lane.
    pub bytes: u32,
    /// Lanes by the space that they accessed; `Const` counts as global.
    pub global: Mask,
    pub shared: Mask,
    pub local: Mask,
    pub param: Mask,
    /// 32-byte sectors of global memory, or of local memory as it is laid out (4 bytes of each lane side by side).
    pub sectors: u32,
    pub wavefronts: Wavefronts,
    /// The port has deferred the atomic: its destination is written later, by [`Block::complete_atomic`].
    pub deferred: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessKind {
    #[default]
    Load,
    Store,
    /// An atomic with a destination.
    Atomic,
    /// One without.
    Reduction,
}

impl AccessKind {
    const fn action(self) -> Action {
        match self {
            Self::Load => Action::Read,
            Self::Store => Action::Write,
            Self::Atomic | Self::Reduction => Action::Atomic,
        }
    }
}

/// A memory instruction with the lanes that execute it.
#[derive(Clone, Copy)]
pub(super) struct Job<'d> {
    pub d: &'d Decoded,
    pub access: Access,
    pub kind: AccessKind,
    pub pc: Pc,
    pub warp: usize,
}

/// A fault of the lowest lane of `lanes`.
pub(super) fn violation(kind: FaultKind, pc: Pc, warp: usize, lanes: Mask, detail: Detail) -> Violation {
    Violation { kind, pc, warp: warp as u32, lane: lanes.trailing_zeros() & 31, detail }
}

impl Executor<'_> {
    /// Performs the access whose addresses are in the frame, in the lanes `on`.
    #[inline]
    pub(super) fn access_memory<P: Port>(
        &mut self,
        d: &Decoded,
        pc: Pc,
        on: Mask,
        block: &mut Block,
        warp: usize,
        port: &mut P,
    ) -> Result<AccessNote, Violation> {
        let (access, kind) = match d.op {
            Op::Load(access) => (access, AccessKind::Load),
            Op::Store(access) => (access, AccessKind::Store),
            Op::Atomic(_, access) if d.given.dst[0] => (access, AccessKind::Atomic),
            Op::Atomic(_, access) => (access, AccessKind::Reduction),
            _ => return Ok(AccessNote::default()),
        };
        let job = Job { d, access, kind, pc, warp };
        let mut note = AccessNote { kind, bytes: access.bytes(), ..AccessNote::default() };
        match access.space {
            Space::Global | Space::Const => self.global(&job, on, port, &mut note)?,
            Space::Generic if self.frame.access.summary.lowest >= GLOBAL_BASE => {
                self.global(&job, on, port, &mut note)?
            }
            Space::Generic => self.generic(&job, on, block, port, &mut note)?,
            space => self.block_memory(&job, on, space, block, &mut note)?,
        }
        self.tally.accessed(pc, &note);
        Ok(note)
    }

    /// Generic addresses of which some may be no global ones.
    fn generic<P: Port>(
        &mut self,
        job: &Job<'_>,
        on: Mask,
        block: &mut Block,
        port: &mut P,
        note: &mut AccessNote,
    ) -> Result<(), Violation> {
        let mut rest = on;
        for (space, window) in
            [(Space::Shared, SHARED_WINDOW), (Space::Local, LOCAL_WINDOW), (Space::Param, PARAM_WINDOW)]
        {
            let inside = |lane: &usize| self.frame.access.lane[*lane].wrapping_sub(window) < WINDOW_BYTES;
            let members = lanes(rest).filter(inside).fold(0, |mask, lane| mask | 1 << lane);
            if members != 0 {
                lanes(members).for_each(|lane| self.frame.access.lane[lane] -= window);
                self.block_memory(job, members, space, block, note)?;
                rest &= !members;
            }
        }
        if rest == 0 {
            return Ok(());
        }
        let first = self.frame.access.lane[(rest.trailing_zeros() & 31) as usize];
        let all = lanes(rest).map(|lane| self.frame.access.lane[lane]);
        let (lowest, highest) = all.fold((first, first), |(low, high), lane| (low.min(lane), high.max(lane)));
        let bits = self.frame.access.summary.bits;
        self.frame.access.summary = Summary { shape: Shape::Scattered, bits, lowest, highest, sectors: 0 };
        self.global(job, rest, port, note)
    }

    #[inline]
    fn global<P: Port>(
        &mut self,
        job: &Job<'_>,
        on: Mask,
        port: &mut P,
        note: &mut AccessNote,
    ) -> Result<(), Violation> {
        let bytes = job.access.bytes();
        self.check_global(job, on, port)?;
        let Addresses { lane: addresses, summary } = &self.frame.access;
        note.global = on;
        note.sectors = match summary.sectors {
            0 => sectors::sectors(addresses, on, bytes).count(),
            counted => counted,
        };
        let request = Request { pc: job.pc, access: &job.access, mask: on, addresses, bytes, shape: summary.shape };
        let single = bytes == 4 && job.access.count == 1;
        match job.kind {
            AccessKind::Load if single => {
                // SAFETY: the frame was entered for this warp, and nothing else refers to the slot.
                let slot = unsafe { &mut *self.frame.target(job.d.dst[0]) };
                port.load(&request, std::slice::from_mut(slot));
            }
            AccessKind::Load => {
                port.load(&request, &mut self.data[..request.words()]);
                self.deliver(job, on);
            }
            AccessKind::Store if single => {
                // SAFETY: as above; the operand is only read.
                let source = unsafe { &*self.frame.source(job.d.src[0]) };
                port.store(&request, std::slice::from_ref(source));
            }
            AccessKind::Store => {
                collect_data(&self.frame, &mut self.data, job);
                port.store(&request, &self.data[..request.words()]);
            }
            AccessKind::Atomic | AccessKind::Reduction => {
                collect_data(&self.frame, &mut self.data, job);
                collect_swap(&self.frame, &mut self.swap, job);
                let Op::Atomic(kind, _) = job.d.op else { return Ok(()) };
                let returns = job.kind == AccessKind::Atomic;
                let atomic = AtomicRequest { request, kind, operand: &self.data, swap: &self.swap, returns };
                note.deferred = port.atomic(&atomic, &mut self.old) == AtomicReply::Deferred;
                if !note.deferred && returns {
                    std::mem::swap(&mut self.data, &mut self.old);
                    self.deliver(job, on);
                }
            }
        }
        Ok(())
    }

    /// Alignment and bounds of a global access.
    #[inline]
    fn check_global<P: Port>(&mut self, job: &Job<'_>, on: Mask, port: &P) -> Result<(), Violation> {
        let bytes = u64::from(job.access.bytes());
        let Addresses { lane: addresses, summary } = &self.frame.access;
        let end = summary.highest.saturating_add(bytes);
        let is_aligned = summary.bits & (bytes - 1) == 0;
        let recent = &mut self.extents[job.pc as usize % 16];
        if is_aligned && recent.holds(summary.lowest, end) {
            return Ok(());
        }
        *recent = port.memory().extent(summary.lowest).unwrap_or(Extent::EMPTY);
        if is_aligned && recent.holds(summary.lowest, end) {
            return Ok(());
        }
        for lane in lanes(on) {
            let address = addresses[lane];
            self.check_lane(job, lane, address, port)?;
        }
        Ok(())
    }

    fn check_lane<P: Port>(&self, job: &Job<'_>, lane: usize, address: u64, port: &P) -> Result<(), Violation> {
        let bytes = job.access.bytes();
        let extent = port.memory().extent(address).unwrap_or(Extent::EMPTY);
        let inside = address.checked_add(bytes.into()).is_some_and(|end| extent.holds(address, end));
        let aligned = address.is_multiple_of(bytes.into());
        let kind = match port.memory().nearest(address, bytes.into()) {
            _ if inside && aligned => return Ok(()),
            _ if address < NULL_BYTES => FaultKind::Null,
            _ if !aligned => FaultKind::Misaligned,
            Nearest::Freed { .. } => FaultKind::UseAfterFree,
            _ => FaultKind::OutOfBounds,
        };
        let action = job.kind.action();
        let detail = Detail::Access { space: Space::Global, address, bytes, action, limit: None };
        Err(violation(kind, job.pc, job.warp, 1 << lane, detail))
    }

    /// An access to shared or local memory or to the parameters; lane addresses are offsets there.
    fn block_memory(
        &mut self,
        job: &Job<'_>,
        on: Mask,
        space: Space,
        block: &mut Block,
        note: &mut AccessNote,
    ) -> Result<(), Violation> {
        let bytes = job.access.bytes();
        let spaces = &mut block.spaces;
        let size = match space {
            Space::Shared => spaces.shared.len(),
            Space::Local => spaces.local_bytes,
            _ => self.grid.params.len(),
        } as u64;
        self.check_offsets(job, on, space, size)?;
        let addresses = &self.frame.access.lane;
        match space {
            Space::Shared => {
                note.shared |= on;
                let more = sectors::wavefronts(addresses, on, bytes);
                note.wavefronts.actual += more.actual;
                note.wavefronts.ideal += more.ideal;
            }
            Space::Local => {
                note.local |= on;
                note.sectors += local_sectors(addresses, on, bytes);
            }
            _ => note.param |= on,
        }
        if job.kind != AccessKind::Load {
            collect_data(&self.frame, &mut self.data, job);
            collect_swap(&self.frame, &mut self.swap, job);
        }
        let is_plain = matches!(job.kind, AccessKind::Load | AccessKind::Store) && bytes.is_multiple_of(4);
        match space {
            Space::Shared | Space::Local if is_plain => self.move_block_words(job, on, space, spaces),
            _ => self.move_block_data(job, on, space, spaces),
        }
        if job.kind != AccessKind::Store {
            self.deliver(job, on);
        }
        Ok(())
    }

    fn check_offsets(&self, job: &Job<'_>, on: Mask, space: Space, size: u64) -> Result<(), Violation> {
        let bytes = job.access.bytes();
        let writes = job.kind != AccessKind::Load && !matches!(space, Space::Shared | Space::Local);
        for lane in lanes(on) {
            let address = self.frame.access.lane[lane];
            let inside = address.checked_add(bytes.into()).is_some_and(|end| end <= size);
            let kind = match (address % u64::from(bytes), inside && !writes) {
                (0, true) => continue,
                (0, false) => FaultKind::OutOfBounds,
                _ => FaultKind::Misaligned,
            };
            let detail = Detail::Access { space, address, bytes, action: job.kind.action(), limit: Some(size) };
            return Err(violation(kind, job.pc, job.warp, 1 << lane, detail));
        }
        Ok(())
    }

    /// Moves lane after lane between `self.data` and the space. Offsets were checked.
    fn move_block_data(&mut self, job: &Job<'_>, on: Mask, space: Space, spaces: &mut Spaces) {
        let bytes = job.access.bytes() as usize;
        let addresses = self.frame.access.lane;
        let in_space = Access { space, ..job.access };
        for lane in lanes(on) {
            let thread = job.warp * WARP_SIZE + lane;
            let start = addresses[lane] as usize;
            let place = match space {
                Space::Shared => spaces.shared.get_mut(start..start + bytes),
                Space::Local => {
                    spaces.local.get_mut(thread * spaces.local_bytes + start..).map(|rest| &mut rest[..bytes])
                }
                _ => {
                    write_lane(&mut self.data, lane, &self.grid.params[start..start + bytes]);
                    continue;
                }
            };
            let Some(place) = place else { continue };
            let mut old = [0; 32];
            old[..bytes].copy_from_slice(place);
            let new = match (job.kind, job.d.op) {
                (AccessKind::Load, _) => old,
                (AccessKind::Store, _) => read_lane(&self.data, lane),
                (_, Op::Atomic(kind, _)) => self.modified(job, kind, &in_space, lane, &old),
                _ => old,
            };
            if new[..bytes] != old[..bytes] {
                place.copy_from_slice(&new[..bytes]);
                spaces.changes += 1;
            }
            if job.kind != AccessKind::Store {
                write_lane(&mut self.data, lane, &old[..bytes]);
            }
        }
    }

    /// New value of one lane's atomic on the block's own memory.
    fn modified(&self, job: &Job<'_>, kind: AtomicKind, access: &Access, lane: usize, old: &[u8; 32]) -> [u8; 32] {
        let addresses = &self.frame.access.lane;
        let bytes = access.bytes();
        let request = Request { pc: job.pc, access, mask: 1 << lane, addresses, bytes, shape: Shape::Uniform };
        let atomic = AtomicRequest { request, kind, operand: &self.data, swap: &self.swap, returns: true };
        modify(&atomic, lane, old)
    }
}

/// Sectors of a local access: word `w` of the 32 lanes of a warp lies side by side, 128 bytes a word.
fn local_sectors(addresses: &[u64; WARP_SIZE], on: Mask, bytes: u32) -> u32 {
    let places = std::array::from_fn(|lane| (addresses[lane] >> 2) * 128 + 4 * lane as u64);
    let words = u64::from(bytes.div_ceil(4));
    (0..words).map(|word| sectors::sectors(&places.map(|place: u64| place + 128 * word), on, 4).count()).sum()
}
