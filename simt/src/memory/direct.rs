//! The port of the functional machine: every effect is in the arena at once.

use super::{AtomicReply, AtomicRequest, Memory, Port, Request, Shape, Words, atomic, sectors::lanes};
use crate::isa::{Lanes, Mask, Scope, Space, WARP_SIZE};

/// Access to [`Memory`] without delay.
#[derive(Debug)]
pub struct DirectPort<'m> {
    memory: &'m mut Memory,
    changes: u64,
    clock: u64,
}

impl<'m> DirectPort<'m> {
    pub fn new(memory: &'m mut Memory) -> Self {
        Self { memory, changes: 0, clock: 0 }
    }

    /// Sets what `%clock` and `%globaltimer` read: without a cycle model, one for each warp instruction so far.
    pub fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }

    fn pointer(&self, address: u64) -> *mut u8 {
        pointer(self.memory, address)
    }
}

impl Port for DirectPort<'_> {
    fn memory(&self) -> &Memory {
        self.memory
    }

    #[inline]
    fn load(&mut self, request: &Request<'_>, out: &mut [Lanes]) {
        read_global(self.memory, request, out);
    }

    #[inline]
    fn store(&mut self, request: &Request<'_>, data: &[Lanes]) {
        if request.shape == Shape::Contiguous && request.bytes == 4 {
            let to = self.pointer(request.addresses[0]).cast::<[u32; WARP_SIZE]>();
            // SAFETY: see `pointer`; 32 words.
            unsafe {
                let old = to.read_unaligned();
                let differences = old.iter().zip(data[0].0).fold(0, |bits, (old, new)| bits | (old ^ new));
                if differences != 0 {
                    to.write_unaligned(data[0].0);
                    self.changes += 1;
                }
            }
        } else {
            self.store_lanes(request, data);
        }
    }

    fn atomic(&mut self, atomic: &AtomicRequest<'_>, old: &mut Words) -> AtomicReply {
        let bytes = atomic.request.bytes as usize;
        if bytes == 4 && atomic.request.access.ty.bits() == 32 {
            self.atomic_words(atomic, &mut old[0]);
            return AtomicReply::Done;
        }
        for lane in lanes(atomic.request.mask) {
            let to = self.pointer(atomic.request.addresses[lane]);
            let mut buffer = [0u8; 32];
            // SAFETY: see `pointer`.
            unsafe { to.copy_to(buffer.as_mut_ptr(), bytes) };
            let new = modify(atomic, lane, &buffer);
            write_lane(old, lane, &buffer[..bytes]);
            if new[..bytes] != buffer[..bytes] {
                // SAFETY: see `pointer`.
                unsafe { to.copy_from(new.as_ptr(), bytes) };
                self.changes += 1;
            }
        }
        AtomicReply::Done
    }

    fn fence(&mut self, _scope: Scope) {}

    fn changes(&self) -> u64 {
        self.changes
    }

    fn clock(&self) -> u64 {
        self.clock
    }

    fn nanoseconds(&self) -> u64 {
        self.clock
    }
}

impl DirectPort<'_> {
    /// Atomics on single 32-bit words.
    fn atomic_words(&mut self, atomic: &AtomicRequest<'_>, old: &mut Lanes) {
        let request = &atomic.request;
        let flush = request.access.space != Space::Shared;
        for lane in lanes(request.mask) {
            let to = self.pointer(request.addresses[lane]).cast::<u32>();
            let (operand, swap) = (atomic.operand[0].0[lane], atomic.swap[0].0[lane]);
            // SAFETY: see `pointer`.
            unsafe {
                let before = to.read_unaligned();
                let (kind, ty) = (atomic.kind, request.access.ty);
                let after = atomic::apply_word(kind, ty, before, operand, swap, flush);
                if after != before {
                    to.write_unaligned(after);
                    self.changes += 1;
                }
                old.0[lane] = before;
            }
        }
    }

    fn store_lanes(&mut self, request: &Request<'_>, data: &[Lanes]) {
        let bytes = request.bytes as usize;
        for lane in lanes(request.mask) {
            let to = self.pointer(request.addresses[lane]);
            let new = read_lane(data, lane);
            // SAFETY: see `pointer`; `new` is 32 bytes long, the most an access has.
            unsafe {
                if std::slice::from_raw_parts(to, bytes) != &new[..bytes] {
                    to.copy_from(new.as_ptr(), bytes);
                    self.changes += 1;
                }
            }
        }
    }
}

