//! Which addresses are allocated, which were, and how any other address lies to them.
//!
//! Live and freed allocations share one map ordered by address. A freed one is forgotten only when its addresses are needed
//! again, so that a use after the free is told from a wild address.

use std::collections::BTreeMap;
use std::fmt;

use super::{ALIGNMENT, GUARD_BYTES, NULL_BYTES};
use crate::isa::GLOBAL_BASE;

/// The address range of a live allocation: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: u64,
    pub end: u64,
}

impl Extent {
    pub const EMPTY: Self = Self { start: 0, end: 0 };

    /// Whether `first..end` lies inside.
    #[inline]
    pub const fn holds(&self, first: u64, end: u64) -> bool {
        self.start <= first && end <= self.end
    }
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    bytes: u64,
    live: bool,
    /// Memory of the process outside the arena.
    adopted: bool,
}

/// The allocation map.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    by_start: BTreeMap<u64, Allocation>,
    live_bytes: u64,
    /// Offset of the first byte never handed out.
    frontier: u64,
}

impl Allocations {
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Offset for a new allocation: past everything so far, or, when the range is used up, the first freed or unused gap.
    pub fn place(&mut self, bytes: u64, arena_bytes: u64) -> Option<u64> {
        let needed = footprint(bytes)?;
        if needed <= arena_bytes.saturating_sub(self.frontier) {
            let offset = self.frontier;
            self.frontier += needed;
            return Some(offset);
        }
        self.reuse(needed, arena_bytes)
    }

    /// First gap between live allocations that holds `needed` bytes.
    fn reuse(&self, needed: u64, arena_bytes: u64) -> Option<u64> {
        let mut free_from = 0;
        for (start, allocation) in self.by_start.iter().filter(|(_, allocation)| allocation.live && !allocation.adopted)
        {
            let offset = start - GLOBAL_BASE;
            if offset - free_from >= needed {
                return Some(free_from);
            }
            free_from = offset + footprint(allocation.bytes)?;
        }
        (arena_bytes.saturating_sub(free_from) >= needed).then_some(free_from)
    }

    /// Enters a live allocation. True where its addresses were in use before and may hold old bytes.
    pub fn insert(&mut self, start: u64, bytes: u64) -> bool {
        let end = start + footprint(bytes).unwrap_or(bytes);
        let first = match self.by_start.range(..start).next_back() {
            Some((before, allocation)) if before + allocation.bytes > start => *before,
            _ => start,
        };
        let forgotten: Vec<u64> = self.by_start.range(first..end).map(|(start, _)| *start).collect();
        for start in &forgotten {
            self.by_start.remove(start);
        }
        self.by_start.insert(start, Allocation { bytes, live: true, adopted: false });
        self.live_bytes += bytes;
        !forgotten.is_empty()
    }

    /// Enters memory that is not the arena's. False where it overlaps a live allocation.
    pub fn adopt(&mut self, start: u64, bytes: u64) -> bool {
        let Some(end) = start.checked_add(bytes) else { return false };
        let before_end = self.by_start.range(..end).rev().find(|(_, allocation)| allocation.live);
        if before_end.is_some_and(|(before, allocation)| before + allocation.bytes > start) {
            return false;
        }
        self.by_start.insert(start, Allocation { bytes, live: true, adopted: true });
        true
    }

    /// Forgets adopted memory.
    pub fn disown(&mut self, start: u64) -> bool {
        let known = self.by_start.get(&start).is_some_and(|allocation| allocation.adopted);
        if known {
            self.by_start.remove(&start);
        }
        known
    }

    /// Marks a live allocation as freed and gives its size.
    pub fn remove(&mut self, start: u64) -> Option<u64> {
        let allocation = self.by_start.get_mut(&start).filter(|allocation| allocation.live && !allocation.adopted)?;
        allocation.live = false;
        self.live_bytes -= allocation.bytes;
        Some(allocation.bytes)
    }

    pub fn containing(&self, address: u64) -> Option<Extent> {
        let (start, allocation) = self.by_start.range(..=address).next_back()?;
        let extent = Extent { start: *start, end: start + allocation.bytes };
        (allocation.live && address < extent.end).then_some(extent)
    }

    /// Every live allocation.
    pub fn live(&self) -> impl Iterator<Item = Extent> {
        let live = self.by_start.iter().filter(|(_, allocation)| allocation.live);
        live.map(|(start, allocation)| Extent { start: *start, end: start + allocation.bytes })
    }

