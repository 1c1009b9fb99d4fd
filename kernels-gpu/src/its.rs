//! What changed when each thread got a program counter of its own: waiting for a lane of the same warp, and exchanging values
//! without a barrier.

use crate::maths;
use crate::shared::shared_array;
use crate::special;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Adds 1 to `counter[1]`, guarded by the lock `counter[0]`.
///
/// # Safety
/// `counter` has two elements, zero at first; the launch touches them here alone.
#[inline(always)]
unsafe fn count_under_lock(counter: *mut u32) {
    // SAFETY: the caller's promise; the fences keep the guarded accesses inside the lock.
    unsafe {
        thread::device_fence();
        let sum = counter.add(1);
        sum.write_volatile(sum.read_volatile() + 1);
        thread::device_fence();
        special::compare_and_swap(counter, 1, 0);
    }
}

/// Counts threads under a lock that each thread takes for itself, and releases before it leaves the loop. Lanes of a warp wait for
/// each other: it ends only where the lane that has the lock goes on while the others try.
///
/// - `counter`: two elements, zero at first: the lock, and the number of threads.
/// - Launch: any.
#[kernel]
pub unsafe fn spin_lock_in_warp(counter: *mut u32) {
    loop {
        // SAFETY: the lock and what it guards are touched here alone.
        unsafe {
            if special::compare_and_swap(counter, 0, 1) == 0 {
                count_under_lock(counter);
                break;
            }
        }
    }
}

/// [`spin_lock_in_warp()`] with one lane at the lock at a time, whom the others wait for at a warp-wide barrier: no lane spins
/// for another of its warp, so it ends under every rule of scheduling. Parameters as for [`spin_lock_in_warp()`].
///
/// - Launch: whole warps.
#[kernel]
pub unsafe fn spin_lock_by_turns(counter: *mut u32) {
    for turn in 0..32 {
        if warp::lane_id() == turn {
            // SAFETY: as in `spin_lock_in_warp`.
            unsafe {
                while special::compare_and_swap(counter, 0, 1) != 0 {}
                count_under_lock(counter);
            }
        }
        // SAFETY: whole warps, all of whose lanes come here.
        unsafe { warp::sync_warp(u32::MAX) };
    }
}

/// Most rounds that a lane stirs its value before the sum: lane `l` does `l % 8` of them, so lanes leave the loop one after the other.
const ROUNDS: u32 = 8;

/// A lane's summand: the loop that parts the warp.
///
/// # Safety
/// `x` has an element a thread.
#[inline(always)]
unsafe fn summand(x: *const u32) -> u32 {
    // SAFETY: an element a thread.
    maths::stirred(unsafe { *x.add(thread::index_1d() as usize) }, warp::lane_id() % ROUNDS)
}

/// What each lane's summand is, for the host: of element `i` with value `x`.
pub fn summand_of(i: u32, x: u32) -> u32 {
    maths::stirred(x, i % 32 % ROUNDS)
}

shared_array!(
    /// A value a lane and a zero for each, which the upper lanes add.
    VOLATILE_SUMS: [u32; 64]
);

/// Adds up a warp as it was done before Volta: through volatile shared memory, trusting that the lanes keep step.
///
/// - `x`: an element a thread, read; `sums`: one a block, written: the sum of [`summand_of`] each, wrapping.
/// - Launch: one-dimensional, blocks of 32 threads.
#[kernel]
pub unsafe fn warp_sum_volatile(x: *const u32, sums: *mut u32) {
    let lane = warp::lane_id();
    // SAFETY: indices are below 64. That other lanes have written what is read here is what nobody promises.
    unsafe {
        VOLATILE_SUMS.set_volatile(lane + 32, 0);
        VOLATILE_SUMS.set_volatile(lane, summand(x));
        for distance in [16, 8, 4, 2, 1] {
            let sum = VOLATILE_SUMS.get_volatile(lane).wrapping_add(VOLATILE_SUMS.get_volatile(lane + distance));
            VOLATILE_SUMS.set_volatile(lane, sum);
        }
        if lane == 0 {
            *sums.add(thread::block_idx_x() as usize) = VOLATILE_SUMS.get_volatile(0);
        }
    }
}

shared_array!(
    /// As for [`warp_sum_volatile()`].
    SYNCED_SUMS: [u32; 64]
);

/// [`warp_sum_volatile()`] with a warp-wide barrier between writing and reading, and between reading and writing again. Parameters
/// and launch as for it.
#[kernel]
pub unsafe fn warp_sum_synced(x: *const u32, sums: *mut u32) {
    let lane = warp::lane_id();
    // SAFETY: indices are below 64, and a barrier stands between accesses of different lanes.
    unsafe {
        SYNCED_SUMS.set(lane + 32, 0);
        SYNCED_SUMS.set(lane, summand(x));
        warp::sync_warp(u32::MAX);
        for distance in [16, 8, 4, 2, 1] {
            let sum = SYNCED_SUMS.get(lane).wrapping_add(SYNCED_SUMS.get(lane + distance));
            warp::sync_warp(u32::MAX);
            SYNCED_SUMS.set(lane, sum);
            warp::sync_warp(u32::MAX);
        }
        if lane == 0 {
            *sums.add(thread::block_idx_x() as usize) = SYNCED_SUMS.get(0);
        }
    }
}

/// [`warp_sum_volatile()`] by shuffles, which carry the values and wait for the lanes they name. Parameters and launch as for it.
#[kernel]
pub unsafe fn warp_sum_sync(x: *const u32, sums: *mut u32) {
    // SAFETY: an element a thread; all lanes come here.
    unsafe {
        let mut sum = summand(x);
        for distance in [16, 8, 4, 2, 1] {
            let (other, _) = warp::warp_shuffle_down(u32::MAX, sum, distance, 32);
            sum = sum.wrapping_add(other);
        }
        if warp::lane_id() == 0 {
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}
