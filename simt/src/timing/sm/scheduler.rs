//! One warp scheduler: which of its warps issues in a cycle.
//!
//! It stays with the warp that issued last while that one can go on; else the youngest that can takes its turn.

use crate::timing::stall::{Moment, Stall};

/// Most warps a scheduler holds (64 a SM, four schedulers).
pub(crate) const PLACES_MAX: usize = 16;

/// A warp's place at a scheduler is empty.
const EMPTY: u16 = u16::MAX;
/// Later than everything: a warp that waits for other warps, or no warp.
pub(crate) const BLOCKED: Moment = Moment::unknown(u32::MAX, Stall::Barrier);

/// Rank of a place without a warp.
const NO_RANK: u8 = 31;

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// When each place's warp can issue.
    ready: [Moment; PLACES_MAX],
    warp: [u16; PLACES_MAX],
    /// What each place's warp is said to wait for, if its next instruction needs nothing but room on the way of memory
    /// instructions.
    queues_for: [Option<Stall>; PLACES_MAX],
    /// Places by rank: youngest warp first; the first `count` count.
    order: [u8; PLACES_MAX],
    /// The rank of each place.
    rank: [u8; PLACES_MAX],
    places: usize,
    count: usize,
    last: usize,
    /// Ranks whose warps were seen to be ready, one bit each.
    awake: u32,
    /// When the first of the others is.
    wake_at: Moment,
    /// `wake_at` is to be found again.
    is_stale: bool,
    /// First cycle at which the issue slot is free.
    issue_free_at: u64,
    /// Until when each pipe is busy, by [`crate::device::Pipe`].
    pub pipe_free_at: [u64; crate::device::Pipe::COUNT],
    /// Until when each bank of its registers is being read.
    pub bank_free_at: [u64; 2],
    /// Cycles in which it issued.
    pub issued_cycles: u64,
}

impl Scheduler {
    pub fn new(places: usize) -> Self {
        Self {
            ready: [BLOCKED; PLACES_MAX],
            warp: [EMPTY; PLACES_MAX],
            queues_for: [None; PLACES_MAX],
            order: [0; PLACES_MAX],
            rank: [NO_RANK; PLACES_MAX],
            places: places.clamp(1, PLACES_MAX),
            count: 0,
            last: 0,
            awake: 0,
            wake_at: BLOCKED,
            is_stale: false,
            issue_free_at: 0,
            pipe_free_at: [0; crate::device::Pipe::COUNT],
            bank_free_at: [0; 2],
            issued_cycles: 0,
        }
    }

    /// Whether the warp at a place issued last.
    pub fn issued_last(&self, place: usize) -> bool {
        self.last == place
    }

    /// Warps it holds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes a warp in, younger than all it has, which can issue from `ready` on. Gives its place; `None` if there is none left.
    pub fn add(&mut self, warp: u16, ready: Moment) -> Option<usize> {
        let place = self.warp[..self.places].iter().position(|warp| *warp == EMPTY)?;
        self.warp[place] = warp;
        self.order.copy_within(..self.count, 1);
        self.order[0] = place as u8;
        self.count += 1;
        self.awake <<= 1;
        self.number(0);
        self.set_ready(place, ready);
        Some(place)
    }

    pub fn remove(&mut self, place: usize) {
        let rank = usize::from(std::mem::replace(&mut self.rank[place], NO_RANK));
        if rank >= self.count {
            return;
        }
        (self.warp[place], self.ready[place]) = (EMPTY, BLOCKED);
        self.order.copy_within(rank + 1..self.count, rank);
        self.count -= 1;
        let younger = (1 << rank) - 1;
        self.awake = self.awake & younger | self.awake >> 1 & !younger;
        self.number(rank);
        self.is_stale = true;
    }

    /// Tells places their rank, from the one of this rank on.
    fn number(&mut self, first: usize) {
        for rank in first..self.count {
            self.rank[usize::from(self.order[rank])] = rank as u8;
        }
    }

    pub fn warp_at(&self, place: usize) -> usize {
        self.warp[place].into()
    }

    pub fn ready(&self, place: usize) -> Moment {
        self.ready[place]
    }

    pub fn set_ready(&mut self, place: usize, ready: Moment) {
        self.hold(place, ready, None);
    }

