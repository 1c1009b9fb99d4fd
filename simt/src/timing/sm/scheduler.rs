//! One warp scheduler: which of its warps issues in a cycle.
//!
//! It stays with the warp that issued last while that one can go on; else the youngest that can takes its turn.

use crate::device::Pipe;
use crate::timing::stall::{Moment, Stall};

use super::door::{Closing, Door};

/// Most warps a scheduler holds (64 a SM, four schedulers).
pub(crate) const PLACES_MAX: usize = 16;

/// A warp's place at a scheduler is empty.
const EMPTY: u16 = u16::MAX;
/// Later than everything: a warp that waits for other warps, or no warp.
pub(crate) const BLOCKED: Moment = Moment::unknown(u32::MAX, Stall::Barrier);

/// Rank of a place without a warp.
const NO_RANK: u8 = 31;

/// A warp that stands before a door: its next instruction needs nothing but that a pipe takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub pipe: Pipe,
    /// What it is said to wait for while the door is closed.
    pub stall: Stall,
    /// For how long the door had been closed when it came.
    pub closed: u64,
    /// How many closings were over then, if an observer is to be told.
    closings: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// When each warp can issue, by rank: youngest warp first. The first `count` count.
    ready: [Moment; PLACES_MAX],
    /// Places by rank.
    order: [u8; PLACES_MAX],
    /// The rank of each place.
    rank: [u8; PLACES_MAX],
    /// The warp at each place.
    warp: [u16; PLACES_MAX],
    places: usize,
    count: usize,
    last: usize,
    /// Ranks whose warps were seen to be ready, one bit each.
    awake: u32,
    /// Those of them that stand before a door.
    queued: u32,
    /// Those before the door of each pipe.
    before: [u32; Pipe::COUNT],
    /// Pipes before which somebody may stand, one bit each.
    doors_asked: u32,
    /// When the first of the others is ready.
    wake_at: Moment,
    /// `wake_at` is to be found again.
    is_stale: bool,
    /// First cycle at which the issue slot is free.
    issue_free_at: u64,
    /// What [`Scheduler::next`] said last; `None` once something has changed.
    next: Option<u64>,
    doors: [Door; Pipe::COUNT],
    /// At which door each place's warp stands, if it does.
    queued_at: [Option<Queued>; PLACES_MAX],
    /// All closings that are over, if an observer is to be told.
    closings: Option<Vec<(Pipe, Closing)>>,
    /// Until when each bank of its registers is being read.
    pub bank_free_at: [u64; 2],
    /// Cycles in which it issued.
    pub issued_cycles: u64,
}

