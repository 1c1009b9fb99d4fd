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
