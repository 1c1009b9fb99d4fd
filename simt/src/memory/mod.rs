//! Global memory: one arena at a fixed base, the map of what is allocated in it, and the door through which kernels reach it.
//!
//! [`Memory`] is what the host sees: allocate, free, copy. Addresses are handed out upwards and not reused while the reserved
//! range lasts, with gaps between allocations, so that an access past the end or after the free is known for what it is.
//! Kernels reach memory through a [`Port`]: the functional machine writes straight into the arena, the cycle model puts each
//! SM's stores in an overlay. What an access touches in sectors and banks is counted in [`sectors`].

mod allocations;
mod arena;
pub mod atomic;
mod direct;
mod port;
pub mod sectors;

use crate::isa::GLOBAL_BASE;

pub(crate) use allocations::grouped;
pub use allocations::{Extent, Nearest};
pub use direct::DirectPort;
pub(crate) use direct::{modify, read_global, read_lane, write_lane};
pub use port::{AtomicReply, AtomicRequest, Port, Request, Shape, Words};

use allocations::Allocations;
use arena::Arena;

/// Alignment of every allocation, bytes.
pub const ALIGNMENT: u64 = 256;
/// Unused addresses after every allocation, bytes: more than a block of 1,024 threads runs past an array of 16-byte elements.
pub const GUARD_BYTES: u64 = 64 << 10;
/// Addresses below this are null pointers with an offset, for faults. As large as an array field is likely to be away.
pub const NULL_BYTES: u64 = 64 << 10;

/// Why the host's request was not met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    #[error(
        "out of memory: {asked} bytes asked for, {used} of the device's {capacity} bytes in use; free some or take a larger device"
    )]
    OutOfMemory { asked: u64, used: u64, capacity: u64 },
    #[error(
        "out of memory: this computer could not provide {asked} more bytes for the arena; free some or use smaller inputs"
    )]
    HostExhausted { asked: u64 },
    #[error("0x{address:x} is not the start of an allocation; free takes what alloc returned, once")]
    NotAllocated { address: u64 },
    #[error("{bytes} bytes at 0x{address:x} are not inside one allocation ({nearest})")]
    OutOfRange { address: u64, bytes: u64, nearest: Nearest },
    #[error("{bytes} bytes at 0x{address:x} cannot be shared with kernels: {why}")]
    NotShared { address: u64, bytes: u64, why: &'static str },
}

/// The device's global memory.
#[derive(Debug)]
pub struct Memory {
    arena: Arena,
    allocations: Allocations,
    capacity_bytes: u64,
}

impl Memory {
    /// Memory of at most `capacity_bytes` in live allocations.
    pub fn new(capacity_bytes: u64) -> Self {
        Self { arena: Arena::reserve(capacity_bytes), allocations: Allocations::default(), capacity_bytes }
    }

    /// Whether device addresses are also this process's addresses of the same bytes.
    pub fn is_identity_mapped(&self) -> bool {
        self.arena.base_address() == GLOBAL_BASE
    }

    /// Bytes in live allocations.
    pub fn used_bytes(&self) -> u64 {
        self.allocations.live_bytes()
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// A new allocation, aligned to [`ALIGNMENT`], filled with zeros. `bytes` 0 gets an address of its own too.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] past the device's size, [`MemoryError::HostExhausted`] past what this computer gives.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        let used = self.used_bytes();
        if bytes > self.capacity_bytes.saturating_sub(used) {
            return Err(MemoryError::OutOfMemory { asked: bytes, used, capacity: self.capacity_bytes });
        }
        let exhausted = MemoryError::HostExhausted { asked: bytes };
        let offset = self.allocations.place(bytes, self.arena.size_bytes()).ok_or(exhausted.clone())?;
        if !self.arena.commit(offset, bytes) {
            return Err(exhausted);
        }
        let address = GLOBAL_BASE + offset;
        if self.allocations.insert(address, bytes) {
            self.arena.clear(offset, bytes);
        }
        Ok(address)
    }

