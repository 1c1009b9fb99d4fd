//! The loop: takes the running split of a warp through its instructions, counts them, and asks the port for memory.
//!
//! [`Executor::advance`] exists in three forms, by what watches it: nobody ([`Executor::run`], the fast one), the cycle model
//! ([`Executor::stride`], one instruction a call and what may follow it unseen) and a [`Probe`] ([`Executor::run_observed`]).

use super::access::AccessNote;
use super::block::Block;
use super::frame::{Flow, Frame, Ids};
use super::launch::Grid;
use super::watch::{Nobody, Stride, Watch};
use crate::counters::Tally;
use crate::fault::Violation;
use crate::isa::{Lanes, Mask, Op, Pc, Scope, WARP_SIZE};
use crate::memory::{Extent, Port, Words};

/// What an executed instruction did beyond its own warp's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    /// An access; until the next step [`Executor::note`] says what it did, and [`Executor::access`] where.
    Memory,
    /// Lanes that jumped.
    Branch {
        taken: Mask,
    },
    /// Lanes that ended.
    Exit {
        lanes: Mask,
    },
    /// Arrived at a block barrier. `completed`: it was the last one, and all who waited there can run.
    Barrier {
        number: u8,
        completed: bool,
    },
    /// Nothing was executed: the lanes wait for others of their warp at a warp-wide operation.
    Waiting,
    Fence(Scope),
    /// May do nothing for so long.
    Sleep {
        nanoseconds: u32,
    },
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub pc: Pc,
    /// Lanes of the split.
    pub active: Mask,
    /// Of these, lanes in which the guard is true.
    pub on: Mask,
    pub effect: Effect,
}

/// An instruction that a [`Probe`] is shown after it was executed.
#[derive(Debug)]
pub struct Event<'a> {
    pub grid: &'a Grid,
    pub block: &'a Block,
    pub warp: usize,
    pub step: Step,
    /// What an access did, where the effect is one.
    pub note: &'a AccessNote,
    /// Lane addresses, where the effect is an access: device addresses for global memory, offsets for the other spaces.
    pub addresses: &'a [u64; WARP_SIZE],
}

/// Sees every instruction: checks, stepper, film, trace.
pub trait Probe {
    fn instruction(&mut self, event: &Event<'_>);
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every lane has exited.
    Done,
    /// Every split waits.
    Blocked,
    /// The instructions allowed are used up.
    Budget,
    /// The warp spins, and will until memory changes.
    Stuck,
}

/// Runs warps of one launch, one at a time, and keeps count.
#[derive(Debug)]
pub struct Executor<'g> {
    pub(super) grid: &'g Grid,
    pub(super) frame: Frame,
    pub(super) tally: Tally,
    pub(super) note: AccessNote,
    pub(super) data: Words,
    pub(super) swap: Words,
    pub(super) old: Words,
    /// Allocations that memory instructions touched last, by program counter.
    pub(super) extents: [Extent; 16],
}

/// Where the running split stands, kept in registers of the CPU while it runs straight on.
pub(super) struct Cursor {
    pub pc: Pc,
    pub mask: Mask,
    stop: Pc,
    /// First instruction that the tally has not been told of.
    counted: Pc,
    /// Where the instruction that was reported led.
    reported_to: Pc,
    /// Instructions left of the budget.
    left: i64,
}

/// How a straight stretch ended.
enum Stretch {
    /// Before the instruction at the cursor.
    Stopped,
    /// At the instruction under the cursor, which asks for this and takes effect in these lanes.
    Asks(Flow, Mask),
}

impl<'g> Executor<'g> {
    pub fn new(grid: &'g Grid) -> Self {
        Self {
            grid,
            frame: Frame::new(),
            tally: Tally::new(grid.kernel().code.len()),
            note: AccessNote::default(),
            data: [Lanes::ZERO; 8],
            swap: [Lanes::ZERO; 8],
            old: [Lanes::ZERO; 8],
            extents: [Extent::EMPTY; 16],
        }
    }

    /// Executes the next instruction of a warp and leaves it in `stride`, which stays as it is where the warp has none to execute
    /// now ([`super::Warp::next`]).
    ///
    /// # Errors
    /// The fault that the instruction met.
    pub fn stride<P: Port>(
        &mut self,
        block: &mut Block,
        warp: usize,
        port: &mut P,
        mut stride: &mut Stride,
    ) -> Result<(), Violation> {
        self.advance(block, warp, port, &mut stride, u64::MAX).map(drop)
    }

    /// Runs a warp until it waits, ends, spins, or has executed about `budget` instructions.
    ///
    /// # Errors
    /// As [`Executor::stride`].
    pub fn run<P: Port>(
        &mut self,
        block: &mut Block,
        warp: usize,
        port: &mut P,
        budget: u64,
    ) -> Result<End, Violation> {
        self.advance(block, warp, port, &mut Nobody, budget)
    }

    /// As [`Executor::run`], showing every instruction to a probe.
    ///
    /// # Errors
    /// As [`Executor::stride`].
    pub fn run_observed<P: Port>(
        &mut self,
        block: &mut Block,
        warp: usize,
        port: &mut P,
        budget: u64,
        mut probe: &mut dyn Probe,
    ) -> Result<End, Violation> {
        self.advance(block, warp, port, &mut probe, budget)
    }

    /// What the last step that accessed memory did.
    pub fn note(&self) -> &AccessNote {
        &self.note
    }

    /// Lane addresses of the last step that accessed memory: device addresses where its note says global, offsets in the
    /// block's shared or the thread's local memory otherwise. Valid in the lanes that took part.
    pub fn access(&self) -> &[u64; WARP_SIZE] {
        &self.frame.access.lane
    }

