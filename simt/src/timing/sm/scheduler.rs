//! One warp scheduler: which of its warps issues in a cycle.
//!
//! It stays with the warp that issued last while that one can go on; else the youngest that can takes its turn.

use crate::timing::stall::Moment;

/// Most warps a scheduler holds (64 a SM, four schedulers).
pub(crate) const PLACES_MAX: usize = 16;

/// A warp's place at a scheduler is empty.
const EMPTY: u16 = u16::MAX;
/// Later than everything: a warp that waits for other warps, or no warp.
pub(crate) const BLOCKED: Moment = Moment::unknown(u32::MAX, crate::timing::stall::Stall::Barrier);

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// When each place's warp can issue.
    ready: [Moment; PLACES_MAX],
    /// Order of arrival; a greater number is a younger warp.
    age: [u64; PLACES_MAX],
    warp: [u16; PLACES_MAX],
    places: usize,
    count: usize,
    last: usize,
    /// First cycle at which the issue slot is free.
    issue_free_at: u64,
    /// First cycle at which a warp can issue; `u64::MAX` where none can before something happens.
    next: u64,
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
            age: [0; PLACES_MAX],
            warp: [EMPTY; PLACES_MAX],
            places: places.clamp(1, PLACES_MAX),
            count: 0,
            last: 0,
            issue_free_at: 0,
            next: u64::MAX,
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

    /// Takes a warp in, which can issue from `ready` on. Gives its place; `None` if there is none left.
    pub fn add(&mut self, warp: u16, age: u64, ready: Moment) -> Option<usize> {
        let place = self.warp[..self.places].iter().position(|warp| *warp == EMPTY)?;
        (self.warp[place], self.age[place]) = (warp, age);
        self.count += 1;
        self.set_ready(place, ready);
        Some(place)
    }

    pub fn remove(&mut self, place: usize) {
        (self.warp[place], self.ready[place]) = (EMPTY, BLOCKED);
        self.count -= 1;
        self.find_next();
    }

    pub fn warp_at(&self, place: usize) -> usize {
        self.warp[place].into()
    }

    pub fn ready(&self, place: usize) -> Moment {
        self.ready[place]
    }

    pub fn set_ready(&mut self, place: usize, ready: Moment) {
        self.ready[place] = ready;
        self.find_next();
    }

    /// First cycle at which one of its warps can issue.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The place of the warp whose turn it is at `now`.
    pub fn pick(&self, now: u64) -> Option<usize> {
        if self.ready[self.last].is_by(now) {
            return Some(self.last);
        }
        let mut youngest = None;
        let mut age = 0;
        for place in 0..self.places {
            if self.ready[place].is_by(now) && self.age[place] >= age {
                (youngest, age) = (Some(place), self.age[place]);
            }
        }
        youngest
    }

    /// The warp at a place has issued at `now` and takes the issue slot for `cycles`.
    pub fn issued(&mut self, place: usize, now: u64, cycles: u64) {
        self.last = place;
        self.issue_free_at = now + cycles;
        self.issued_cycles += cycles;
    }

    /// One warp that waits for nothing but the issue slot settles it; most often there is one.
    fn find_next(&mut self) {
        let mut earliest = BLOCKED;
        for ready in &self.ready[..self.places] {
            if ready.is_by(self.issue_free_at) {
                self.next = self.issue_free_at;
                return;
            }
            earliest = earliest.min(*ready);
        }
        self.next = earliest.cycle().unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::stall::Stall;

    fn at(cycle: u64) -> Moment {
        Moment::at(cycle, Stall::Wait)
    }

    #[test]
    fn it_stays_with_a_warp_and_else_takes_the_youngest() {
        let mut scheduler = Scheduler::new(4);
        let places: Vec<usize> = (0..3).map(|n| scheduler.add(n, n.into(), at(10)).unwrap()).collect();
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
        let place = scheduler.add(0, 0, at(5)).unwrap();
        scheduler.issued(place, 5, 20);
        scheduler.set_ready(place, at(9));
        assert_eq!((scheduler.next(), scheduler.issued_cycles), (25, 20));
    }

    #[test]
    fn places_run_out() {
        let mut scheduler = Scheduler::new(2);
        assert!(scheduler.add(7, 0, at(1)).is_some() && scheduler.add(8, 1, BLOCKED).is_some());
        assert_eq!(scheduler.add(9, 2, at(1)), None);
        assert_eq!(scheduler.warp_at(0), 7);
    }
}