    /// Ends an allocation. Its addresses stay unused, and known as freed, while there are others.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] where no live allocation starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let bytes = self.allocations.remove(address).ok_or(MemoryError::NotAllocated { address })?;
        self.arena.release(address - GLOBAL_BASE, bytes);
        Ok(())
    }

    /// Lets kernels reach memory of this process under its own address, as registered host memory is. It does not count as used.
    ///
    /// # Errors
    /// [`MemoryError::NotShared`] where device addresses are not this process's ([`Memory::is_identity_mapped`]), or the range is
    /// part of a live allocation already.
    ///
    /// # Safety
    /// The range must be readable and writable until [`Memory::disown`], and the process must expect that kernels write it.
    pub unsafe fn adopt(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        let not_shared = |why| Err(MemoryError::NotShared { address, bytes, why });
        if !self.is_identity_mapped() {
            return not_shared("the machine's addresses are others here");
        }
        if !self.allocations.adopt(address, bytes) {
            return not_shared("they are part of an allocation");
        }
        Ok(())
    }

    /// Ends what [`Memory::adopt`] began.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] where no adopted memory starts at `address`.
    pub fn disown(&mut self, address: u64) -> Result<(), MemoryError> {
        if self.allocations.disown(address) { Ok(()) } else { Err(MemoryError::NotAllocated { address }) }
    }

    /// Copies from the device into `out`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfRange`] unless the whole range lies in one live allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        self.require(address, out.len() as u64)?;
        // SAFETY: the range lies in a live allocation, whose bytes the arena has committed; `out` is other memory.
        unsafe { std::ptr::copy_nonoverlapping(self.byte(address), out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Copies `bytes` to the device.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.require(address, bytes.len() as u64)?;
        // SAFETY: as in `read`; `&mut self` keeps every other reader out.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.byte(address), bytes.len()) };
        Ok(())
    }

    /// Sets `bytes` bytes to `value`.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        self.require(address, bytes)?;
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes(self.byte(address), value, bytes as usize) };
        Ok(())
    }

    /// Copies between two places on the device; they may overlap.
    ///
    /// # Errors
    /// As [`Memory::read`], for either range.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        self.require(from, bytes)?;
        self.require(to, bytes)?;
        // SAFETY: as in `write`; `ptr::copy` allows overlap.
        unsafe {
            std::ptr::copy(self.byte(from), self.byte(to), bytes as usize);
        }
        Ok(())
    }

    /// The contents of every live allocation.
    pub(crate) fn save(&self) -> Vec<(u64, Vec<u8>)> {
        let contents = |extent: Extent| {
            let mut bytes = vec![0; (extent.end - extent.start) as usize];
            // The extent is a live allocation's, so this cannot fail.
            self.read(extent.start, &mut bytes).ok().map(|()| (extent.start, bytes))
        };
        self.allocations.live().filter_map(contents).collect()
    }

    /// Puts back what [`Memory::save`] gave, where no allocation was made or freed meanwhile.
    pub(crate) fn restore(&mut self, saved: &[(u64, Vec<u8>)]) {
        for (start, bytes) in saved {
            // As in `save`.
            let _ = self.write(*start, bytes);
        }
    }

    /// The live allocation that `address` lies in.
    pub fn extent(&self, address: u64) -> Option<Extent> {
        self.allocations.containing(address)
    }

    /// How `bytes` bytes at `address` lie to the nearest allocation, for messages.
    pub fn nearest(&self, address: u64, bytes: u64) -> Nearest {
        self.allocations.nearest(address, bytes)
    }

    /// Where the bytes of a device address are in this process.
    ///
    /// # Safety
    /// The address must lie in a live allocation ([`Memory::extent`]); what is read or written there must stay inside it, and
    /// no other thread may write the same bytes meanwhile. Writing needs the right that a `&mut Memory` gives.
    pub unsafe fn host_pointer(&self, address: u64) -> *mut u8 {
        self.byte(address)
    }

    /// Where the byte of a device address is. Adopted memory lies outside the arena, at the same distance in both.
    #[inline(always)]
    fn byte(&self, address: u64) -> *mut u8 {
        self.arena.at(address.wrapping_sub(GLOBAL_BASE))
    }

    fn require(&self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        let inside = bytes == 0 || self.extent(address).is_some_and(|extent| bytes <= extent.end - address);
        match inside {
            true => Ok(()),
            false => Err(MemoryError::OutOfRange { address, bytes, nearest: self.nearest(address, bytes) }),
        }
    }
}