    /// What was counted so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    pub fn into_tally(self) -> Tally {
        self.tally
    }

    fn advance<P: Port, W: Watch>(
        &mut self,
        block: &mut Block,
        warp: usize,
        port: &mut P,
        watch: &mut W,
        budget: u64,
    ) -> Result<End, Violation> {
        let mut left = i64::try_from(budget).unwrap_or(i64::MAX);
        while let Some(split) = block.warps[warp].top() {
            let (pc, mask, stop) = (split.pc, split.mask, split.stop);
            let mut at = Cursor { pc, mask, stop, counted: pc, reported_to: pc, left };
            self.enter(block, warp, at.mask);
            let stretch = self.run_straight(block, warp, port, watch, &mut at);
            self.count_stretch(&mut at);
            match stretch? {
                Stretch::Stopped => {
                    block.warps[warp].go_to(at.pc);
                    watch.ran_ahead(at.reported_to..at.pc);
                }
                Stretch::Asks(flow, on) => {
                    let effect = self.perform(flow, on, &at, block, warp, port)?;
                    if effect != Effect::Waiting {
                        self.count_one(&mut at, on);
                    }
                    if W::REPORTS {
                        watch.see(self, block, warp, Step { pc: at.pc, active: at.mask, on, effect });
                    }
                }
            }
            left = at.left;
            let stuck = block.warps[warp].spin.is_due() && self.spins(block, warp, port);
            if W::SINGLE || left <= 0 {
                break;
            }
            if stuck {
                return Ok(End::Stuck);
            }
        }
        Ok(match block.warps[warp].next() {
            Some(_) => End::Budget,
            None if block.warps[warp].is_done() => End::Done,
            None => End::Blocked,
        })
    }

    /// Points the frame at a warp's registers.
    pub(super) fn enter(&mut self, block: &mut Block, warp: usize, active: Mask) {
        let (slots, preds) = block.registers.of(warp);
        let ids = Ids {
            thread: &raw const self.grid.threads[warp],
            block: block.index,
            sm: block.sm,
            warp_in_sm: block.first_warp + warp as u32,
            active,
        };
        self.frame.enter(slots, &self.grid.constants, preds, ids);
    }

    /// Runs on while nothing but the program counter changes.
    #[inline(always)]
    fn run_straight<P: Port, W: Watch>(
        &mut self,
        block: &mut Block,
        warp: usize,
        port: &mut P,
        watch: &mut W,
        at: &mut Cursor,
    ) -> Result<Stretch, Violation> {
        let code = &self.grid.kernel().code[..];
        loop {
            // SAFETY: a pc is a checked target or follows an instruction that is not the last, which is an exit.
            let d = unsafe { code.get_unchecked(at.pc as usize) };
            // SAFETY: the frame was entered for this warp.
            let on = at.mask & unsafe { self.frame.pred(d.guard) };
            // SAFETY: `run` was chosen for this instruction, and `on` is not 0.
            let flow = if on == 0 { Flow::Next } else { unsafe { (d.run)(&mut self.frame, d, on) } };
            let effect = match flow {
                Flow::Next => Effect::None,
                Flow::Memory => {
                    self.note = self.access_memory(d, at.pc, on, block, warp, port)?;
                    Effect::Memory
                }
                Flow::Branch if on == at.mask => Effect::Branch { taken: on },
                flow => return Ok(Stretch::Asks(flow, on)),
            };
            if on != at.mask {
                self.tally.predicated_off(at.pc, at.mask & !on);
            }
            let pc = at.pc;
            at.pc += 1;
            let mut pause = at.pc == at.stop;
            if let (Effect::Branch { .. }, Op::Branch { target, .. }) = (effect, d.op) {
                self.count_stretch(at);
                (at.pc, at.counted) = (target, target);
                pause = target == at.stop || at.left <= 0;
                pause |= target <= pc && block.warps[warp].spin.count();
            }
            let looks = watch.looks();
            if looks {
                watch.see(self, block, warp, Step { pc, active: at.mask, on, effect });
                at.reported_to = at.pc;
            }
            // SAFETY: as above; the instruction behind the last one is never asked for, since that one is an exit.
            let goes_on = |pc: Pc| watch.runs_ahead() && unsafe { code.get_unchecked(pc as usize) }.is_private();
            if pause || (W::SINGLE && !goes_on(at.pc)) {
                return Ok(Stretch::Stopped);
            }
            if looks {
                // The watcher was shown the block, so the frame's pointers into it count as gone.
                self.enter(block, warp, at.mask);
            }
        }
    }

    /// Counts the instructions up to the cursor.
    fn count_stretch(&mut self, at: &mut Cursor) {
        if at.counted < at.pc {
            self.tally.executed(at.counted, at.pc, at.mask);
            at.left -= i64::from(at.pc - at.counted);
            at.counted = at.pc;
        }
    }

    /// Counts the instruction under the cursor, which ended a stretch.
    fn count_one(&mut self, at: &mut Cursor, on: Mask) {
        self.tally.executed(at.pc, at.pc + 1, at.mask);
        self.tally.predicated_off(at.pc, at.mask & !on);
        at.left -= 1;
    }

    /// Whether the warp spins for good, after letting others of its splits go first.
    fn spins<P: Port>(&mut self, block: &mut Block, index: usize, port: &P) -> bool {
        let changes = port.changes().wrapping_add(block.spaces.changes);
        let (slots, preds) = block.registers.of(index);
        let warp = &mut block.warps[index];
        let stuck = warp.recurs(changes, slots, preds);
        if !stuck && !warp.spin.is_long() {
            return false;
        }
        let other_runs = warp.give_way(self.grid.divergence, stuck.then_some(changes));
        stuck && !other_runs
    }
}
