//! The way of memory instructions out of the schedulers: a queue and an address generator each, one stage that all share.
//!
//! An instruction enters its scheduler's queue when it issues, leaves it when its addresses are generated (at most one in so many
//! cycles), and then passes the SM's shared stage, which it holds for one cycle a line or bank pass. A full queue holds the
//! scheduler's next memory instruction back.

/// Most queue entries a scheduler can have.
const ENTRIES_MAX: usize = 8;

/// Rates of the stages, cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LsuRates {
    pub entries: usize,
    /// Between two address generations of one scheduler.
    pub address_interval: u64,
    /// From an instruction's pass through the shared stage until its queue entry is free.
    pub hold: u64,
    /// Least time an instruction holds the shared stage.
    pub stage_interval: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Lsu {
    rates: LsuRates,
    queues: Vec<Queue>,
    stage_free_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// When each entry is free again, used round robin.
    free_at: [u64; ENTRIES_MAX],
    next: usize,
    address_free_at: u64,
}

impl Lsu {
    pub fn new(rates: LsuRates, schedulers: usize) -> Self {
        let rates = LsuRates { entries: rates.entries.clamp(1, ENTRIES_MAX), ..rates };
        Self { rates, queues: vec![Queue::default(); schedulers], stage_free_at: 0 }
    }

    /// The first cycle at which the scheduler's queue takes another instruction.
    pub fn free_at(&self, scheduler: usize) -> u64 {
        let queue = &self.queues[scheduler];
        queue.free_at[queue.next]
    }

    /// An instruction issued at `now` passes, holding the shared stage for `passes` cycles or more. Says how much later than in an
    /// idle SM it does.
    pub fn pass(&mut self, scheduler: usize, now: u64, passes: u64) -> u64 {
        let queue = &mut self.queues[scheduler];
        let addressed = queue.address_free_at.max(now + 1);
        queue.address_free_at = addressed + self.rates.address_interval;
        let start = self.stage_free_at.max(addressed);
        self.stage_free_at = start + passes.max(self.rates.stage_interval);
        queue.free_at[queue.next] = start + self.rates.hold;
        queue.next = (queue.next + 1) % self.rates.entries;
        start - (now + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lsu() -> Lsu {
        Lsu::new(LsuRates { entries: 5, address_interval: 4, hold: 10, stage_interval: 2 }, 4)
    }

    /// Issue cycles of `count` independent memory instructions on each of the first `active` schedulers, the first at cycle 2.
    fn issues(active: usize, count: usize) -> Vec<u64> {
        let mut lsu = lsu();
        let mut cycles = vec![Vec::new(); active];
        for now in 2.. {
            for (scheduler, issued) in cycles.iter_mut().enumerate() {
                if issued.len() < count && lsu.free_at(scheduler) <= now {
                    lsu.pass(scheduler, now, 1);
                    issued.push(now);
                }
            }
            if cycles.iter().all(|issued| issued.len() == count) {
                return cycles.swap_remove(0);
            }
        }
        Vec::new()
    }

    #[test]
    fn five_issue_back_to_back_and_the_sixth_waits() {
        let cycles = issues(1, 9);
        assert_eq!(cycles[..5], [2, 3, 4, 5, 6]);
        assert_eq!(cycles[5..], [13, 17, 21, 25], "Huerta et al., Table 1: 13, then every 4 cycles");
    }

    #[test]
    fn the_shared_stage_slows_down_three_and_four_schedulers() {
        let spacing = |active| {
            let cycles = issues(active, 40);
            cycles[39] - cycles[38]
        };
        assert_eq!([spacing(1), spacing(2), spacing(3), spacing(4)], [4, 4, 6, 8], "Huerta et al., Table 1");
    }

    #[test]
    fn an_access_of_many_passes_holds_up_the_others() {
        let mut lsu = lsu();
        assert_eq!(lsu.pass(0, 10, 32), 0);
        assert_eq!(lsu.pass(1, 10, 1), 32);
        assert_eq!(lsu.pass(2, 100, 1), 0);
    }
}