/// Reads memory as it is for a request that was checked against the same memory.
#[inline]
pub(crate) fn read_global(memory: &Memory, request: &Request<'_>, out: &mut [Lanes]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { read_avx2(memory, request, out) };
    }
    read(memory, request, out);
}

/// [`read`] with wide stores: operations read registers 32 bytes at a time, and would wait for narrower ones to reach the cache.
///
/// # Safety
/// The CPU must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn read_avx2(memory: &Memory, request: &Request<'_>, out: &mut [Lanes]) {
    read(memory, request, out);
}

#[inline(always)]
fn read(memory: &Memory, request: &Request<'_>, out: &mut [Lanes]) {
    let first = pointer(memory, request.addresses[request.first_lane()]);
    // SAFETY: see `pointer`; a contiguous request is 32 times `bytes` long.
    unsafe {
        match (request.shape, request.bytes) {
            (Shape::Contiguous, 4) => out[0].0 = first.cast::<[u32; WARP_SIZE]>().read_unaligned(),
            (Shape::Contiguous, 8..) => gather_rows(first.cast(), out),
            (Shape::Uniform, _) => broadcast(first, request, out),
            _ if request.mask == Mask::MAX && request.bytes == 4 => {
                let mut words = [0; WARP_SIZE];
                for (word, address) in words.iter_mut().zip(request.addresses) {
                    *word = pointer(memory, *address).cast::<u32>().read_unaligned();
                }
                out[0].0 = words;
            }
            _ => load_lanes(memory, request, out),
        }
    }
}

#[inline(always)]
fn pointer(memory: &Memory, address: u64) -> *mut u8 {
    // SAFETY: a request's addresses lie in live allocations; the accesses through this pointer stay inside them because a
    // request's width was checked too. Who writes through it holds the memory exclusively.
    unsafe { memory.host_pointer(address) }
}

fn load_lanes(memory: &Memory, request: &Request<'_>, out: &mut [Lanes]) {
    for lane in lanes(request.mask) {
        let from = pointer(memory, request.addresses[lane]);
        // SAFETY: see `pointer`; each width reads exactly `bytes`.
        unsafe {
            match request.bytes {
                1 => out[0].0[lane] = from.read().into(),
                2 => out[0].0[lane] = from.cast::<u16>().read_unaligned().into(),
                4 => out[0].0[lane] = from.cast::<u32>().read_unaligned(),
                _ => {
                    for (word, out) in out[..request.words()].iter_mut().enumerate() {
                        out.0[lane] = from.cast::<u32>().add(word).read_unaligned();
                    }
                }
            }
        }
    }
}

/// Loads `out.len()` words of each lane from rows of that many words.
///
/// # Safety
/// 32 rows must be readable at `from`.
#[inline(always)]
unsafe fn gather_rows(from: *const u32, out: &mut [Lanes]) {
    let words = out.len();
    for (word, out) in out.iter_mut().enumerate() {
        for lane in 0..WARP_SIZE {
            // SAFETY: row `lane` has `words` words.
            out.0[lane] = unsafe { from.add(lane * words + word).read_unaligned() };
        }
    }
}

