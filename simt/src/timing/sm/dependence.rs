//! The dependence counters of a warp: what is still out, and when it will be back.

use crate::isa::DEPENDENCE_COUNTERS;
use crate::timing::control::{Counters, NO_COUNTER};
use crate::timing::stall::{Moment, Stall};

use super::BOUNDARY_TOKEN;

/// Bit of what no counter guards: whatever the warp does next waits for the boundary.
const UNGUARDED: u8 = 1 << 7;

/// The six counters. Of each it is enough to know when the last thing that raised it is back, unless a `DEPBAR` waits for less
/// than all; then each thing is kept.
#[derive(Debug, Default)]
pub(crate) struct Dependence {
    /// When each counter is zero, of what is known.
    zero_at: [Moment; DEPENDENCE_COUNTERS],
    /// Counters that wait for something which the boundary decides, one bit each.
    undecided: u8,
    /// Where things are kept one by one: counter and moment.
    each: Vec<(u8, Moment)>,
    keeps_each: bool,
}

impl Dependence {
    /// `keeps_each`: for code that waits for less than all of a counter.
    pub fn new(keeps_each: bool) -> Self {
        Self { keeps_each, ..Self::default() }
    }

    /// All counters are zero.
    pub fn start(&mut self) {
        (self.zero_at, self.undecided) = ([Moment::START; DEPENDENCE_COUNTERS], 0);
        self.each.clear();
    }

    /// When all that an instruction waits for is back.
    #[inline]
    pub fn needed(&self, counters: &Counters) -> Moment {
        if self.undecided & (counters.wait_mask | UNGUARDED) != 0 {
            return Moment::unknown(BOUNDARY_TOKEN, Stall::LongScoreboard);
        }
        let mut mask = counters.wait_mask;
        let mut needed = Moment::START;
        while mask != 0 {
            needed = needed.max(self.zero_at[mask.trailing_zeros() as usize % DEPENDENCE_COUNTERS]);
            mask &= mask - 1;
        }
        match counters.at_most {
            Some((counter, limit)) => needed.max(self.down_to(counter, limit.into())),
            None => needed,
        }
    }

    /// When no more than `limit` things are out on a counter.
    fn down_to(&self, counter: u8, limit: usize) -> Moment {
        let mut moments: Vec<Moment> = self.each.iter().filter(|(of, _)| *of == counter).map(|(_, at)| *at).collect();
        moments.sort_unstable();
        let back = moments.len().saturating_sub(limit);
        match back.checked_sub(1).map(|last| moments[last]) {
            None => Moment::START,
            Some(moment) if moment.cycle().is_none() => Moment::unknown(BOUNDARY_TOKEN, moment.stall()),
            Some(moment) => moment,
        }
    }

    /// A counter is raised at `now`, and falls at a moment, which may not be known yet.
    pub fn raise(&mut self, counter: u8, falls: Moment, now: u64) {
        if counter == NO_COUNTER {
            return;
        }
        match falls.cycle() {
            Some(_) => {
                let zero_at = &mut self.zero_at[usize::from(counter)];
                *zero_at = (*zero_at).max(falls);
            }
            None => self.undecided |= 1 << counter,
        }
        if self.keeps_each {
            self.each.retain(|(_, at)| !at.is_by(now));
            self.each.push((counter, falls));
        }
    }

    /// A value comes only with the boundary and no counter guards it.
    pub fn hold_back(&mut self) {
        self.undecided |= UNGUARDED;
    }

    /// The boundary has decided when something is back.
    pub fn decide(&mut self, counter: u8, undecided: Moment, falls: Moment) {
        if counter == NO_COUNTER {
            return;
        }
        let zero_at = &mut self.zero_at[usize::from(counter)];
        *zero_at = (*zero_at).max(falls);
        for (of, at) in &mut self.each {
            if *of == counter && *at == undecided {
                *at = falls;
            }
        }
    }

    /// The boundary has decided all.
    pub fn all_decided(&mut self) {
        self.undecided = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycle: u64) -> Moment {
        Moment::at(cycle, Stall::LongScoreboard)
    }

    fn waits(wait_mask: u8) -> Counters {
        Counters { wait_mask, ..Counters::NONE }
    }

    fn at_most(counter: u8, limit: u8) -> Counters {
        Counters { at_most: Some((counter, limit)), ..Counters::NONE }
    }

    #[test]
    fn a_counter_is_zero_when_the_last_that_raised_it_is_back() {
        let mut counters = Dependence::new(false);
        counters.raise(2, at(50), 0);
        counters.raise(2, at(30), 1);
        counters.raise(5, at(70), 2);
        counters.raise(NO_COUNTER, at(900), 3);
        let needed = |mask| counters.needed(&waits(mask)).cycle();
        assert_eq!(
            [needed(0), needed(0b100), needed(0b10_0000), needed(0b10_0100), needed(0b1)],
            [0, 50, 70, 70, 0].map(Some)
        );
    }

    #[test]
    fn what_the_boundary_decides_is_waited_for_without_a_time() {
        let mut counters = Dependence::new(false);
        let unknown = Moment::unknown(3, Stall::LongScoreboard);
        counters.raise(1, unknown, 0);
        assert_eq!((counters.needed(&waits(0b10)).cycle(), counters.needed(&waits(0b1)).cycle()), (None, Some(0)));
        counters.decide(1, unknown, at(400));
        counters.all_decided();
        assert_eq!(counters.needed(&waits(0b10)), at(400));
        counters.raise(1, at(900), 5);
        counters.raise(1, unknown, 6);
        counters.decide(1, unknown, at(700));
        counters.all_decided();
        assert_eq!(counters.needed(&waits(0b10)), at(900), "what is known already may be later");
        counters.hold_back();
        assert_eq!(counters.needed(&waits(0)).cycle(), None);
        counters.start();
        assert_eq!(counters.needed(&waits(0b11_1111)), Moment::START);
    }

    #[test]
    fn a_depbar_lets_the_last_ones_stay_out() {
        let mut counters = Dependence::new(true);
        for (number, cycle) in [60, 40, 80].into_iter().enumerate() {
            counters.raise(0, at(cycle), number as u64);
        }
        counters.raise(1, at(500), 3);
        let needed = |counters: &Dependence, limit| counters.needed(&at_most(0, limit)).cycle();
        assert_eq!([0, 1, 2, 3].map(|limit| needed(&counters, limit)), [80, 60, 40, 0].map(Some));
        let unknown = Moment::unknown(7, Stall::LongScoreboard);
        counters.raise(0, unknown, 4);
        assert_eq!([0, 1, 2].map(|limit| needed(&counters, limit)), [None, Some(80), Some(60)]);
        counters.decide(0, unknown, at(70));
        counters.all_decided();
        assert_eq!([0, 1, 2].map(|limit| needed(&counters, limit)), [80, 70, 60].map(Some));
    }

    #[test]
    fn what_is_back_is_not_kept() {
        let mut counters = Dependence::new(true);
        (0..1000).for_each(|now| counters.raise(0, at(now + 10), now));
        assert!(counters.each.len() < 20);
    }
}
