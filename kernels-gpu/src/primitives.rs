//! One kernel for each group of cuda_std's primitives. Tests run them, laboratories do not: they hold the compiler to
//! what it must not do (duplicate a barrier), and every back end to the same results.

use crate::shared::shared_array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Threads of a block that [`block_reverse()`] and [`barrier_between_ifs()`] are launched with.
pub const BLOCK_THREADS: usize = 128;

shared_array!(
    /// The block's values, for [`block_reverse()`].
    REVERSED: [u32; BLOCK_THREADS]
);

/// Reverses the values of each block, through shared memory.
///
/// - `values`: an element a thread, read and written.
/// - Launch: one-dimensional, blocks of 128 threads.
#[kernel]
pub unsafe fn block_reverse(values: *mut u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: there is an element for each thread, and no other thread has it.
    let value = unsafe { values.add(thread::index_1d() as usize) };
    // SAFETY: the block has as many threads as the array has values; the barrier stands between write and read.
    unsafe {
        REVERSED.set(thread, *value);
        thread::sync_threads();
        *value = REVERSED.get(BLOCK_THREADS as u32 - 1 - thread);
    }
}

shared_array!(
    /// Four values a thread, for [`barrier_between_ifs()`].
    QUARTETS: [f32; 4 * BLOCK_THREADS]
);

/// A barrier between two `if`s with the same condition: an optimiser that follows the condition from the first to the
/// second would put a barrier into both arms, where the threads of a warp never meet.
///
/// Odd threads write four values to shared memory, everyone waits, and odd threads read those of the thread two places
/// on, around the block. Even threads write -1.
///
/// - `output`: an element a thread, written.
/// - Launch: one-dimensional, blocks of 128 threads.
#[kernel]
pub unsafe fn barrier_between_ifs(output: *mut f32) {
    let thread = thread::thread_idx_x();
    let is_odd = thread % 2 == 1;
    let base = thread as f32;
    let mut sum = -1.0;
    if is_odd {
        // SAFETY: four values for each thread of the block.
        unsafe { QUARTETS.set4(4 * thread, [base, base + 0.25, base + 0.5, base + 0.75]) };
    }
    thread::sync_threads();
    if is_odd {
        let other = (thread + 2) % BLOCK_THREADS as u32;
        // SAFETY: written by an odd thread, before the barrier.
        let [x, y, z, w] = unsafe { QUARTETS.get4(4 * other) };
        sum = x + y + z + w;
    }
    // SAFETY: there is an element for each thread.
    unsafe { *output.add(thread::index_1d() as usize) = sum };
}

/// The four shuffles of 32-bit values in sections of lanes; `b` is the lane, the distance or the mask.
///
/// For each thread four pairs are written: the value read, and whether there was a lane to read from. The order is
/// idx, up, down, xor; the value that a lane gives is ten times its number.
///
/// - `output`: eight elements a thread, written; `b`: 0 to 31; `width`: a power of two, at most 32.
/// - Launch: one-dimensional, whole warps.
#[kernel]
pub unsafe fn shuffles(output: *mut u32, b: u32, width: u32) {
    let given = 10 * warp::lane_id();
    // SAFETY: whole warps, all of whose lanes come here; eight elements for each thread.
    unsafe {
        let read = [
            warp::warp_shuffle_idx(u32::MAX, given, b, width),
            crate::lanes::warp_shuffle_up(u32::MAX, given, b, width),
            warp::warp_shuffle_down(u32::MAX, given, b, width),
            warp::warp_shuffle_xor(u32::MAX, given, b, width),
        ];
        for (k, (value, in_section)) in read.iter().enumerate() {
            let pair = output.add((8 * thread::index_1d() + 2 * k as u32) as usize);
            *pair = *value;
            *pair.add(1) = *in_section as u32;
        }
    }
}

/// A 64-bit value down the warp: two shuffles. Lane `i` gives `i + 0.5`.
///
/// - `output`: an element a thread, written; `delta`: how far down.
/// - Launch: one-dimensional, whole warps.
#[kernel]
pub unsafe fn shuffle_f64(output: *mut f64, delta: u32) {
    let given = f64::from(warp::lane_id()) + 0.5;
    // SAFETY: whole warps, all of whose lanes come here; an element for each thread.
    unsafe {
        let (value, _) = warp::warp_shuffle_down(u32::MAX, given, delta, 32);
        *output.add(thread::index_1d() as usize) = value;
    }
}

/// The three votes, after lanes below `below` have gone another way than the rest and met again.
///
/// For each thread three values are written: the ballot of the odd lanes, whether any lane is below `below`, whether
/// all are.
///
/// - `output`: three elements a thread, written; `below`: 0 to 32.
/// - Launch: one-dimensional, whole warps.
#[kernel]
pub unsafe fn votes(output: *mut u32, below: u32) {
    let lane = warp::lane_id();
    let is_below = lane < below;
    // SAFETY: whole warps, all of whose lanes come here; three elements for each thread.
    unsafe {
        let triple = output.add((3 * thread::index_1d()) as usize);
        if is_below {
            *triple = lane;
        }
        warp::sync_warp(u32::MAX);
        *triple = warp::warp_vote_ballot(u32::MAX, lane % 2 == 1);
        *triple.add(1) = warp::warp_vote_any(u32::MAX, is_below) as u32;
        *triple.add(2) = warp::warp_vote_all(u32::MAX, is_below) as u32;
    }
}

/// The barriers that also count and combine: over each block, how many threads have a value that is not zero, whether
/// all have, whether any has.
///
/// - `values`: an element a thread, read; `output`: three elements a thread, written.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn barrier_reductions(values: *const u32, output: *mut u32) {
    let i = thread::index_1d() as usize;
    // SAFETY: an element and three for each thread.
    unsafe {
        let value = *values.add(i);
        let triple = output.add(3 * i);
        *triple = thread::sync_threads_count(value);
        *triple.add(1) = (thread::sync_threads_and(value) != 0) as u32;
        *triple.add(2) = (thread::sync_threads_or(value) != 0) as u32;
    }
}
