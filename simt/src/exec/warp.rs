//! A warp's control flow: divergence as a value.
//!
//! A warp is a list of [`Split`]s, groups of lanes that share a program counter, and a set of convergence barriers, places
//! where splits wait for each other to become one again. The split at the top of the list runs. A divergent branch makes a
//! barrier at the branch's reconvergence point and two splits that know it; a split that reaches its barrier leaves the list,
//! and when all members have arrived (or exited) one split goes on from there. SASS's BSSY and BSYNC are the same mechanism
//! with the barrier named by the code.
//!
//! A loop that lanes leave one by one branches to the same point each time round: its barrier exists already and takes them in.
//!
//! Under [`Divergence::Converge`] both sides make progress: a split that spins gives way (`Warp::give_way`) to the others,
//! also to lanes that wait at a convergence barrier for it. Under [`Divergence::Lockstep`], the rule before Volta, one side
//! runs to the barrier and then the other, whatever happens. Under [`Divergence::Adversarial`] there are no convergence barriers:
//! lanes that have parted stay so until a warp-wide operation gathers them.

use super::chip::Place;
use super::convergence::Convergence;
use super::spin::SpinWatch;
use crate::isa::{Isa, Lanes, Mask, Pc};

/// How a divergent warp is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Divergence {
    /// Lanes rejoin at the immediate post-dominator of the branch; every lane makes progress.
    #[default]
    Converge,
    /// As before Volta: one side to the rejoining point, then the other. Lanes that wait for each other never end.
    Lockstep,
    /// Whatever the rules since Volta allow: lanes meet only at warp-wide operations, and who runs next, and for how long, is drawn
    /// from the seed. Correct code gives the same results under every seed. In timed runs nothing is drawn.
    Adversarial(u64),
}

impl Divergence {
    /// Whether the order in which a warp's lanes run depends on nothing but its code and data.
    pub const fn is_deterministic(self) -> bool {
        matches!(self, Self::Converge | Self::Lockstep)
    }
}

/// No convergence barrier.
const NONE: u16 = u16::MAX;
/// A program counter that no code has.
pub(crate) const NOWHERE: Pc = Pc::MAX;
/// Most nested calls.
pub(crate) const CALL_DEPTH_MAX: usize = 1024;

/// What a split is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At the block barrier of this number.
    Barrier(u8),
    /// At a warp-wide operation, until the other lanes of this mask are there.
    Collective(Mask),
    /// Behind a convergence barrier, until the other lanes of this mask have come there.
    Meeting(Mask),
}

/// Lanes that run together.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub pc: Pc,
    pub mask: Mask,
    /// Program counter of the convergence barrier, or [`NOWHERE`].
    pub stop: Pc,
    /// Index of its convergence barrier, or [`NONE`].
    pub(super) barrier: u16,
    pub state: State,
    /// The lanes it has to meet for a warp-wide operation have come.
    pub granted: bool,
    /// Return addresses, innermost last.
    pub calls: Vec<Pc>,
    /// Set while it is known to spin: [`super::spin`]'s count of changes at that time.
    pub(super) stuck_since: Option<u64>,
    /// Of SASS alone.
    pub(super) place: Place,
    /// It waited for others, they have come, and it is to become one split with them. Of SASS alone.
    pub(super) met: bool,
    /// Lanes that left a WARPSYNC.EXCLUSIVE apart from others, until they meet; else 0. Of SASS alone.
    pub(super) alone: Mask,
}

/// The control state of one warp. Its registers are in its block.
#[derive(Clone, Debug)]
pub struct Warp {
    pub(super) splits: Vec<Split>,
    pub(super) barriers: Vec<Convergence>,
    live: Mask,
    /// Splits become one at warp-wide operations only.
    pub(super) apart: bool,
    pub(crate) spin: SpinWatch,
    pub(super) isa: Isa,
}

impl Warp {
    /// A warp at the start of the code, with the lanes of `mask`.
    pub(crate) fn new(mask: Mask, divergence: Divergence, isa: Isa) -> Self {
        let split = Split {
            pc: 0,
            mask,
            stop: NOWHERE,
            barrier: NONE,
            state: State::Ready,
            granted: false,
            calls: Vec::new(),
            stuck_since: None,
            place: Place::Running,
            met: false,
            alone: 0,
        };
        let apart = matches!(divergence, Divergence::Adversarial(_));
        Self { splits: vec![split], barriers: Vec::new(), live: mask, apart, spin: SpinWatch::default(), isa }
    }

