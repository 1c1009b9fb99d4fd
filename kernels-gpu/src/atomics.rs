//! Many threads, few addresses: what it costs when they all add to the same.

use crate::shared::shared_array;
use crate::special;
use cuda_std::prelude::*;

/// Adds 1 to one of `mask + 1` sums, `repeats` times a thread, by the hardware's atomic addition.
///
/// - `sums`: `mask + 1` elements, added to; thread `i` adds to element `i & mask`; `mask`: a power of two, less 1.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn atomic_add(sums: *mut f32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: the launch touches the sums atomically only.
        unsafe { special::add_f32(sum, 1.0) };
    }
}

/// [`atomic_add()`] as it is written where the hardware has no such addition: compare, swap, and try again if someone was
/// faster. Parameters and launch as for [`atomic_add()`].
#[kernel]
pub unsafe fn atomic_add_cas(sums: *mut f32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.cast::<u32>().add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: as in `atomic_add`; what a plain read saw is compared before anything is written.
        unsafe {
            let mut expected = sum.read_volatile();
            loop {
                let before = special::compare_and_swap(sum, expected, (f32::from_bits(expected) + 1.0).to_bits());
                if before == expected {
                    break;
                }
                expected = before;
            }
        }
    }
}

/// [`atomic_add()`] by reading, adding and writing: what another thread wrote in between is lost.
///
/// The accesses are volatile, so that none of them is left out. Rust has no word for what this kernel does wrong on purpose: a data race.
/// Parameters and launch as for [`atomic_add()`].
#[kernel]
pub unsafe fn add_racy(sums: *mut f32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: an aligned word of the launch, which the hardware reads and writes as a whole.
        unsafe { sum.write_volatile(sum.read_volatile() + 1.0) };
    }
}

/// [`atomic_add()`] that also orders: what the thread wrote before is seen before the sum is, and what it reads after is as new as the sum.
/// (`atomic_add` itself is relaxed, as CUDA's `atomicAdd` is.)
///
/// Not by rust-cuda's `atomic_fetch_add_f32_device`: that takes pointers into shared memory too, for which the hardware has no such
/// addition, and the compiler writes a loop for that case beside each. Parameters and launch as for [`atomic_add()`].
#[kernel]
pub unsafe fn add_ordered(sums: *mut f32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: the launch touches the sums atomically only.
        unsafe { special::add_f32_ordered(sum, 1.0) };
    }
}

/// Scopes of [`add_scoped()`].
pub const BLOCK_SCOPE: u32 = 0;
pub const DEVICE_SCOPE: u32 = 1;
pub const SYSTEM_SCOPE: u32 = 2;

/// Adds 1 to the block's own sum, `repeats` times a thread: atomically among the threads of the block alone, which is enough here, among
/// those of the device, or among those of the device and the host.
///
/// - `sums`: an element a block, added to; `scope`: 0 for the block, 1 for the device, 2 for the system.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn add_scoped(sums: *mut f32, repeats: u32, scope: u32) {
    // SAFETY: an element a block.
    let sum = unsafe { sums.add(thread::block_idx_x() as usize) };
    for _ in 0..repeats {
        // SAFETY: only threads of the block touch the sum, and atomically.
        unsafe {
            match scope {
                BLOCK_SCOPE => special::add_f32_block(sum, 1.0),
                DEVICE_SCOPE => special::add_f32(sum, 1.0),
                _ => special::add_f32_system(sum, 1.0),
            }
        };
    }
}

/// Every thread adds 1 to one counter, `repeats` times. That all lanes of a warp add to the same address is plain from the source, so the
/// compiler counts them and lets one lane add for all; in [`crate::calibration::count()`] it does not know.
///
/// - `counter`: one element, added to; wraps.
/// - Launch: any shape.
#[kernel]
pub unsafe fn count_one(counter: *mut u32, repeats: u32) {
    for _ in 0..repeats {
        // SAFETY: the launch touches the counter atomically only.
        unsafe { special::add_u32(counter, 1) };
    }
}

/// Bins of a histogram, and threads of a block.
pub const BINS: usize = 256;

shared_array!(
    /// The block's own histogram.
    BLOCK_BINS: [u32; BINS]
);

/// Counts values by their upper 8 bits: each block in shared memory, then all blocks together.
///
/// - `values`: `n` elements, read; `bins`: 256 elements, added to.
/// - Launch: one-dimensional, blocks of 256 threads, any number of them.
#[kernel]
pub unsafe fn histogram(values: *const u32, bins: *mut u32, n: u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: a bin a thread.
    unsafe { BLOCK_BINS.set(thread, 0) };
    thread::sync_threads();
    let mut i = thread::index_1d();
    while i < n {
        // SAFETY: i < n; eight bits are a bin.
        unsafe { BLOCK_BINS.add(*values.add(i as usize) >> 24, 1) };
        i += thread::grid_dim_x() * thread::block_dim_x();
    }
    thread::sync_threads();
    // SAFETY: a bin a thread; the launch touches the bins atomically only.
    unsafe {
        let found = BLOCK_BINS.get(thread);
        special::add_u32(bins.add(thread as usize), found);
    }
}

/// [`histogram()`] without the block's own bins: every value is one atomic addition in L2. Parameters as for
/// [`histogram()`].
///
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn histogram_global(values: *const u32, bins: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; eight bits are a bin; the launch touches the bins atomically only.
        unsafe {
            let bin = *values.add(i as usize) >> 24;
            special::add_u32(bins.add(bin as usize), 1);
        }
    }
}
