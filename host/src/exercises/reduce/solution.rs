use crate::shared::shared_array;
use cuda_std::prelude::*;
use cuda_std::warp;

const THREADS: u32 = 256;
const WARPS: u32 = THREADS / 32;

shared_array!(PARTS: [f32; WARPS as usize]);

/// The sum over the lanes of a warp.
///
/// # Safety
/// All lanes are here.
#[inline(always)]
unsafe fn over_warp(sum: f32) -> f32 {
    // SAFETY: the caller's promise.
    let with = |sum: f32, distance: u32| sum + unsafe { warp::warp_shuffle_xor(u32::MAX, sum, distance, 32) }.0;
    with(with(with(with(with(sum, 16), 8), 4), 2), 1)
}

/// Adds up each block's 256 elements.
///
/// - `x`: 256 elements a block, read; `sums`: one a block, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn add_up(x: *const f32, sums: *mut f32) {
    let thread = thread::thread_idx_x();
    // SAFETY: an element a thread; whole warps come to the shuffles; one writer for each value, and a barrier before it is read.
    unsafe {
        let sum = over_warp(*x.add(thread::index_1d() as usize));
        if thread % 32 == 0 {
            PARTS.set(thread / 32, sum);
        }
        thread::sync_threads();
        if thread < 32 {
            let sum = over_warp(if thread < WARPS { PARTS.get(thread) } else { 0.0 });
            if thread == 0 {
                *sums.add(thread::block_idx_x() as usize) = sum;
            }
        }
    }
}
