//! One sum of a whole array, three ways. All begin alike, with a sum a thread; they differ in how a block makes one of them:
//! through shared memory step by step, by shuffles within its warps, or not at all, each warp adding to the result.

use crate::reduce::over_warp;
use crate::shared::shared_array;
use crate::special;
use crate::wide::load4;
use cuda_std::prelude::*;

/// Threads of a block.
pub const BLOCK_THREADS: u32 = 256;
const WARPS: u32 = BLOCK_THREADS / 32;

/// Fours of elements that a thread asks for before it adds the first: bytes in flight are what bandwidth is made of.
const FOURS: u32 = 4;

/// Elements that a block adds up in a step.
pub const STEP_ELEMENTS: u32 = BLOCK_THREADS * FOURS * 4;

/// The sum of what a thread reads: the block's steps in turn with those of other blocks, and what is left of the array behind the
/// last whole step, element by element.
///
/// # Safety
/// `x` has `n` elements and is aligned to 16 bytes.
#[inline(always)]
unsafe fn over_thread(x: *const f32, n: u32) -> f32 {
    let thread = thread::thread_idx_x();
    let whole = n - n % STEP_ELEMENTS;
    let mut sums = [0.0; 4];
    // The thread's first element counts the steps, too: one register less than a counter beside it.
    let mut first = thread::block_idx_x() * STEP_ELEMENTS + 4 * thread;
    while first < whole {
        // SAFETY: the step is a whole one, so its elements are below n.
        let four = |k: u32| unsafe { load4(x, first + k * (4 * BLOCK_THREADS)) };
        let fours = [four(0), four(1), four(2), four(3)];
        // Written out, so that the fours stay in registers.
        add(&mut sums, fours[0]);
        add(&mut sums, fours[1]);
        add(&mut sums, fours[2]);
        add(&mut sums, fours[3]);
        first += thread::grid_dim_x() * STEP_ELEMENTS;
    }
    let mut i = whole + thread::index_1d();
    while i < n {
        // SAFETY: i < n.
        sums[0] += unsafe { *x.add(i as usize) };
        i += thread::grid_dim_x() * BLOCK_THREADS;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[inline(always)]
fn add(sums: &mut [f32; 4], values: [f32; 4]) {
    *sums = [sums[0] + values[0], sums[1] + values[1], sums[2] + values[2], sums[3] + values[3]];
}

shared_array!(
    /// A sum a thread, for [`reduce_shared()`].
    THREAD_TOTALS: [f32; BLOCK_THREADS as usize]
);

/// Adds up an array; a sum a block is left. Within a block by halves in shared memory: 128 threads add the other 128, then 64, and so
/// on, with a barrier before each step.
///
/// - `x`: `n` elements, aligned to 16 bytes, read; `sums`: one a block, written.
/// - Launch: one-dimensional, blocks of 256 threads, any number of them.
#[kernel]
pub unsafe fn reduce_shared(x: *const f32, sums: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: the caller's promise; one writer for each value, and a barrier before another thread reads it.
    unsafe {
        let mut sum = over_thread(x, n);
        THREAD_TOTALS.set(thread, sum);
        let mut half = BLOCK_THREADS / 2;
        while half > 0 {
            thread::sync_threads();
            if thread < half {
                sum += THREAD_TOTALS.get(thread + half);
                THREAD_TOTALS.set(thread, sum);
            }
            half /= 2;
        }
        if thread == 0 {
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

shared_array!(
    /// A sum a warp, for [`reduce_shuffle()`].
    WARP_TOTALS: [f32; WARPS as usize]
);

/// Adds up an array; a sum a block is left. Within a warp by shuffles, which pass registers from lane to lane; shared memory carries
/// one value a warp, behind one barrier. Parameters and launch as for [`reduce_shared()`].
#[kernel]
pub unsafe fn reduce_shuffle(x: *const f32, sums: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: the caller's promise; whole warps, all of whose lanes come to the shuffles; one writer for each value, and a barrier
    // before it is read.
    unsafe {
        let sum = over_warp(over_thread(x, n), |a, b| a + b);
        if thread.is_multiple_of(32) {
            WARP_TOTALS.set(thread / 32, sum);
        }
        thread::sync_threads();
        if thread < 32 {
            let sum = if thread < WARPS { WARP_TOTALS.get(thread) } else { 0.0 };
            let sum = over_warp(sum, |a, b| a + b);
            if thread == 0 {
                *sums.add(thread::block_idx_x() as usize) = sum;
            }
        }
    }
}

/// Adds an array to `total`, in one launch: shuffles within a warp, and an atomic addition a warp. No barrier, no shared memory, and
/// no order: which warp comes first is chance, and floats do not add up the same in every order.
///
/// - `x`: as for [`reduce_shared()`]; `total`: one element, added to.
/// - Launch: one-dimensional, blocks of 256 threads, any number of them.
#[kernel]
pub unsafe fn reduce_atomic(x: *const f32, total: *mut f32, n: u32) {
    // SAFETY: the caller's promise; whole warps, all of whose lanes come to the shuffles; the launch touches the total atomically only.
    unsafe {
        let sum = over_warp(over_thread(x, n), |a, b| a + b);
        if thread::thread_idx_x().is_multiple_of(32) {
            special::add_f32(total, sum);
        }
    }
}
