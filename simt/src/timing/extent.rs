//! What grows with the time that is simulated, as one value: so that it can be taken apart into windows and scaled.

use super::memory::uncore::{Uncore, UncoreCounters};
use super::report::Traffic;
use super::sm::Sm;
use super::stall::StallCycles;

/// Sums over all SMs from the start of a launch, or over a window of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extent {
    pub instructions: u64,
    pub free_instructions: u64,
    /// Scheduler-cycles with an issue.
    pub issued_cycles: u64,
    /// Cycles in which an SM had a warp.
    pub sm_active_cycles: u64,
    pub stalls: StallCycles,
    pub traffic: Traffic,
}

impl Extent {
    /// From the start of the launch until now, with the warp-cycles that were booked by instruction. `sm_active_cycles` is left 0:
    /// placements tell it.
    pub fn now<'s>(sms: impl Iterator<Item = &'s Sm>, stalls_by_pc: &[StallCycles], uncore: &Uncore) -> Self {
        let mut extent = Self {
            traffic: Traffic {
                l2: uncore.counters,
                dram_read_sectors: uncore.dram.sectors_read,
                dram_write_sectors: uncore.dram.sectors_written,
                ..Traffic::default()
            },
            ..Self::default()
        };
        for sm in sms {
            extent.instructions += sm.report.instructions;
            extent.free_instructions += sm.report.free_instructions;
            extent.issued_cycles += sm.issued_cycles();
            let (hits, misses) = sm.l1_sectors();
            extent.traffic.l1_hit_sectors += hits;
            extent.traffic.l1_miss_sectors += misses;
        }
        stalls_by_pc.iter().for_each(|stalls| extent.stalls.merge(stalls));
        extent
    }

    pub fn all_instructions(&self) -> u64 {
        self.instructions + self.free_instructions
    }

    /// Sectors that came into L2: read from memory, or written.
    pub fn sectors_into_l2(&self) -> u64 {
        self.traffic.l2.miss_sectors + self.traffic.l2.write_sectors
    }

    /// What was added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        self.zip(before, |now, before| now.saturating_sub(before))
    }

    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, |one, other| one + other)
    }

    /// So much of each.
    pub fn times(&self, factor: f64) -> Self {
        self.zip(self, |value, _| (value as f64 * factor).round() as u64)
    }

    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let (a, b) = (&self.traffic, &other.traffic);
        Self {
            instructions: f(self.instructions, other.instructions),
            free_instructions: f(self.free_instructions, other.free_instructions),
            issued_cycles: f(self.issued_cycles, other.issued_cycles),
            sm_active_cycles: f(self.sm_active_cycles, other.sm_active_cycles),
            stalls: self.stalls.zip(&other.stalls, &f),
            traffic: Traffic {
                l1_hit_sectors: f(a.l1_hit_sectors, b.l1_hit_sectors),
                l1_miss_sectors: f(a.l1_miss_sectors, b.l1_miss_sectors),
                l2: UncoreCounters {
                    requests: f(a.l2.requests, b.l2.requests),
                    read_sectors: f(a.l2.read_sectors, b.l2.read_sectors),
                    write_sectors: f(a.l2.write_sectors, b.l2.write_sectors),
                    atomic_sectors: f(a.l2.atomic_sectors, b.l2.atomic_sectors),
                    hit_sectors: f(a.l2.hit_sectors, b.l2.hit_sectors),
                    miss_sectors: f(a.l2.miss_sectors, b.l2.miss_sectors),
                },
                dram_read_sectors: f(a.dram_read_sectors, b.dram_read_sectors),
                dram_write_sectors: f(a.dram_write_sectors, b.dram_write_sectors),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::Stall;

    #[test]
    fn a_window_scaled_and_added_again() {
        let mut before = Extent { instructions: 10, issued_cycles: 7, ..Extent::default() };
        before.stalls.add(Stall::Wait, 5);
        before.traffic.l2.miss_sectors = 100;
        let mut after = Extent { instructions: 30, issued_cycles: 8, ..before };
        after.stalls.add(Stall::Wait, 2);
        after.stalls.add(Stall::Drain, 4);
        after.traffic.l2.miss_sectors = 101;
        let window = after.since(&before);
        let sum = after.plus(&window.times(2.5));
        assert_eq!((window.instructions, sum.instructions), (20, 80));
        assert_eq!((sum.stalls.get(Stall::Wait), sum.stalls.get(Stall::Drain)), (12, 14));
        assert_eq!((sum.traffic.l2.miss_sectors, sum.issued_cycles), (104, 11));
    }
}