/// Loads one lane's data and gives it to every lane of the mask.
///
/// # Safety
/// `request.bytes` bytes must be readable at `from`.
#[inline(always)]
unsafe fn broadcast(from: *const u8, request: &Request<'_>, out: &mut [Lanes]) {
    let mut buffer = [0u8; 32];
    // SAFETY: at most 32 bytes are read, as many as the caller vouches for.
    unsafe { from.copy_to(buffer.as_mut_ptr(), request.bytes as usize) };
    for (out, bytes) in out.iter_mut().zip(buffer.chunks_exact(4)) {
        let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match request.mask {
            u32::MAX => *out = Lanes::splat(value),
            mask => lanes(mask).for_each(|lane| out.0[lane] = value),
        }
    }
}

/// One lane's data as bytes.
pub(crate) fn read_lane(words: &[Lanes], lane: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.0[lane].to_le_bytes());
    }
    bytes
}

/// Sets one lane's data from bytes; a last word that is not full is zero-extended.
pub(crate) fn write_lane(words: &mut [Lanes], lane: usize, bytes: &[u8]) {
    for (word, from) in words.iter_mut().zip(bytes.chunks(4)) {
        let mut buffer = [0; 4];
        buffer[..from.len()].copy_from_slice(from);
        word.0[lane] = u32::from_le_bytes(buffer);
    }
}

/// New contents of a lane's memory, element by element.
pub(crate) fn modify(request: &AtomicRequest<'_>, lane: usize, old: &[u8; 32]) -> [u8; 32] {
    let access = request.request.access;
    let size = (access.ty.bits() / 8) as usize;
    let (operand, swap) = (read_lane(request.operand, lane), read_lane(request.swap, lane));
    let flush = access.space != Space::Shared;
    let mut new = *old;
    for start in (0..request.request.bytes as usize).step_by(size) {
        let element = |bytes: &[u8; 32]| {
            let mut wide = [0; 16];
            wide[..size].copy_from_slice(&bytes[start..start + size]);
            u128::from_le_bytes(wide)
        };
        let value = atomic::apply(request.kind, access.ty, element(old), element(&operand), element(&swap), flush);
        new[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Access;

    /// Every way of [`read_global`] against [`load_lanes`], which knows no shapes.
    #[test]
    fn rows_one_address_and_full_warps_read_what_lanes_read() {
        let mut memory = Memory::new(1 << 20);
        let start = memory.alloc(2048).unwrap();
        memory.write(start, &std::array::from_fn::<u8, 2048, _>(|byte| (byte * 7 + byte / 256) as u8)).unwrap();
        let last = start + 2048;
        for bytes in [1u32, 2, 4, 8, 16, 32] {
            let width = u64::from(bytes);
            let row = |first| std::array::from_fn(|lane| first + width * lane as u64);
            #[rustfmt::skip]
            let patterns = [
                (Shape::Contiguous, row(start)),
                (Shape::Contiguous, row(start + 3 * width)),
                (Shape::Contiguous, row(last - 32 * width)),
                (Shape::Uniform, [start + 5 * width; WARP_SIZE]),
                (Shape::Uniform, [last - width; WARP_SIZE]),
                (Shape::Scattered, std::array::from_fn(|lane| last - width - (lane as u64 * 13 % 32) * width)),
                (Shape::Scattered, std::array::from_fn(|lane| start + lane as u64 / 16 * 1024 + lane as u64 % 16 * width)),
            ];
            for (shape, addresses) in patterns {
                for mask in [Mask::MAX, 1, 1 << 31, 0xffff_0000, 0x5555_5555] {
                    if shape == Shape::Contiguous && mask != Mask::MAX {
                        continue;
                    }
                    let request = Request { pc: 0, access: &Access::WORD, mask, addresses: &addresses, bytes, shape };
                    let (mut fast, mut slow) = ([Lanes::splat(0xaa); 8], [Lanes::splat(0xaa); 8]);
                    read_global(&memory, &request, &mut fast[..request.words()]);
                    load_lanes(&memory, &request, &mut slow[..request.words()]);
                    assert_eq!(fast, slow, "{shape:?}, {bytes} bytes, lanes {mask:x}");
                }
            }
        }
    }
}
