use crate::shared::shared_array;
use cuda_std::prelude::*;

const THREADS: u32 = 256;

shared_array!(PARTS: [f32; THREADS as usize]);

/// Adds up each block's 256 elements.
///
/// - `x`: 256 elements a block, read; `sums`: one a block, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn add_up(x: *const f32, sums: *mut f32) {
    let thread = thread::thread_idx_x();
    // SAFETY: an element a thread; one writer for each value, and a barrier before another thread reads it.
    unsafe {
        let mut sum = *x.add(thread::index_1d() as usize);
        PARTS.set(thread, sum);
        let mut half = THREADS / 2;
        while half > 0 {
            thread::sync_threads();
            if thread < half {
                sum += PARTS.get(thread + half);
                PARTS.set(thread, sum);
            }
            half /= 2;
        }
        if thread == 0 {
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}