impl Scheduler {
    /// `is_watched`: it writes down what [`Scheduler::closings_since`] tells.
    pub fn new(places: usize, is_watched: bool) -> Self {
        Self {
            ready: [BLOCKED; PLACES_MAX],
            order: [0; PLACES_MAX],
            rank: [NO_RANK; PLACES_MAX],
            warp: [EMPTY; PLACES_MAX],
            places: places.clamp(1, PLACES_MAX),
            count: 0,
            last: 0,
            awake: 0,
            queued: 0,
            before: [0; Pipe::COUNT],
            doors_asked: 0,
            wake_at: BLOCKED,
            is_stale: false,
            issue_free_at: 0,
            next: None,
            doors: [Door::default(); Pipe::COUNT],
            queued_at: [None; PLACES_MAX],
            closings: is_watched.then(Vec::new),
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
        self.ready.copy_within(..self.count, 1);
        (self.order[0], self.ready[0]) = (place as u8, BLOCKED);
        self.count += 1;
        self.ranks(|ranks| ranks << 1);
        self.number(0);
        self.set_ready(place, ready);
        Some(place)
    }

    pub fn remove(&mut self, place: usize) {
        let rank = usize::from(std::mem::replace(&mut self.rank[place], NO_RANK));
        if rank >= self.count {
            return;
        }
        (self.warp[place], self.queued_at[place], self.next) = (EMPTY, None, None);
        self.order.copy_within(rank + 1..self.count, rank);
        self.ready.copy_within(rank + 1..self.count, rank);
        self.count -= 1;
        let younger = (1 << rank) - 1;
        self.ranks(|ranks| ranks & younger | ranks >> 1 & !younger);
        self.number(rank);
        self.is_stale = true;
    }

    /// Renumbers sets of ranks.
    fn ranks(&mut self, renumbered: impl Fn(u32) -> u32) {
        for ranks in self.before.iter_mut().chain([&mut self.awake, &mut self.queued]) {
            *ranks = renumbered(*ranks);
        }
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
        self.ready[usize::from(self.rank[place]) % PLACES_MAX]
    }

    /// The warp at a place can issue from `ready` on.
    #[inline]
    pub fn set_ready(&mut self, place: usize, ready: Moment) {
        let rank = self.rank[place];
        let before = std::mem::replace(&mut self.ready[usize::from(rank) % PLACES_MAX], ready);
        self.awake &= !(1 << rank);
        self.is_stale |= before == self.wake_at;
        self.wake_at = self.wake_at.min(ready);
        self.next = None;
    }

    /// First cycle at which one of its warps can issue; `u64::MAX` where none can before something happens.
    #[inline]
    pub fn next(&mut self) -> u64 {
        match self.next {
            Some(next) => next,
            None => self.find_next(),
        }
    }

    fn find_next(&mut self) -> u64 {
        if self.is_stale {
            self.look(self.issue_free_at);
        }
        let next = if self.awake & !self.queued != 0 {
            self.issue_free_at
        } else {
            let woken = self.wake_at.cycle().unwrap_or(u64::MAX);
            woken.min(self.first_door()).max(self.issue_free_at)
        };
        self.next = Some(next);
        next
    }

    /// The place of the warp whose turn it is at `now`, when the issue slot is free.
    #[inline]
    pub fn pick(&mut self, now: u64) -> Option<usize> {
        if self.is_stale || self.wake_at.is_by(now) {
            self.look(now);
        }
        let able = self.awake & !self.shut_out(now);
        if able >> self.rank[self.last] & 1 != 0 {
            return Some(self.last);
        }
        (able != 0).then(|| self.order[able.trailing_zeros() as usize % PLACES_MAX].into())
    }

    /// Looks which warps are ready by `now`, and when the next one is.
    fn look(&mut self, now: u64) {
        let limit = Moment::after(now);
        let (mut awake, mut later) = (0, BLOCKED.distance_from(limit));
        for (rank, ready) in self.ready[..self.count].iter().enumerate() {
            // Without a branch, which nobody could foretell: what is ready is before the limit, and wraps around.
            let distance = ready.distance_from(limit);
            awake |= u32::from(*ready < limit) << rank;
            later = later.min(distance);
        }
        self.awake = awake;
        self.wake_at = limit.at_distance(later);
        self.is_stale = false;
    }

    /// The warp at a place has issued at `now` and takes the issue slot for `cycles`.
    pub fn issued(&mut self, place: usize, now: u64, cycles: u64) {
        self.last = place;
        self.next = None;
        self.issue_free_at = now + cycles;
        self.issued_cycles += cycles;
    }

    /// The door of a pipe.
    pub fn door(&self, pipe: Pipe) -> &Door {
        &self.doors[pipe as usize]
    }

    /// An instruction goes to its pipe, which it keeps busy.
    #[inline]
    pub fn close(&mut self, pipe: Pipe, now: u64, until: u64) {
        let door = &mut self.doors[pipe as usize];
        if let Some(closings) = &mut self.closings {
            closings.push((pipe, door.last_closing()));
        }
        door.close(now, until);
    }

    /// The instruction that went to the pipe last leaves its queue without room until a cycle.
    #[inline]
    pub fn fill(&mut self, pipe: Pipe, until: u64) {
        self.next = None;
        self.doors[pipe as usize].fill(until);
    }

    /// The warp at a place, which is ready, stands before a closed door from `now` on.
    pub fn queue(&mut self, place: usize, pipe: Pipe, stall: Stall, now: u64) {
        let closed = self.door(pipe).closed(now);
        let closings = self.closings.as_ref().map_or(0, Vec::len) as u32;
        self.queued_at[place] = Some(Queued { pipe, stall, closed, closings });
        let rank = self.rank[place];
        // Whenever one looks, it is ready.
        self.ready[usize::from(rank) % PLACES_MAX] = Moment::START;
        self.queued |= 1 << rank;
        self.before[pipe as usize] |= 1 << rank;
        self.doors_asked |= 1 << pipe as u32;
        self.next = None;
    }

    /// Takes the warp at a place away from its door.
    #[inline]
    pub fn take_queued(&mut self, place: usize) -> Option<Queued> {
        let bit = 1_u32 << self.rank[place];
        if self.queued & bit == 0 {
            return None;
        }
        let queued = self.queued_at[place].take()?;
        self.next = None;
        self.queued &= !bit;
        self.before[queued.pipe as usize] &= !bit;
        Some(queued)
    }

    /// Closings of a warp's door since it came, the one of that time included.
    pub fn closings_since(&self, queued: &Queued) -> impl Iterator<Item = Closing> {
        let (pipe, since) = (queued.pipe, queued.closings as usize);
        let over = self.closings.iter().flat_map(move |closings| &closings[since..]);
        let own = over.filter(move |(of, _)| *of == pipe).map(|(_, closing)| *closing);
        own.chain([self.door(pipe).last_closing()])
    }

    /// Ranks that stand before doors which are closed at `now`.
    #[inline]
    fn shut_out(&self, now: u64) -> u32 {
        if self.queued == 0 {
            return 0;
        }
        self.asked().filter(|pipe| self.doors[*pipe].opens_at() > now).fold(0, |ranks, pipe| ranks | self.before[pipe])
    }

    /// When the first door opens before which somebody stands.
    #[inline]
    fn first_door(&mut self) -> u64 {
        if self.queued == 0 {
            return u64::MAX;
        }
        self.asked().map(|pipe| self.doors[pipe].opens_at()).min().unwrap_or(u64::MAX)
    }

    /// Pipes before which somebody stands.
    #[inline]
    fn asked(&self) -> impl Iterator<Item = usize> {
        let mut rest = self.doors_asked;
        std::iter::from_fn(move || {
            let pipe = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (pipe < Pipe::COUNT).then_some(pipe)
        })
        .filter(|pipe| self.before[*pipe] != 0)
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
        let mut scheduler = Scheduler::new(4, false);
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
        let mut scheduler = Scheduler::new(2, false);
        let place = scheduler.add(0, at(5)).unwrap();
        scheduler.issued(place, 5, 20);
        scheduler.set_ready(place, at(9));
        assert_eq!((scheduler.next(), scheduler.issued_cycles), (25, 20));
    }

    #[test]
    fn a_warp_before_a_door_is_not_asked_before_it_opens_whenever_one_looks() {
        let mut scheduler = Scheduler::new(2, false);
        let [other, waiting] = [(0, 1), (1, 9)].map(|(warp, ready)| scheduler.add(warp, at(ready)).unwrap());
        scheduler.close(Pipe::Lsu, 0, 20);
        scheduler.issued(other, 1, 1);
        scheduler.set_ready(other, BLOCKED);
        assert_eq!(scheduler.pick(9), Some(waiting));
        scheduler.queue(waiting, Pipe::Lsu, Stall::LgThrottle, 9);
        // One looks from the cycle in which the slot was free, before the warp was ready.
        scheduler.remove(other);
        assert_eq!((scheduler.next(), scheduler.pick(9), scheduler.pick(20)), (20, None, Some(waiting)));
    }

    #[test]
    fn warps_before_a_closed_door_let_others_go_first() {
        let mut scheduler = Scheduler::new(4, false);
        let [old, middle, young] = [0, 1, 2].map(|warp| scheduler.add(warp, at(1)).unwrap());
        scheduler.close(Pipe::Lsu, 5, 7);
        scheduler.fill(Pipe::Lsu, 20);
        scheduler.issued(old, 5, 1);
        scheduler.queue(young, Pipe::Lsu, Stall::LgThrottle, 6);
        assert_eq!(scheduler.pick(6), Some(old), "the one that issued last");
        scheduler.set_ready(old, at(50));
        assert_eq!((scheduler.next(), scheduler.pick(6)), (6, Some(middle)), "the youngest that stands before no door");
        scheduler.queue(middle, Pipe::Lsu, Stall::LgThrottle, 6);
        assert_eq!((scheduler.pick(6), scheduler.next()), (None, 20));
        scheduler.remove(middle);
        assert_eq!((scheduler.next(), scheduler.pick(20)), (20, Some(young)));
        let queued = scheduler.take_queued(young).unwrap();
        assert_eq!((queued.closed, scheduler.door(Pipe::Lsu).closed(20)), (1, 15));
        assert!(scheduler.take_queued(young).is_none());
    }

    #[test]
    fn places_run_out() {
        let mut scheduler = Scheduler::new(2, false);
        assert!(scheduler.add(7, at(1)).is_some() && scheduler.add(8, BLOCKED).is_some());
        assert_eq!(scheduler.add(9, at(1)), None);
        assert_eq!(scheduler.warp_at(0), 7);
    }
}
