//! Blocks and warps that live on an SM, and how they come to live there.

use std::ops::Range;

use crate::exec::{Block, Grid};
use crate::isa::Pc;

use super::dependence::Dependence;
use super::fetch::NO_LINE;
use super::scheduler::BLOCKED;
use super::{Finished, Launch, Sm};
use crate::timing::code::{Kind, TimedCode, TimedInstr};
use crate::timing::report::Placement;
use crate::timing::stall::{Moment, Stall};

/// Room for a block.
#[derive(Debug)]
pub(crate) struct BlockSlot {
    pub block: Block,
    pub resident: Option<Resident>,
    /// Atomics of this quantum whose effect is not in memory yet.
    pub atomics_pending: u32,
    /// What its warps have executed.
    pub instructions: u64,
    first_warp: usize,
}

/// A block that lives on the SM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resident {
    /// Linear number in the grid.
    pub linear: u64,
    pub start_cycle: u64,
    /// Warps that have not ended.
    warps_left: u32,
}

/// Room for a warp, with what it waits for.
#[derive(Debug)]
pub(crate) struct WarpSlot {
    pub block_slot: usize,
    pub warp_in_block: usize,
    pub scheduler: usize,
    pub place: usize,
    /// Of PTX, when each slot and predicate can be read.
    pub scoreboard: Vec<Moment>,
    /// Of SASS, its dependence counters.
    pub dependence: Dependence,
    /// Earliest issue whatever the operands.
    pub floor: Moment,
    /// The line of code that it has fetched last.
    pub line: u32,
    /// Cycle up to which its time is accounted for.
    pub accounted_to: u64,
    /// What it issues next, while it is not blocked.
    pub pc: Pc,
    /// Instructions that come next and were executed already.
    pub ahead: Range<Pc>,
    pub alive: bool,
    /// Something that it waits for is decided at the boundary.
    pub waits_for_boundary: bool,
    /// It waits for other warps of its block.
    pub at_barrier: bool,
}

impl WarpSlot {
    pub fn new(code: &TimedCode) -> Self {
        Self {
            block_slot: 0,
            warp_in_block: 0,
            scheduler: 0,
            place: 0,
            scoreboard: vec![Moment::START; code.scoreboard_len],
            dependence: Dependence::new(code.waits_in_part),
            floor: Moment::START,
            line: NO_LINE,
            accounted_to: 0,
            pc: 0,
            ahead: 0..0,
            alive: false,
            waits_for_boundary: false,
            at_barrier: false,
        }
    }

    /// Where the warp goes on; `None` while it waits for others, and when it is done.
    #[inline]
    fn next_pc(&self, blocks: &[BlockSlot]) -> Option<Pc> {
        if !self.ahead.is_empty() {
            return Some(self.ahead.start);
        }
        blocks[self.block_slot].block.warps()[self.warp_in_block].next().map(|(pc, _)| pc)
    }
}

impl Sm {
    /// Puts a block in a free slot; its first warp can issue at `start_cycle`.
    pub fn start_block(&mut self, slot: usize, linear: u64, start_cycle: u64, launch: &Launch<'_>) {
        let first = slot * launch.grid.warps_per_block() as usize;
        self.blocks[slot].block.start(launch.grid, linear, self.index, first as u32);
        self.settle_in(slot, linear, start_cycle, launch);
    }

    /// Puts a block that was begun elsewhere in a free slot; it goes on where it stands.
    pub fn resume_block(&mut self, slot: usize, block: Block, linear: u64, start_cycle: u64, launch: &Launch<'_>) {
        self.blocks[slot].block = block;
        self.settle_in(slot, linear, start_cycle, launch);
    }

    fn settle_in(&mut self, slot: usize, linear: u64, start_cycle: u64, launch: &Launch<'_>) {
        let warps = launch.grid.warps_per_block() as usize;
        let room = &mut self.blocks[slot];
        let lives = |warp: usize| !room.block.warps()[warp].is_done();
        let living: Vec<usize> = (0..warps).filter(|warp| lives(*warp)).collect();
        room.resident = Some(Resident { linear, start_cycle, warps_left: living.len() as u32 });
        (room.atomics_pending, room.instructions, room.first_warp) = (0, 0, slot * warps);
        for warp in living {
            let start = start_cycle + warp as u64 * launch.config.warp_launch_interval;
            self.start_warp(slot, warp, start, launch);
        }
        self.blocks_started += 1;
    }

    fn start_warp(&mut self, slot: usize, warp_in_block: usize, start: u64, launch: &Launch<'_>) {
        // The emptiest scheduler; among equals, warp w of the SM's first block goes to w mod 4, and each later block starts one
        // scheduler further on. With the same start for all, a branch by the parity of the warp would leave half of the
        // schedulers with the longer path alone; an H200 takes the mean of both paths.
        let count = self.schedulers.len();
        let first_choice = warp_in_block + self.blocks_started;
        let turn = |scheduler: usize| (scheduler + count - first_choice % count) % count;
        let scheduler =
            (0..count).min_by_key(|scheduler| (self.schedulers[*scheduler].count(), turn(*scheduler))).unwrap_or(0);
        let index = self.blocks[slot].first_warp + warp_in_block;
        let Some(place) = self.schedulers[scheduler].add(index as u16, BLOCKED) else { return };
        let warp = &mut self.warps[index];
        warp.scoreboard.fill(Moment::START);
        warp.dependence.start();
        (warp.block_slot, warp.warp_in_block) = (slot, warp_in_block);
        (warp.scheduler, warp.place, warp.line) = (scheduler, place, NO_LINE);
        warp.ahead = 0..0;
        (warp.floor, warp.accounted_to) = (Moment::at(start, Stall::Wait), start);
        (warp.alive, warp.waits_for_boundary, warp.at_barrier) = (true, false, false);
        self.refresh(index, launch);
    }

