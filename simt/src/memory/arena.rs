//! The bytes behind global memory: one range of addresses, reserved at once and backed by pages as they are touched.
//!
//! On Linux the range is reserved with `mmap`, at [`GLOBAL_BASE`] itself where that is free (the first machine of a process),
//! so that a device address is the address of the same byte here; elsewhere in the address space otherwise. Other systems get a
//! zeroed heap block, which they back lazily too, and which is smaller.

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

use crate::isa::GLOBAL_BASE;

/// A reserved range of bytes. Offsets count from its start.
#[derive(Debug)]
pub(super) struct Arena {
    base: *mut u8,
    size_bytes: u64,
    /// Bytes from the start that may be touched.
    committed_bytes: u64,
}

// SAFETY: the arena owns its range; the pointer is to nothing that is tied to a thread.
unsafe impl Send for Arena {}
// SAFETY: through a shared reference it only gives out addresses; who reads or writes there answers for it (`Arena::at`).
unsafe impl Sync for Arena {}

/// Pages are made usable in steps of this.
const COMMIT_STEP_BYTES: u64 = 64 << 20;

impl Arena {
    /// Reserves addresses for a device of `capacity_bytes`, as many times that as the system gives. It may give none: then every
    /// commit fails.
    pub fn reserve(capacity_bytes: u64) -> Self {
        let (base, size_bytes) = system::reserve(capacity_bytes);
        Self { base, size_bytes, committed_bytes: 0 }
    }

    /// Address of the first byte in this process.
    pub fn base_address(&self) -> u64 {
        self.base as u64
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Makes `offset..offset + bytes` usable. False where the system has no more memory.
    pub fn commit(&mut self, offset: u64, bytes: u64) -> bool {
        let Some(end) = offset.checked_add(bytes).filter(|end| *end <= self.size_bytes) else { return false };
        if end <= self.committed_bytes {
            return true;
        }
        let target = end.next_multiple_of(COMMIT_STEP_BYTES).min(self.size_bytes);
        let start = self.base.wrapping_add(self.committed_bytes as usize);
        let done = system::commit(start, (target - self.committed_bytes) as usize);
        if done {
            self.committed_bytes = target;
        }
        done
    }

    /// Gives whole pages inside the range back to the system; they read as zero afterwards where that is supported.
    pub fn release(&mut self, offset: u64, bytes: u64) {
        let first = offset.next_multiple_of(PAGE_BYTES);
        let end = (offset + bytes) / PAGE_BYTES * PAGE_BYTES;
        if first < end && end <= self.committed_bytes {
            system::release(self.base.wrapping_add(first as usize), (end - first) as usize);
        }
    }

    /// Zeroes a committed range.
    pub fn clear(&mut self, offset: u64, bytes: u64) {
        if offset.checked_add(bytes).is_some_and(|end| end <= self.committed_bytes) {
            // SAFETY: the range is committed, and `&mut self` keeps others out.
            unsafe { std::ptr::write_bytes(self.base.add(offset as usize), 0, bytes as usize) };
        }
    }

    /// Address in this process of the byte at `offset`, which may lie outside the range, on either side.
    #[inline(always)]
    pub fn at(&self, offset: u64) -> *mut u8 {
        self.base.wrapping_add(offset as usize)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.size_bytes > 0 {
            system::unreserve(self.base, self.size_bytes as usize);
        }
    }
}

const PAGE_BYTES: u64 = 4096;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_void;
    use std::ptr;

    use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

    use super::GLOBAL_BASE;

    /// Reservations tried, largest first. A terabyte of addresses makes reuse rare, and so a use after a free known.
    const SIZES_BYTES: [u64; 4] = [1 << 40, 1 << 37, 1 << 34, 1 << 31];

    pub fn reserve(_capacity_bytes: u64) -> (*mut u8, u64) {
        let identity = MapFlags::FIXED_NOREPLACE;
        for size in SIZES_BYTES {
            for (hint, flags) in [(GLOBAL_BASE as usize, identity), (0, MapFlags::empty())] {
                let hint = ptr::without_provenance_mut::<c_void>(hint);
                let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | flags;
                // SAFETY: a new mapping that replaces none (FIXED_NOREPLACE, or no address asked for).
                if let Ok(base) = unsafe { mmap_anonymous(hint, size as usize, ProtFlags::empty(), flags) } {
                    return (base.cast(), size);
                }
            }
        }
        (ptr::null_mut(), 0)
    }

    pub fn commit(start: *mut u8, bytes: usize) -> bool {
        // SAFETY: the range is part of our own reservation and holds nothing yet.
        unsafe { mprotect(start.cast(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }.is_ok()
    }

    pub fn release(start: *mut u8, bytes: usize) {
        // SAFETY: whole pages of our own reservation whose contents nobody needs. A failure only keeps them in memory.
        let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxDontNeed) };
    }

    pub fn unreserve(base: *mut u8, bytes: usize) {
        // SAFETY: the whole of our own reservation, once. A failure only keeps the addresses taken.
        let _ = unsafe { munmap(base.cast(), bytes) };
    }
}

#[cfg_attr(target_os = "linux", allow(dead_code, reason = "compiled here too, so that it stays correct and tested"))]
mod portable {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr;

    /// Largest heap block asked for; systems that commit at once would refuse more.
    const LARGEST_BYTES: u64 = 4 << 30;
    const SMALLEST_BYTES: u64 = 1 << 20;

    pub fn reserve(capacity_bytes: u64) -> (*mut u8, u64) {
        let mut size = capacity_bytes.saturating_mul(2).clamp(SMALLEST_BYTES, LARGEST_BYTES);
        while size >= SMALLEST_BYTES {
            if let Some(layout) = layout(size as usize) {
                // SAFETY: the layout's size is not zero.
                let base = unsafe { alloc_zeroed(layout) };
                if !base.is_null() {
                    return (base, size);
                }
            }
            size /= 2;
        }
        (ptr::null_mut(), 0)
    }

    pub fn commit(_start: *mut u8, _bytes: usize) -> bool {
        true
    }

    pub fn release(_start: *mut u8, _bytes: usize) {}

    pub fn unreserve(base: *mut u8, bytes: usize) {
        if let Some(layout) = layout(bytes) {
            // SAFETY: `base` came from `reserve` with this same layout.
            unsafe { dealloc(base, layout) };
        }
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes, super::PAGE_BYTES as usize).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_heap_block_is_zero_and_is_given_back() {
            let (base, bytes) = reserve(1 << 20);
            assert!(bytes >= 1 << 20);
            // SAFETY: inside the block just made.
            assert_eq!(unsafe { base.add(12_345).read() }, 0);
            unreserve(base, bytes as usize);
        }
    }
}