    pub fn nearest(&self, address: u64, bytes: u64) -> Nearest {
        if address < NULL_BYTES {
            return Nearest::Null;
        }
        let before = self.by_start.range(..=address).next_back();
        let after = self.by_start.range(address.saturating_add(1)..).next();
        if let Some((start, allocation)) = before
            && !allocation.live
            && address < start + allocation.bytes.max(1)
        {
            return Nearest::Freed { size: allocation.bytes, offset: address - start };
        }
        let end = address.saturating_add(bytes);
        let past = before.filter(|(_, allocation)| allocation.live).map(|(start, allocation)| Nearest::Past {
            size: allocation.bytes,
            bytes: end.saturating_sub(start + allocation.bytes),
        });
        let short = after
            .filter(|(_, allocation)| allocation.live)
            .map(|(start, allocation)| Nearest::Before { size: allocation.bytes, bytes: start - address });
        [past, short]
            .into_iter()
            .flatten()
            .filter(|nearest| nearest.distance_bytes() <= NEAR_BYTES)
            .min_by_key(Nearest::distance_bytes)
            .unwrap_or(Nearest::Nothing)
    }
}

/// Addresses that an allocation keeps from others: itself, rounded up, and the gap after it.
fn footprint(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(ALIGNMENT)?.checked_add(GUARD_BYTES)
}

/// How an access lies to the nearest allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// In the first page: a null pointer plus an offset.
    Null,
    /// Reaches `bytes` past the end of a live allocation of `size` bytes.
    Past { size: u64, bytes: u64 },
    /// Starts `bytes` before a live allocation of `size` bytes.
    Before { size: u64, bytes: u64 },
    /// At byte `offset` of a freed allocation of `size` bytes.
    Freed { size: u64, offset: u64 },
    /// Near no allocation at all.
    Nothing,
}

/// Farther than this from every allocation, an address is taken for no device address at all.
const NEAR_BYTES: u64 = 1 << 32;

impl Nearest {
    fn distance_bytes(&self) -> u64 {
        match *self {
            Self::Past { bytes, .. } | Self::Before { bytes, .. } => bytes,
            _ => 0,
        }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |bytes: u64| grouped(bytes) + if bytes == 1 { " byte" } else { " bytes" };
        match *self {
            Self::Null => f.write_str("a null pointer"),
            Self::Past { size, bytes } => {
                write!(f, "{} past the end of a {}-byte allocation", count(bytes), grouped(size))
            }
            Self::Before { size, bytes } => {
                write!(f, "{} before the start of a {}-byte allocation", count(bytes), grouped(size))
            }
            Self::Freed { size, offset } => {
                write!(f, "byte {} of a {}-byte allocation that was freed", grouped(offset), grouped(size))
            }
            Self::Nothing => f.write_str("not device memory"),
        }
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adopted_memory_is_live_until_it_is_disowned_and_no_device_memory() {
        let mut map = Allocations::default();
        map.insert(GLOBAL_BASE, 100);
        assert!(map.adopt(0x1000_0000, 50) && map.adopt(0x7f00_0000_0000, 50));
        assert!(!map.adopt(0x1000_0031, 1) && !map.adopt(0x0fff_ffff, 2) && !map.adopt(GLOBAL_BASE + 99, 1));
        assert_eq!(map.live_bytes(), 100, "it does not count");
        assert!(map.containing(0x1000_0031).is_some() && map.containing(0x1000_0032).is_none());
        assert_eq!(map.remove(0x1000_0000), None, "it is not freed");
        assert!(map.disown(0x1000_0000) && !map.disown(0x1000_0000) && !map.disown(GLOBAL_BASE));
        assert!(map.containing(0x1000_0000).is_none());
    }

    #[test]
    fn a_gap_for_reuse_is_looked_for_beside_adopted_memory() {
        let mut map = Allocations::default();
        assert!(map.adopt(0x1000_0000, 50) && map.adopt(0x7f00_0000_0000, 50));
        let first = map.place(1000, 1 << 20).unwrap();
        map.insert(GLOBAL_BASE + first, 1000);
        assert_eq!(map.place(1 << 20, 1 << 20), None);
        let second = map.place(1000, 3 * GUARD_BYTES).unwrap();
        assert!(second > first + 1000);
    }
}
