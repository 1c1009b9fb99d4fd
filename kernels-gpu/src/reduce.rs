//! What threads find out together: sums, running sums, and a softmax, by shuffles within a warp and shared memory between.

use crate::maths;
use crate::shared::shared_array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Threads of a block.
pub const BLOCK_THREADS: u32 = 256;
const WARPS: u32 = BLOCK_THREADS / 32;

/// `value` of all lanes, combined two by two: all lanes get the result.
///
/// # Safety
/// All lanes of the warp are here.
#[inline(always)]
pub(crate) unsafe fn over_warp(value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let with_neighbour = |value: f32, distance: u32| {
        // SAFETY: the caller's promise.
        let (other, _) = unsafe { warp::warp_shuffle_xor(u32::MAX, value, distance, 32) };
        combine(value, other)
    };
    // Written out: where a kernel does this many times, a loop would stay one.
    let value = with_neighbour(value, 16);
    let value = with_neighbour(value, 8);
    let value = with_neighbour(value, 4);
    let value = with_neighbour(value, 2);
    with_neighbour(value, 1)
}

shared_array!(
    /// A sum a warp, for [`block_sums()`].
    WARP_SUMS: [f32; WARPS as usize]
);

/// Adds up an array: threads, then warps, then blocks; a sum a block is left.
///
/// - `x`: `n` elements, read, each thread those a whole grid apart; `sums`: one a block, written.
/// - Launch: one-dimensional, blocks of 256 threads, any number of them.
#[kernel]
pub unsafe fn block_sums(x: *const f32, sums: *mut f32, n: u32) {
    let mut sum = 0.0;
    let mut i = thread::index_1d();
    while i < n {
        // SAFETY: i < n.
        sum += unsafe { *x.add(i as usize) };
        i += thread::grid_dim_x() * BLOCK_THREADS;
    }
    let thread = thread::thread_idx_x();
    // SAFETY: whole warps, all of whose lanes come here; one writer for each value, and a barrier before it is read.
    unsafe {
        sum = over_warp(sum, |a, b| a + b);
        if thread.is_multiple_of(32) {
            WARP_SUMS.set(thread / 32, sum);
        }
        thread::sync_threads();
        if thread == 0 {
            let mut sum = 0.0;
            for warp in 0..WARPS {
                sum += WARP_SUMS.get(warp);
            }
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

/// Running sums of the lanes up to each.
///
/// # Safety
/// All lanes of the warp are here.
#[inline(always)]
unsafe fn running_over_warp(mut value: f32) -> f32 {
    for distance in [1, 2, 4, 8, 16] {
        // SAFETY: the caller's promise.
        let (before, is_there) = unsafe { crate::lanes::warp_shuffle_up(u32::MAX, value, distance, 32) };
        if is_there {
            value += before;
        }
    }
    value
}

shared_array!(
    /// A sum a warp, for [`block_scan()`].
    SCANNED: [f32; WARPS as usize]
);

/// Running sums within each block of 256 elements.
///
/// - `x`: an element a thread, read; `y`: as many, written: the sum of the block's elements up to this one.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn block_scan(x: *const f32, y: *mut f32) {
    let i = thread::index_1d() as usize;
    let thread = thread::thread_idx_x();
    // SAFETY: an element a thread; whole warps; one writer for each value, and a barrier before it is read.
    unsafe {
        let mut sum = running_over_warp(*x.add(i));
        if thread % 32 == 31 {
            SCANNED.set(thread / 32, sum);
        }
        thread::sync_threads();
        let mut before = 0.0;
        for warp in 0..WARPS - 1 {
            // Read whether it counts or not: under a condition each read finds out anew where the block's shared memory is.
            let total = SCANNED.get(warp);
            if warp < thread / 32 {
                before += total;
            }
        }
        sum += before;
        *y.add(i) = sum;
    }
}

/// Softmax of each row, a warp a row: the greatest, the sum of exponentials, and the quotients, in three passes.
///
/// - `x`: `rows * columns` elements, row by row, read; `y`: as many, written; `rows`; `columns`: a multiple of 32.
/// - Launch: one-dimensional, at least `32 * rows` threads, whole warps.
#[kernel]
pub unsafe fn softmax(x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    let row = thread::index_1d() / 32;
    if row < rows {
        let lane = warp::lane_id();
        // SAFETY: columns are below the row's.
        let read = |column: u32| unsafe { *x.add((row * columns + column) as usize) };
        let mut greatest = f32::NEG_INFINITY;
        let mut column = lane;
        while column < columns {
            greatest = greatest.max(read(column));
            column += 32;
        }
        // SAFETY: a warp has one row, so all its lanes are here.
        let greatest = unsafe { over_warp(greatest, f32::max) };
        let mut sum = 0.0;
        let mut column = lane;
        while column < columns {
            sum += maths::exponential(read(column) - greatest);
            column += 32;
        }
        // SAFETY: as above.
        let sum = unsafe { over_warp(sum, |a, b| a + b) };
        let scale = maths::reciprocal(sum);
        let mut column = lane;
        while column < columns {
            // SAFETY: as for `read`.
            unsafe {
                *y.add((row * columns + column) as usize) = maths::exponential(read(column) - greatest) * scale;
            }
            column += 32;
        }
    }
}