    /// The instruction that the warp executes next and the lanes that do. `None` while it waits, and when it is done.
    pub fn next(&self) -> Option<(Pc, Mask)> {
        self.top().map(|split| (split.pc, split.mask))
    }

    /// Every lane has exited.
    pub fn is_done(&self) -> bool {
        self.live == 0
    }

    /// Lanes that have not exited.
    pub fn live(&self) -> Mask {
        self.live
    }

    /// Groups of lanes with their program counters, the one that runs last; `true` where it waits.
    pub fn splits(&self) -> impl Iterator<Item = (Pc, Mask, bool)> {
        self.splits.iter().map(|split| (split.pc, split.mask, split.state != State::Ready))
    }

    pub(crate) fn top(&self) -> Option<&Split> {
        self.splits.last().filter(|split| split.state == State::Ready)
    }

    /// Lets another split run: the ready one that `choice` falls on, and of it, where `part` is not 0, those lanes alone.
    pub(crate) fn choose(&mut self, choice: u64, part: Mask) {
        let ready: Vec<usize> =
            (0..self.splits.len()).filter(|index| self.splits[*index].state == State::Ready).collect();
        let Some(index) = ready.get((choice % ready.len().max(1) as u64) as usize) else { return };
        let mut split = self.splits.remove(*index);
        let alone = split.mask & part;
        if alone != 0 && alone != split.mask && !split.granted {
            self.splits.push(Split { mask: split.mask & !part, ..split.clone() });
            split.mask = alone;
        }
        self.splits.push(split);
        self.spin.reset();
    }

    /// Moves the running split to `pc`.
    #[inline]
    pub(crate) fn go_to(&mut self, pc: Pc) {
        if let Some(split) = self.splits.last_mut() {
            split.pc = pc;
            if pc == split.stop {
                self.settle();
            }
        }
    }

    /// As [`Warp::go_to`], leaving the split where it is in the list even if that is its barrier.
    pub(crate) fn go_to_quietly(&mut self, pc: Pc) {
        if let Some(split) = self.splits.last_mut() {
            split.pc = pc;
        }
    }

    /// Ends lanes of the running split; the others go on at `pc`.
    pub(crate) fn exit(&mut self, lanes: Mask, pc: Pc) {
        self.live &= !lanes;
        match self.splits.last_mut() {
            Some(split) if split.mask & !lanes != 0 => {
                split.mask &= !lanes;
                split.pc = pc;
            }
            _ => drop(self.splits.pop()),
        }
        for index in 0..self.barriers.len() {
            self.barriers[index].members &= !lanes;
            self.release_if_complete(index as u16);
        }
        self.grant_complete(false);
        self.spin.reset();
        self.settle();
    }

    /// Calls a function with the running split, all lanes of it.
    ///
    /// Returns false where calls are nested too deep.
    pub(crate) fn call(&mut self, target: Pc, return_to: Pc) -> bool {
        let Some(split) = self.splits.last_mut() else { return true };
        if split.calls.len() >= CALL_DEPTH_MAX {
            return false;
        }
        split.calls.push(return_to);
        split.pc = target;
        self.settle();
        true
    }

    /// Whether the running split is in a function; in the entry, a return is an exit.
    pub(crate) fn is_in_call(&self) -> bool {
        self.splits.last().is_some_and(|split| !split.calls.is_empty())
    }

    /// Returns with the running split, all lanes of it.
    pub(crate) fn return_from_call(&mut self) {
        if let Some(split) = self.splits.last_mut() {
            split.pc = split.calls.pop().unwrap_or(split.pc);
        }
        self.settle();
    }

    /// Whether the running split may execute a warp-wide operation over `members` now. If not, it waits, and another split
    /// is on top; when the last member has come the operation is granted to all of them.
    pub(crate) fn gather(&mut self, members: Mask) -> bool {
        let Some(split) = self.splits.last_mut() else { return false };
        if std::mem::take(&mut split.granted) {
            return true;
        }
        split.state = State::Collective(members);
        self.spin.reset();
        self.grant_complete(true);
        self.settle();
        false
    }

    /// The running split has executed a warp-wide operation and goes on at `next`.
    pub(crate) fn end_collective(&mut self, next: Pc) {
        if let Some(split) = self.splits.last_mut() {
            split.granted = false;
        }
        self.go_to(next);
    }

