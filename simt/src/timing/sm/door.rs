//! How long the ways out of a scheduler have been closed, since a pipe is busy or its queue full.
//!
//! Many warps can stand before one door. Each of them is told how long it was closed since it came when it goes through, so that
//! nobody has to visit them all each time it closes.

use crate::timing::stall::Stall;

/// A pipe and, of memory instructions, the queue before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Door {
    last: Closing,
    /// Cycles for which it was closed before.
    closed_before: u64,
}

/// The cycles for which one instruction keeps the next from going through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closing {
    from: u64,
    until: u64,
}

impl Door {
    /// The first cycle at which an instruction can go through.
    #[inline]
    pub fn opens_at(&self) -> u64 {
        self.last.until
    }

    /// An instruction goes through at `now`, when it is open, and keeps the pipe busy until a cycle.
    #[inline]
    pub fn close(&mut self, now: u64, until: u64) {
        self.closed_before += self.last.until - self.last.from;
        self.last = Closing { from: now, until: until.max(now) };
    }

    /// The instruction that went through last leaves the queue without room until a cycle.
    #[inline]
    pub fn fill(&mut self, until: u64) {
        self.last.until = self.last.until.max(until);
    }

    /// For how many cycles it has been closed up to `now`, which is not before the last instruction.
    #[inline]
    pub fn closed(&self, now: u64) -> u64 {
        self.closed_before + now.clamp(self.last.from, self.last.until) - self.last.from
    }

    pub fn last_closing(&self) -> Closing {
        self.last
    }
}

impl Closing {
    /// What a warp that stood before the door in `from..until` waited for, in order: from cycle, until cycle. Between closings, which
    /// come in their order, it was not selected.
    pub fn waits(
        closings: impl Iterator<Item = Self>,
        from: u64,
        until: u64,
        closed: Stall,
    ) -> impl Iterator<Item = (u64, u64, Stall)> {
        let end = Self { from: until, until };
        let mut at = from;
        closings.chain([end]).flat_map(move |closing| {
            let start = closing.from.clamp(at, until);
            let end = closing.until.clamp(start, until);
            let waits = [(at, start, Stall::NotSelected), (start, end, closed)];
            at = end;
            waits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_the_cycles_in_which_it_was_closed() {
        let mut door = Door::default();
        door.close(10, 12);
        door.fill(20);
        assert_eq!((door.opens_at(), [10, 11, 15, 90].map(|now| door.closed(now))), (20, [0, 1, 5, 10]));
        door.close(100, 104);
        assert_eq!((door.opens_at(), door.closed(102)), (104, 12));
        door.fill(50);
        assert_eq!((door.opens_at(), door.closed(200)), (104, 14));
    }

    #[test]
    fn an_observer_is_told_of_every_cycle_once() {
        let closings = [(10, 20), (25, 27), (30, 60)].map(|(from, until)| Closing { from, until });
        let waits = |from, until| -> Vec<_> {
            Closing::waits(closings.into_iter(), from, until, Stall::LgThrottle)
                .filter(|wait| wait.0 < wait.1)
                .collect()
        };
        assert_eq!(
            waits(11, 33),
            [
                (11, 20, Stall::LgThrottle),
                (20, 25, Stall::NotSelected),
                (25, 27, Stall::LgThrottle),
                (27, 30, Stall::NotSelected),
                (30, 33, Stall::LgThrottle),
            ]
        );
        assert_eq!(waits(20, 24), [(20, 24, Stall::NotSelected)]);
        assert_eq!(waits(70, 75), [(70, 75, Stall::NotSelected)]);
    }
}
