//! Whose turn it is when a warp runs SASS: what an H200 does, found with kernels whose warps diverge in many ways
//! (`tests/tests/divergence` holds the machine to the instructions that it executed of them).
//!
//! - Of the two sides of a branch the one with fewer lanes runs first; of equal ones the one that goes straight on.
//! - The other side is set aside. When the running lanes end or wait, the side that was set aside runs, as it is.
//! - There is room for one side. At the next branch the one before goes to a pool, where lanes have nothing but their program
//!   counters. When nothing is set aside, whoever came to the pool last runs, and with them all lanes of the same program counter:
//!   also those that wait at the very BSYNC there, which execute it once more.
//! - Lanes whose BSYNC is complete because others exited or broke out of it execute it once more, too.

use super::warp::{Split, State, Warp};
use crate::isa::{Mask, Pc};

/// Where a split of a warp that runs SASS stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Running,
    Aside,
    Pool,
}

impl Warp {
    /// Divides the running split at a branch. The part that goes straight on stands first.
    pub(super) fn part_as_chip(&mut self, parts: &mut [(Pc, Mask)]) {
        let Some(split) = self.splits.pop() else { return };
        parts.sort_by_key(|(_, lanes)| lanes.count_ones());
        for aside in self.splits.iter_mut().filter(|split| split.place == Place::Aside) {
            aside.place = Place::Pool;
        }
        for (index, (pc, mask)) in parts.iter().enumerate().rev() {
            let place = match index {
                0 => Place::Running,
                1 => Place::Aside,
                _ => Place::Pool,
            };
            self.splits.push(Split { pc: *pc, mask: *mask, place, ..split.clone() });
        }
        self.spin.regroup();
    }

    /// As [`Warp::part_as_chip`], of groups that go on at one place and are not to be taken together there.
    pub(super) fn part_alone(&mut self, parts: &mut [(Pc, Mask)]) {
        if let Some(split) = self.splits.last_mut() {
            split.granted = false;
        }
        self.part_as_chip(parts);
        self.splits.iter_mut().rev().take(parts.len()).for_each(|split| split.alone = split.mask);
    }

    /// Makes the split that runs next the last of the list, if one can run.
    pub(super) fn choose_as_chip(&mut self) {
        self.join_met();
        if self.splits.last().is_some_and(|split| split.state == State::Ready && split.place == Place::Running) {
            return;
        }
        for split in self.splits.iter_mut().filter(|split| split.place == Place::Running) {
            split.place = Place::Pool;
        }
        let last =
            |place: Place| self.splits.iter().rposition(|split| split.state == State::Ready && split.place == place);
        let (aside, pool) = (last(Place::Aside), last(Place::Pool));
        let Some(index) = aside.or(pool) else { return };
        let mut top = self.splits.remove(index);
        top.place = Place::Running;
        if aside.is_none() {
            self.take_in_all_at(&mut top);
        }
        self.splits.push(top);
        self.spin.reset();
    }

    /// Takes in all lanes with the program counter of a split that comes from the pool.
    fn take_in_all_at(&mut self, top: &mut Split) {
        self.splits.retain(|split| {
            let same = match split.state {
                State::Ready => (split.pc, split.granted, split.alone) == (top.pc, top.granted, top.alone),
                State::Meeting(_) => split.pc == top.pc + 1,
                _ => false,
            };
            if same {
                top.mask |= split.mask;
            }
            !same
        });
    }

    /// Lanes that have met become one split, the running one where that is among them.
    fn join_met(&mut self) {
        while let Some(at) = self.splits.iter().rposition(|split| split.met) {
            let mut joined = self.splits[at].clone();
            (joined.met, joined.mask) = (false, 0);
            self.splits.retain(|split| {
                let same = split.met && split.pc == joined.pc;
                if same {
                    joined.mask |= split.mask;
                }
                if same && split.place == Place::Running {
                    joined.place = Place::Running;
                }
                !same
            });
            self.splits.push(joined);
        }
    }
}