    /// Lanes give up the membership of a warp-wide operation that others wait at for them.
    pub(crate) fn leave(&mut self, members: Mask, lanes: Mask) {
        for split in &mut self.splits {
            match split.state {
                State::Collective(waits) if waits == members => split.state = State::Collective(members & !lanes),
                State::Meeting(waits) if waits == members => split.state = State::Meeting(members & !lanes),
                _ => {}
            }
        }
        self.spin.reset();
        self.grant_complete(false);
    }

    /// The running split has come to a convergence barrier of `members`, and goes on at `next` when they all have.
    pub(crate) fn meet(&mut self, members: Mask, next: Pc) {
        let Some(split) = self.splits.last_mut() else { return };
        split.alone = 0;
        if members & self.live & !split.mask == 0 {
            return self.go_to(next);
        }
        (split.state, split.pc) = (State::Meeting(members), next);
        self.spin.regroup();
        self.grant_complete(true);
        self.settle();
    }

    /// Ends the wait at convergence barriers where all living members have come. `arrived`: because the last one came; else
    /// because one is not waited for any more, and the others execute the BSYNC again.
    fn end_meetings(&mut self, arrived: bool) {
        for index in 0..self.splits.len() {
            let (pc, State::Meeting(members)) = (self.splits[index].pc, self.splits[index].state) else { continue };
            let together = |split: &&mut Split| split.pc == pc && split.state == State::Meeting(members);
            let come = self.splits.iter_mut().filter(together).fold(0, |lanes, split| lanes | split.mask);
            if members & self.live & !come == 0 {
                for split in self.splits.iter_mut().filter(together) {
                    split.state = State::Ready;
                    split.met = arrived;
                    split.pc -= Pc::from(!arrived);
                }
            }
        }
    }

    /// Grants warp-wide operations whose living members have all come.
    fn grant_complete(&mut self, arrived: bool) {
        self.end_meetings(arrived);
        let waiting = |splits: &[Split], members: Mask| {
            splits
                .iter()
                .filter(|split| split.state == State::Collective(members))
                .fold(0, |all, split| all | split.mask)
        };
        for index in 0..self.splits.len() {
            let State::Collective(members) = self.splits[index].state else { continue };
            if members & self.live & !waiting(&self.splits, members) == 0 {
                for split in self.splits.iter_mut().filter(|split| split.state == State::Collective(members)) {
                    (split.state, split.granted, split.met) = (State::Ready, true, self.isa == Isa::Sass);
                }
            }
        }
    }

    /// Makes the running split wait at a block barrier; it goes on at `pc` afterwards.
    pub(crate) fn wait_at_barrier(&mut self, number: u8, pc: Pc) {
        if let Some(split) = self.splits.last_mut() {
            (split.state, split.pc) = (State::Barrier(number), pc);
        }
        self.spin.reset();
        self.settle();
    }

    /// Splits that wait at a block barrier: where they go on, and their lanes.
    pub(crate) fn waiting_at(&self, number: u8) -> impl Iterator<Item = (Pc, Mask)> {
        self.splits
            .iter()
            .filter(move |split| split.state == State::Barrier(number))
            .map(|split| (split.pc, split.mask))
    }

    /// Ends the wait at a block barrier.
    pub(crate) fn wake(&mut self, number: u8) {
        for split in self.splits.iter_mut().filter(|split| split.state == State::Barrier(number)) {
            split.state = State::Ready;
        }
        self.settle();
    }

    /// Lets others go before the running split, which has gone round a loop for long: ready splits, else lanes that wait for it
    /// at a convergence barrier. `stuck` says that it will go on so until memory changes, and how often that has changed.
    ///
    /// Returns whether another split runs now.
    pub(crate) fn give_way(&mut self, divergence: Divergence, stuck: Option<u64>) -> bool {
        self.spin.reset();
        let Some(split) = self.splits.last_mut() else { return false };
        split.stuck_since = stuck;
        let own = split.barrier;
        if divergence == Divergence::Lockstep {
            return false;
        }
        let free = |split: &Split| split.state == State::Ready && (stuck.is_none() || split.stuck_since != stuck);
        let others = self.splits.len() - 1;
        if self.splits[..others].iter().any(free) {
            self.splits.rotate_right(1);
            self.splits[0].place = Place::Pool;
            self.settle();
            return true;
        }
        self.release_waiting(own)
    }

    /// Whether the warp is exactly where it was before, and nothing it can see has changed since.
    pub(crate) fn recurs(&mut self, changes: u64, slots: &[Lanes], preds: &[Mask]) -> bool {
        let splits = self.splits.iter().map(|split| (split.pc, split.mask));
        self.spin.check(splits, changes, slots, preds)
    }
}
