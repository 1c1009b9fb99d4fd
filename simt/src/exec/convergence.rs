//! Parting and rejoining: how a divergent branch divides a warp, and how convergence barriers put it together again.

use super::chip::Place;
use super::warp::{Divergence, NOWHERE, Split, State, Warp};
use crate::isa::{Isa, Mask, Pc};

/// Where lanes wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Convergence {
    pub pc: Pc,
    /// Return addresses of the lanes that meet here: the same for all, since they parted here.
    pub calls: Vec<Pc>,
    /// Lanes that are to meet; 0: this entry is free.
    pub members: Mask,
    pub arrived: Mask,
    pub parent: u16,
}

/// Whether two splits are in the same call; mostly neither is in any.
#[inline]
fn same_calls(a: &[Pc], b: &[Pc]) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

impl Warp {
    /// Divides the running split: each part goes to its program counter, to meet again at `reconverge`. The first part runs
    /// first.
    pub(crate) fn diverge(&mut self, parts: &[(Pc, Mask)], reconverge: Option<Pc>) {
        let Some(split) = self.splits.pop() else { return };
        let (barrier, stop) = match reconverge {
            Some(pc) if !self.apart => (self.barrier_at(pc, &split), pc),
            _ => (split.barrier, split.stop),
        };
        for (pc, mask) in parts.iter().rev() {
            self.splits.push(Split { pc: *pc, mask: *mask, stop, barrier, ..split.clone() });
        }
        self.spin.regroup();
        self.settle();
    }

    /// Divides the running split at a return: `on` will execute it, the others go on at `next`, to meet where it returns to.
    pub(crate) fn diverge_at_return(&mut self, on: Mask, next: Pc) {
        let Some(split) = self.splits.last_mut() else { return };
        let (pc, mask) = (split.pc, split.mask);
        let parts = [(next, mask & !on), (pc, on)];
        match split.calls.pop() {
            None => self.diverge(&parts, None),
            Some(back) if self.apart => {
                split.calls.push(back);
                self.diverge(&parts, None);
            }
            Some(back) => {
                let outer = split.clone();
                split.calls.push(back);
                let barrier = self.barrier_at(back, &outer);
                if let Some(split) = self.splits.last_mut() {
                    (split.barrier, split.stop) = (barrier, back);
                }
                self.diverge(&parts, None);
            }
        }
    }

    /// The split's own barrier where it is at `pc` already, else a new one for its lanes.
    fn barrier_at(&mut self, pc: Pc, split: &Split) -> u16 {
        let own = self.barriers.get(usize::from(split.barrier));
        if own.is_some_and(|own| own.pc == pc && same_calls(&own.calls, &split.calls)) {
            return split.barrier;
        }
        let (calls, members) = (split.calls.clone(), split.mask);
        let barrier = Convergence { pc, calls, members, arrived: 0, parent: split.barrier };
        match self.barriers.iter().position(|barrier| barrier.members == 0) {
            Some(free) => {
                self.barriers[free] = barrier;
                free as u16
            }
            None => {
                self.barriers.push(barrier);
                (self.barriers.len() - 1) as u16
            }
        }
    }

    /// Makes the list stand so that the top can run, if any can: brings a ready split to the top and takes those that have
    /// reached their barrier off the list.
    pub(super) fn settle(&mut self) {
        if self.isa == Isa::Sass {
            return self.choose_as_chip();
        }
        while let Some(ready) = self.splits.iter().rposition(|split| split.state == State::Ready) {
            if ready + 1 != self.splits.len() {
                let split = self.splits.remove(ready);
                self.splits.push(split);
                self.spin.reset();
            }
            self.merge_into_top();
            if !self.arrive() {
                return;
            }
        }
    }

    /// Takes in other splits that stand where the top does.
    fn merge_into_top(&mut self) {
        if self.splits.len() < 2 {
            return;
        }
        let Some(mut top) = self.splits.pop() else { return };
        if self.apart && !top.granted {
            self.splits.push(top);
            return;
        }
        self.splits.retain(|split| {
            let same = split.state == State::Ready
                && (split.pc, split.barrier, split.granted) == (top.pc, top.barrier, top.granted)
                && same_calls(&split.calls, &top.calls);
            if same {
                top.mask |= split.mask;
            }
            !same
        });
        self.splits.push(top);
    }

    /// Lets the top arrive at its barrier if it stands there.
    fn arrive(&mut self) -> bool {
        let Some(split) = self.splits.last() else { return false };
        let index = split.barrier;
        let Some(barrier) = self.barriers.get_mut(usize::from(index)) else { return false };
        if split.pc != barrier.pc || !same_calls(&split.calls, &barrier.calls) {
            return false;
        }
        barrier.arrived |= split.mask;
        self.splits.pop();
        self.spin.regroup();
        self.release_if_complete(index);
        true
    }

    pub(super) fn release_if_complete(&mut self, index: u16) {
        let barrier = &self.barriers[usize::from(index)];
        if barrier.members != 0 && barrier.arrived == barrier.members {
            self.release(index);
        }
    }

    /// Ends the wait of the lanes that have arrived at a barrier; they are no members of it any more.
    fn release(&mut self, index: u16) {
        let barrier = &mut self.barriers[usize::from(index)];
        let (pc, mask, parent, calls) = (barrier.pc, barrier.arrived, barrier.parent, barrier.calls.clone());
        barrier.members &= !mask;
        barrier.arrived = 0;
        let stop = self.barriers.get(usize::from(parent)).map_or(NOWHERE, |parent| parent.pc);
        let state = State::Ready;
        self.splits.push(Split {
            pc,
            mask,
            stop,
            barrier: parent,
            state,
            granted: false,
            calls,
            stuck_since: None,
            place: Place::Running,
            met: false,
            alone: 0,
        });
    }

    /// Lets lanes go that wait at the barrier `from` or one around it, the innermost where any wait.
    pub(super) fn release_waiting(&mut self, from: u16) -> bool {
        let mut index = from;
        while let Some(barrier) = self.barriers.get(usize::from(index)) {
            if barrier.arrived != 0 {
                self.release(index);
                self.settle();
                return true;
            }
            index = barrier.parent;
        }
        false
    }

    /// Lets lanes go that wait at any convergence barrier, when nothing else in their block can run.
    pub(crate) fn release_any(&mut self, divergence: Divergence) -> bool {
        let waiting = self.barriers.iter().rposition(|barrier| barrier.arrived != 0);
        match (divergence, waiting) {
            (Divergence::Converge, Some(index)) => {
                self.release(index as u16);
                self.settle();
                true
            }
            _ => false,
        }
    }
}
