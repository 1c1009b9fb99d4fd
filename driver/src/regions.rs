//! Who owns which addresses: every allocation that programs know of, with its kind and its context.
//!
//! The machine has an allocation map of its own, against which kernels are checked. This one knows what the driver API asks about
//! an address, changes when a call is made rather than when queued work gets there, and lets a call be refused at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use warpwise_simt::isa::GLOBAL_BASE;

use crate::abi::Handle;
use crate::code::{Code, Done};

/// How memory came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `cuMemAlloc` and its siblings.
    Device,
    /// From a pool, in stream order.
    Pool(Handle),
    Managed,
    /// Page-locked host memory of the driver's.
    Pinned,
    /// The program's own memory, registered.
    Registered,
    /// A variable of a module.
    Variable,
}

impl Kind {
    /// Whether the host may read and write it through the same address.
    pub fn is_host_visible(self) -> bool {
        matches!(self, Self::Managed | Self::Pinned | Self::Registered)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub start: u64,
    pub bytes: u64,
    pub kind: Kind,
    pub context: Handle,
    /// `CU_MEMHOSTALLOC_*` or `CU_MEMHOSTREGISTER_*`, as asked for.
    pub flags: u32,
    /// Different for every allocation of the process.
    pub id: u64,
}

impl Region {
    fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// Where a copy reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory that the machine knows.
    Device(u64),
    /// Any other memory of the process.
    Host(u64),
}

/// All regions of the process.
#[derive(Debug, Default)]
pub struct Regions {
    by_start: RwLock<BTreeMap<u64, Region>>,
    next_id: AtomicU64,
}

/// Addresses from [`GLOBAL_BASE`] that the machine reserves: none of them is the program's own memory.
const RESERVED_BYTES: u64 = 1 << 40;

impl Regions {
    pub fn insert(&self, start: u64, bytes: u64, kind: Kind, context: Handle, flags: u32) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed) + 1;
        let region = Region { start, bytes, kind, context, flags, id };
        self.by_start.write().unwrap_or_else(PoisonError::into_inner).insert(start, region);
    }

    /// The region that an address lies in.
    pub fn find(&self, address: u64) -> Option<Region> {
        let regions = self.by_start.read().unwrap_or_else(PoisonError::into_inner);
        let (_, region) = regions.range(..=address).next_back()?;
        (address < region.end()).then_some(*region)
    }

    /// Takes out the region that starts at `start`, if it is of a kind that `fits`.
    ///
    /// # Errors
    /// `INVALID_VALUE`.
    pub fn remove(&self, start: u64, fits: impl Fn(Kind) -> bool) -> Done<Region> {
        let mut regions = self.by_start.write().unwrap_or_else(PoisonError::into_inner);
        let region = regions.get(&start).copied().filter(|region| fits(region.kind)).ok_or(Code::INVALID_VALUE)?;
        regions.remove(&start);
        Ok(region)
    }

    /// Takes out all that `unwanted` picks.
    pub fn remove_all(&self, unwanted: impl Fn(&Region) -> bool) -> Vec<Region> {
        let mut regions = self.by_start.write().unwrap_or_else(PoisonError::into_inner);
        regions.extract_if(.., |_, region| unwanted(region)).map(|(_, region)| region).collect()
    }

    /// Whether any byte of a range is in a region.
    pub fn overlaps(&self, start: u64, bytes: u64) -> bool {
        let regions = self.by_start.read().unwrap_or_else(PoisonError::into_inner);
        let before_end = regions.range(..start.saturating_add(bytes)).next_back();
        before_end.is_some_and(|(_, region)| region.end() > start)
    }

    /// Bytes in regions of the kinds that `fits` picks.
    pub fn bytes(&self, fits: impl Fn(Kind) -> bool) -> u64 {
        let regions = self.by_start.read().unwrap_or_else(PoisonError::into_inner);
        regions.values().filter(|region| fits(region.kind)).map(|region| region.bytes).sum()
    }

    /// A range of memory that the device sees.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless the whole range lies in one region.
    pub fn device(&self, address: u64, bytes: u64) -> Done<Place> {
        if bytes == 0 {
            return Ok(Place::Device(address));
        }
        let region = self.find(address).ok_or(Code::INVALID_VALUE)?;
        let fits = bytes <= region.end() - address;
        if fits { Ok(Place::Device(address)) } else { Err(Code::INVALID_VALUE) }
    }

    /// A range of any memory of the process.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null, and for a range that starts in a region and leaves it, or that is freed device memory.
    pub fn any(&self, address: u64, bytes: u64) -> Done<Place> {
        if bytes == 0 {
            return Ok(Place::Host(address));
        }
        let reserved = address.wrapping_sub(GLOBAL_BASE) < RESERVED_BYTES;
        match self.find(address) {
            Some(_) => self.device(address, bytes),
            None if address == 0 || reserved => Err(Code::INVALID_VALUE),
            None => Ok(Place::Host(address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions() -> Regions {
        let regions = Regions::default();
        regions.insert(GLOBAL_BASE, 1000, Kind::Device, Handle(1), 0);
        regions.insert(0x7f00_0000_0000, 4096, Kind::Registered, Handle(1), 0);
        regions
    }

    #[test]
    fn a_range_must_lie_in_one_region() {
        let regions = regions();
        assert_eq!(regions.device(GLOBAL_BASE + 999, 1), Ok(Place::Device(GLOBAL_BASE + 999)));
        assert_eq!(regions.device(GLOBAL_BASE + 999, 2), Err(Code::INVALID_VALUE));
        assert_eq!(regions.device(GLOBAL_BASE + 1000, 1), Err(Code::INVALID_VALUE));
        assert_eq!(regions.device(GLOBAL_BASE, u64::MAX), Err(Code::INVALID_VALUE));
        assert!(regions.device(0, 0).is_ok());
    }

    #[test]
    fn other_memory_of_the_process_is_the_hosts_but_freed_device_memory_is_nobodys() {
        let regions = regions();
        assert_eq!(regions.any(0x5555_0000_0000, 8), Ok(Place::Host(0x5555_0000_0000)));
        assert_eq!(regions.any(0x7f00_0000_0010, 8), Ok(Place::Device(0x7f00_0000_0010)));
        assert_eq!(regions.any(0x7f00_0000_0010, 4096), Err(Code::INVALID_VALUE));
        assert!(regions.remove(GLOBAL_BASE, |kind| kind == Kind::Device).is_ok());
        assert_eq!(regions.any(GLOBAL_BASE, 8), Err(Code::INVALID_VALUE));
        assert_eq!(regions.any(0, 8), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn memory_is_freed_once_at_its_start_and_as_what_it_is() {
        let regions = regions();
        assert!(regions.remove(GLOBAL_BASE + 8, |_| true).is_err());
        assert!(regions.remove(GLOBAL_BASE, |kind| kind == Kind::Pinned).is_err());
        assert!(regions.remove(GLOBAL_BASE, |kind| kind == Kind::Device).is_ok());
        assert!(regions.remove(GLOBAL_BASE, |_| true).is_err());
    }

    #[test]
    fn overlap_counts_shared_bytes_only() {
        let regions = regions();
        assert!(regions.overlaps(0x7f00_0000_0fff, 1) && regions.overlaps(0x7eff_ffff_ffff, 2));
        assert!(!regions.overlaps(0x7f00_0000_1000, 1) && !regions.overlaps(0x7eff_ffff_ffff, 1));
    }
}
