//! A resident block: its warps' registers and control state, its shared and local memory, its barriers.

use super::barrier::BlockBarrier;
use super::kernel::Kernel;
use super::launch::Grid;
use super::warp::Warp;
use crate::fault::{Detail, FaultKind, Violation};
use crate::isa::{Lanes, Mask, Op, Pc, WARP_SIZE};
use crate::memory::Words;

/// Numbered barriers of a block.
pub const BARRIERS: usize = 16;

/// One block on an SM.
#[derive(Debug)]
pub struct Block {
    pub(crate) index: [u32; 3],
    pub(crate) sm: u32,
    /// Warps of the SM before this block's first.
    pub(crate) first_warp: u32,
    pub(crate) warps: Vec<Warp>,
    pub(crate) registers: Registers,
    pub(crate) spaces: Spaces,
    pub(crate) barriers: [BlockBarrier; BARRIERS],
    /// One bit for each barrier that somebody has arrived at.
    pub(crate) arrivals: u16,
}

/// Slots and predicates of all warps, warp by warp.
#[derive(Debug)]
pub(crate) struct Registers {
    slots: Vec<Lanes>,
    preds: Vec<Mask>,
    slots_per_warp: usize,
    preds_per_warp: usize,
}

/// The memory that belongs to the block.
#[derive(Debug)]
pub(crate) struct Spaces {
    pub shared: Vec<u8>,
    /// Thread after thread.
    pub local: Vec<u8>,
    pub local_bytes: usize,
    /// Grows with every store that changed something.
    pub changes: u64,
}

impl Registers {
    /// Slots and predicates of one warp.
    pub fn of(&mut self, warp: usize) -> (&mut [Lanes], &mut [Mask]) {
        let (slots, preds) = (self.slots_per_warp, self.preds_per_warp);
        (&mut self.slots[warp * slots..][..slots], &mut self.preds[warp * preds..][..preds])
    }
}

impl Block {
    /// A block that has not started. It can be started again when it is done.
    pub fn new(grid: &Grid) -> Self {
        let warps = grid.warps_per_block() as usize;
        let kernel = grid.kernel();
        let (slots_per_warp, preds_per_warp) = (kernel.slot_count, usize::from(kernel.program().pred_count));
        let local_bytes = kernel.program().local_bytes as usize;
        Self {
            index: [0; 3],
            sm: 0,
            first_warp: 0,
            warps: Vec::new(),
            registers: Registers {
                slots: vec![Lanes::ZERO; warps * slots_per_warp],
                preds: vec![0; warps * preds_per_warp],
                slots_per_warp,
                preds_per_warp,
            },
            spaces: Spaces {
                shared: vec![0; (kernel.program().shared_reserved_bytes + grid.shared_bytes) as usize],
                local: vec![0; local_bytes * warps * WARP_SIZE],
                local_bytes,
                changes: 0,
            },
            barriers: std::array::from_fn(|_| BlockBarrier::default()),
            arrivals: 0,
        }
    }

    /// Puts the block with this linear number on an SM, at the start of the code with registers and memory zero.
    /// `first_warp` is the number of its first warp among the SM's.
    pub fn start(&mut self, grid: &Grid, linear: u64, sm: u32, first_warp: u32) {
        self.index = grid.block_index(linear);
        (self.sm, self.first_warp) = (sm, first_warp);
        self.warps.clear();
        let isa = grid.kernel().program().isa;
        let warp = |warp| Warp::new(grid.launched_lanes(warp), grid.divergence, isa);
        self.warps.extend((0..grid.warps_per_block()).map(warp));
        self.registers.slots.fill(Lanes::ZERO);
        for preds in self.registers.preds.chunks_exact_mut(self.registers.preds_per_warp) {
            preds.fill(0);
            preds[0] = Mask::MAX;
        }
        self.spaces.shared.fill(0);
        self.spaces.local.fill(0);
        if self.arrivals != 0 {
            self.barriers.iter_mut().for_each(|barrier| *barrier = BlockBarrier::default());
            self.arrivals = 0;
        }
    }

    pub fn index(&self) -> [u32; 3] {
        self.index
    }

    pub fn warps(&self) -> &[Warp] {
        &self.warps
    }

    pub fn sm(&self) -> u32 {
        self.sm
    }

    /// Every thread has exited.
    pub fn is_done(&self) -> bool {
        self.warps.iter().all(Warp::is_done)
    }

    /// A number that grows with every store to the block's own memory that changed something.
    pub fn changes(&self) -> u64 {
        self.spaces.changes
    }

    /// A violation of where a warp stands.
    pub fn standing(&self, warp: usize, kind: FaultKind) -> Violation {
        let split = self.warps.get(warp).and_then(|warp| warp.splits().last());
        let (pc, mask, waits) = split.unwrap_or((0, 1, false));
        // A split that waits at a block barrier stands after it.
        let pc = if waits && kind == FaultKind::Deadlock { pc.saturating_sub(1) } else { pc };
        Violation { kind, pc, warp: warp as u32, lane: mask.trailing_zeros() & 31, detail: Detail::None }
    }

    /// Shared memory, for those who look.
    pub fn shared(&self) -> &[u8] {
        &self.spaces.shared
    }

    /// The registers of a warp: slots, then predicates.
    pub fn registers(&self, warp: usize) -> (&[Lanes], &[Mask]) {
        let (slots, preds) = (self.registers.slots_per_warp, self.registers.preds_per_warp);
        (&self.registers.slots[warp * slots..][..slots], &self.registers.preds[warp * preds..][..preds])
    }

    /// Writes the result of an atomic that the port had deferred: the old values, lane by lane.
    ///
    /// `pc` is the atomic's and `lanes` those that took part, as the step reported them.
    pub fn complete_atomic(&mut self, kernel: &Kernel, warp: usize, pc: Pc, lanes: Mask, old: &Words) {
        let instr = &kernel.code[pc as usize];
        let Op::Atomic(_, access) = instr.op else { return };
        if instr.given.dst[0] {
            let (slots, _) = self.registers.of(warp);
            for (word, old) in old.iter().enumerate().take(access.ty.slots().into()) {
                let slot = &mut slots[usize::from(instr.dst[0].0) + word];
                (0..WARP_SIZE).filter(|lane| lanes >> lane & 1 != 0).for_each(|lane| slot.0[lane] = old.0[lane]);
            }
        }
    }

    /// Lets another split of a warp run ([`Warp::choose`]).
    pub(crate) fn choose(&mut self, warp: usize, choice: u64, part: Mask) {
        self.warps[warp].choose(choice, part);
    }

    /// Lets lanes go that wait at a convergence barrier, when no warp of the block can run otherwise. False where none do.
    pub fn release_waiting(&mut self, grid: &Grid) -> bool {
        self.warps.iter_mut().any(|warp| warp.release_any(grid.divergence))
    }
}
