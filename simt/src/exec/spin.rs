//! Finding out that a warp goes round a loop for nothing.
//!
//! A spinning warp comes back to a branch with the same registers while memory has not changed: then it will do so until
//! someone else changes memory. The watch looks for that exactly, by comparing with a snapshot of the registers, and rarely: it
//! starts after many backward branches in a row, compares for a while, and waits twice as long before the next try, so that
//! long loops that do compute pay next to nothing.

use crate::isa::{Lanes, Mask, Pc};

/// Taken backward branches after which a split gives way to others even where it is not known to spin.
pub(crate) const GIVE_WAY_BRANCHES: u32 = 1 << 16;
/// Taken backward branches before the first snapshot.
const FIRST_SNAPSHOT: u32 = 128;
/// Backward branches during which a snapshot is compared with: the longest period, in branches, that is found.
const WINDOW: u32 = 64;

/// Counts the backward branches that a warp takes without exit, barrier or change of turn.
#[derive(Clone, Debug)]
pub(crate) struct SpinWatch {
    taken: u32,
    /// Of these, the ones since lanes last parted or met.
    alone: u32,
    /// `check` has something to do from here on.
    due: u32,
    window_end: u32,
    snapshot: Option<Box<Snapshot>>,
}

#[derive(Clone, Debug)]
struct Snapshot {
    splits: Vec<(Pc, Mask)>,
    changes: u64,
    slots: Vec<Lanes>,
    preds: Vec<Mask>,
    /// A slot that was another one when last compared: it tells most comparisons without the rest.
    changed: usize,
}

impl Snapshot {
    fn has_same(&mut self, slots: &[Lanes], preds: &[Mask]) -> bool {
        if self.preds != preds || self.slots.get(self.changed) != slots.get(self.changed) {
            return false;
        }
        match self.slots.iter().zip(slots).position(|(old, new)| old != new) {
            Some(changed) => self.changed = changed,
            None => return true,
        }
        false
    }
}

impl Default for SpinWatch {
    fn default() -> Self {
        Self { taken: 0, alone: 0, due: FIRST_SNAPSHOT, window_end: 0, snapshot: None }
    }
}

impl SpinWatch {
    /// Starts anew.
    #[inline]
    pub fn reset(&mut self) {
        if self.taken > 0 {
            *self = Self::default();
        }
    }

    /// Lanes parted or met: others have had their turn.
    #[inline]
    pub fn regroup(&mut self) {
        self.alone = 0;
    }

    /// Counts a taken backward branch; true where [`SpinWatch::check`] is due.
    #[inline]
    pub fn count(&mut self) -> bool {
        self.taken = self.taken.saturating_add(1);
        self.alone = self.alone.saturating_add(1);
        self.is_due()
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.taken >= self.due
    }

    /// Whether the split gives way by number of branches alone.
    pub fn is_long(&self) -> bool {
        self.alone >= GIVE_WAY_BRANCHES
    }

    /// Whether the warp is exactly where it was at the snapshot, registers and memory included. Takes a snapshot if there is
    /// none, and drops it after a while.
    pub fn check(
        &mut self,
        splits: impl Iterator<Item = (Pc, Mask)> + Clone,
        changes: u64,
        slots: &[Lanes],
        preds: &[Mask],
    ) -> bool {
        match &mut self.snapshot {
            Some(old) => {
                let same = old.changes == changes && splits.eq(old.splits.iter().copied());
                if same && old.has_same(slots, preds) {
                    return true;
                }
                if self.taken >= self.window_end {
                    self.snapshot = None;
                    self.due = self.taken.saturating_add(self.taken.min(GIVE_WAY_BRANCHES / 2));
                }
            }
            None => {
                let (splits, slots, preds) = (splits.collect(), slots.to_vec(), preds.to_vec());
                self.snapshot = Some(Box::new(Snapshot { splits, changes, slots, preds, changed: 0 }));
                self.window_end = self.taken.saturating_add(WINDOW);
            }
        }
        false
    }
}