    /// As [`Scheduler::set_ready`]; `queues_for`: the next instruction needs nothing but room on the way of memory instructions.
    #[inline]
    pub fn hold(&mut self, place: usize, until: Moment, queues_for: Option<Stall>) {
        let before = std::mem::replace(&mut self.ready[place], until);
        self.queues_for[place] = queues_for;
        self.awake &= !(1 << self.rank[place]);
        self.is_stale |= before == self.wake_at;
        self.wake_at = self.wake_at.min(until);
    }

    /// What the warp at a place waits for, if its next instruction needs nothing but room on the way of memory instructions.
    #[inline]
    pub fn queues_for(&self, place: usize) -> Option<Stall> {
        self.queues_for[place]
    }

    /// First cycle at which one of its warps can issue; `u64::MAX` where none can before something happens.
    #[inline]
    pub fn next(&mut self) -> u64 {
        if self.is_stale {
            self.look(self.issue_free_at);
        }
        if self.awake != 0 {
            return self.issue_free_at;
        }
        self.wake_at.cycle().map_or(u64::MAX, |cycle| cycle.max(self.issue_free_at))
    }

    /// The place of the warp whose turn it is at `now`, when the issue slot is free.
    #[inline]
    pub fn pick(&mut self, now: u64) -> Option<usize> {
        if self.is_stale || self.wake_at.is_by(now) {
            self.look(now);
        }
        if self.awake >> self.rank[self.last] & 1 != 0 {
            return Some(self.last);
        }
        (self.awake != 0).then(|| self.order[self.awake.trailing_zeros() as usize % PLACES_MAX].into())
    }

    /// Looks which warps are ready by `now`, and when the next one is.
    fn look(&mut self, now: u64) {
        (self.awake, self.wake_at, self.is_stale) = (0, BLOCKED, false);
        for rank in 0..self.count {
            let ready = self.ready[usize::from(self.order[rank]) % PLACES_MAX];
            // Without a branch: nobody could foretell it.
            let is_ready = ready.is_by(now);
            self.awake |= u32::from(is_ready) << rank;
            self.wake_at = self.wake_at.min(if is_ready { BLOCKED } else { ready });
        }
    }

    /// The warp at a place has issued at `now` and takes the issue slot for `cycles`.
    pub fn issued(&mut self, place: usize, now: u64, cycles: u64) {
        self.last = place;
        self.issue_free_at = now + cycles;
        self.issued_cycles += cycles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycle: u64) -> Moment {
        Moment::at(cycle, Stall::Wait)
    }

    #[test]
    fn it_stays_with_a_warp_and_else_takes_the_youngest() {
        let mut scheduler = Scheduler::new(4);
        let places: Vec<usize> = (0..3).map(|n| scheduler.add(n, at(10)).unwrap()).collect();
        assert_eq!(scheduler.next(), 10);
        assert_eq!(scheduler.pick(9), None);
        scheduler.issued(places[1], 10, 1);
        assert_eq!(scheduler.pick(11), Some(places[1]), "the one that issued last");
        scheduler.set_ready(places[1], at(20));
        assert_eq!(scheduler.pick(11), Some(places[2]), "the youngest");
        scheduler.set_ready(places[2], BLOCKED);
        assert_eq!(scheduler.pick(11), Some(places[0]));
        scheduler.remove(places[0]);
        assert_eq!((scheduler.pick(11), scheduler.next(), scheduler.count()), (None, 20, 2));
    }

    #[test]
    fn the_issue_slot_holds_everybody_back() {
        let mut scheduler = Scheduler::new(2);
        let place = scheduler.add(0, at(5)).unwrap();
        scheduler.issued(place, 5, 20);
        scheduler.set_ready(place, at(9));
        assert_eq!((scheduler.next(), scheduler.issued_cycles), (25, 20));
    }

    #[test]
    fn places_run_out() {
        let mut scheduler = Scheduler::new(2);
        assert!(scheduler.add(7, at(1)).is_some() && scheduler.add(8, BLOCKED).is_some());
        assert_eq!(scheduler.add(9, at(1)), None);
        assert_eq!(scheduler.warp_at(0), 7);
    }
}