    /// Works out when a warp can issue its next instruction. A warp without one waits for others, or is done.
    pub(super) fn refresh(&mut self, index: usize, launch: &Launch<'_>) {
        let warp = &mut self.warps[index];
        if !warp.alive {
            return;
        }
        let ready = match warp.next_pc(&self.blocks) {
            Some(pc) => {
                warp.pc = pc;
                needed(launch, warp, launch.code.at(pc))
            }
            None => BLOCKED,
        };
        warp.at_barrier = ready == BLOCKED;
        warp.waits_for_boundary = ready != BLOCKED && ready.cycle().is_none();
        self.schedulers[warp.scheduler].set_ready(warp.place, ready);
    }

    /// The warp's next instruction, if it takes no issue and what it reads is decided.
    #[inline]
    pub(super) fn next_if_free<'l>(&self, index: usize, launch: &Launch<'l>) -> Option<&'l TimedInstr> {
        if launch.code.by_control {
            return None;
        }
        let warp = &self.warps[index];
        let instr = launch.code.at(warp.next_pc(&self.blocks)?);
        let undecided = |place: &u16| warp.scoreboard[usize::from(*place)].is_undecided_value();
        (instr.kind == Kind::Free && !launch.code.reads(instr).iter().any(undecided)).then_some(instr)
    }

    /// A warp has executed its last instruction at `now`.
    pub(super) fn end_warp(&mut self, index: usize, now: u64) {
        let warp = &mut self.warps[index];
        warp.alive = false;
        self.schedulers[warp.scheduler].remove(warp.place);
        let slot = warp.block_slot;
        let room = &mut self.blocks[slot];
        let Some(resident) = &mut room.resident else { return };
        resident.warps_left -= 1;
        if resident.warps_left == 0 {
            let Resident { linear, start_cycle, .. } = *resident;
            room.resident = None;
            self.report.placements.push(Placement { block: linear, sm: self.index, start_cycle, end_cycle: now + 1 });
            self.outbox.finished.push(Finished { slot, cycle: now + 1, instructions: room.instructions });
        }
    }

    /// Warps of a block that waited for others and can go on now do so from `cycle` on.
    pub(super) fn wake_block(&mut self, slot: usize, cycle: u64, launch: &Launch<'_>) {
        let first = self.blocks[slot].first_warp;
        for index in first..first + launch.grid.warps_per_block() as usize {
            let warp = &mut self.warps[index];
            if warp.alive && warp.at_barrier {
                let can_go = self.blocks[slot].block.warps()[warp.warp_in_block].next().is_some();
                if can_go {
                    warp.floor = warp.floor.max(Moment::at(cycle, Stall::Barrier));
                    self.refresh(index, launch);
                }
            }
        }
    }

    /// Lets lanes go that wait for lanes which cannot come, in a block of which no warp can run. True if that helped any.
    pub fn release_waiting(&mut self, now: u64, launch: &Launch<'_>) -> bool {
        let mut any = false;
        for slot in 0..self.blocks.len() {
            if self.blocks[slot].resident.is_some() && self.blocks[slot].block.release_waiting(launch.grid) {
                self.wake_block(slot, now, launch);
                any = true;
            }
        }
        any
    }

    /// Whether blocks live here.
    pub fn is_busy(&self) -> bool {
        self.blocks.iter().any(|slot| slot.resident.is_some())
    }
}

/// When the operands of an instruction are there.
fn needed(launch: &Launch<'_>, warp: &WarpSlot, instr: &TimedInstr) -> Moment {
    let mut ready = warp.floor;
    if launch.code.by_control {
        return ready.max(warp.dependence.needed(&instr.counters));
    }
    if instr.guard != 0 {
        ready = ready.max(warp.scoreboard[usize::from(instr.guard)].later(launch.config.guard_cycles));
    }
    let sources = launch.code.reads(instr).iter().map(|place| warp.scoreboard[usize::from(*place)]);
    if instr.kind == Kind::Free {
        return sources.filter(|moment| moment.is_undecided_value()).fold(warp.floor, Moment::max);
    }
    ready = sources.fold(ready, Moment::max);
    // A result of variable latency must be there before its register is written again; fixed ones keep their order.
    for place in launch.code.writes(instr) {
        let before = warp.scoreboard[usize::from(*place)];
        if matches!(before.stall(), Stall::LongScoreboard | Stall::ShortScoreboard) {
            ready = ready.max(before);
        }
    }
    ready
}

impl BlockSlot {
    pub fn new(grid: &Grid) -> Self {
        Self { block: Block::new(grid), resident: None, atomics_pending: 0, instructions: 0, first_warp: 0 }
    }
}
