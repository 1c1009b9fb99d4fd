//! One SM's L1: sectored, write-through, no place for lines that are only written.
//!
//! Inside a quantum nobody knows yet when a missing sector will arrive. It is marked with the number of the request that asked for
//! it; later loads of the same sector wait for that same request, and the boundary turns the mark into a cycle.

use super::ALL_SECTORS;
use super::cache::{Lookup, Tags};
use super::lines::LinePart;

/// Marks a sector as asked for in this quantum; the low bits are the request's number.
const PENDING: u64 = 1 << 63;

/// The tags of one L1 and what is known of each sector.
#[derive(Clone, Debug)]
pub struct L1 {
    tags: Tags,
    valid: Vec<u8>,
    /// Cycle at which each sector is there, or [`PENDING`] and a request.
    ready: Vec<[u64; 4]>,
    pub sectors_hit: u64,
    pub sectors_missed: u64,
}

/// What a load of one line found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where the line is now.
    pub place: usize,
    /// Sectors to be asked for.
    pub missing: u8,
    /// Cycle at which the sectors that are here, or known to come, are all here.
    pub ready_cycle: u64,
    /// Earlier requests of this quantum that bring some of the sectors; the first `pending_count` count.
    pub pending: [u32; 4],
    pub pending_count: usize,
}

impl L1 {
    pub fn new(bytes: u64, ways: u32) -> Self {
        let tags = Tags::new(bytes >> super::LINE_SHIFT, ways);
        let places = tags.places();
        Self { tags, valid: vec![0; places], ready: vec![[0; 4]; places], sectors_hit: 0, sectors_missed: 0 }
    }

    /// Looks up the sectors of a load. Missing ones are entered as brought by `request`, which the caller then makes.
    pub fn load(&mut self, part: &LinePart, request: u32) -> Found {
        let sectors = part.sectors();
        let place = match self.tags.find_or_fill(part.line) {
            Lookup::Hit(place) => place,
            Lookup::Filled { place, .. } => {
                self.valid[place] = 0;
                place
            }
        };
        let missing = sectors & !self.valid[place];
        let mut found = Found { place, missing, ..Found::default() };
        self.sectors_missed += u64::from(missing.count_ones());
        self.sectors_hit += u64::from((sectors & !missing).count_ones());
        for sector in 0..4 {
            let bit = 1 << sector;
            if missing & bit != 0 {
                self.ready[place][sector] = PENDING | u64::from(request);
            } else if sectors & bit != 0 {
                found.wait_for(self.ready[place][sector]);
            }
        }
        self.valid[place] |= missing;
        found
    }

    /// A request's sectors are there from `cycle` on.
    pub fn arrived(&mut self, place: usize, request: u32, cycle: u64) {
        let mark = PENDING | u64::from(request);
        for ready in &mut self.ready[place] {
            if *ready == mark {
                *ready = cycle;
            }
        }
    }

    /// Keeps what was stored, from `cycle` on: local memory, which nobody else reads.
    pub fn keep(&mut self, part: &LinePart, cycle: u64) {
        let place = match self.tags.find_or_fill(part.line) {
            Lookup::Hit(place) => place,
            Lookup::Filled { place, .. } => {
                self.valid[place] = 0;
                place
            }
        };
        for sector in 0..4 {
            let bit = 1 << sector;
            if part.sectors() & bit & !self.valid[place] != 0 {
                self.ready[place][sector] = cycle;
                self.valid[place] |= bit;
            }
        }
    }

    /// An atomic goes past: L1 must not keep what L2 changes.
    pub fn drop_sectors(&mut self, line: u64, sectors: u8) {
        if let Some(place) = self.tags.find(line) {
            self.valid[place] &= !sectors & ALL_SECTORS;
        }
    }

    /// Forgets everything, as at the start of a launch and at a fence.
    pub fn clear(&mut self) {
        self.tags.clear();
    }
}

impl Found {
    fn wait_for(&mut self, ready: u64) {
        if ready & PENDING == 0 {
            self.ready_cycle = self.ready_cycle.max(ready);
            return;
        }
        let request = ready as u32;
        if !self.pending[..self.pending_count].contains(&request) {
            self.pending[self.pending_count] = request;
            self.pending_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(line: u64, granules: u32) -> LinePart {
        LinePart { line, granules, ..LinePart::default() }
    }

    #[test]
    fn a_sector_misses_once_then_waits_then_hits() {
        let mut l1 = L1::new(4096, 4);
        let first = l1.load(&part(7, 0xff), 0);
        assert_eq!((first.missing, first.pending_count), (0b0001, 0));
        let second = l1.load(&part(7, 0xffff), 1);
        assert_eq!((second.missing, second.pending[..second.pending_count].to_vec()), (0b0010, vec![0]));
        l1.arrived(first.place, 0, 300);
        l1.arrived(second.place, 1, 320);
        let third = l1.load(&part(7, 0xffff), 2);
        assert_eq!((third.missing, third.pending_count, third.ready_cycle), (0, 0, 320));
        assert_eq!((l1.sectors_hit, l1.sectors_missed), (3, 2));
    }

    #[test]
    fn a_line_evicted_before_its_sectors_arrive_does_not_get_them() {
        let mut l1 = L1::new(128, 1);
        let gone = l1.load(&part(1, 0xff), 0);
        let here = l1.load(&part(2, 0xff), 1);
        assert_eq!(gone.place, here.place);
        l1.arrived(gone.place, 0, 100);
        assert_eq!(l1.load(&part(2, 0xff), 2).pending[0], 1);
        l1.arrived(here.place, 1, 200);
        assert_eq!(l1.load(&part(2, 0xff), 3).ready_cycle, 200);
    }

    #[test]
    fn atomics_and_fences_take_sectors_out() {
        let mut l1 = L1::new(4096, 4);
        let all = l1.load(&part(3, u32::MAX), 0);
        l1.arrived(all.place, 0, 50);
        l1.drop_sectors(3, 0b0100);
        assert_eq!(l1.load(&part(3, u32::MAX), 1).missing, 0b0100);
        l1.clear();
        assert_eq!(l1.load(&part(3, u32::MAX), 2).missing, 0b1111);
    }
}
