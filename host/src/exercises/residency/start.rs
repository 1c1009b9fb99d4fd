use crate::shared::shared_array;
use cuda_std::prelude::*;

const THREADS: u32 = 256;
/// Elements of each thread.
const EACH: u32 = 32;

shared_array!(ROWS: [f32; (THREADS * EACH) as usize]);

/// Turns each row of 256 elements around; a block has 32 rows.
///
/// - `x`, `y`: 8,192 elements a block; read, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn turn_rows(x: *const f32, y: *mut f32) {
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() * THREADS * EACH;
    // SAFETY: the elements are the block's, and a barrier stands between writing and reading.
    unsafe {
        for row in 0..EACH {
            ROWS.set(row * THREADS + thread, *x.add((first + row * THREADS + thread) as usize));
        }
        thread::sync_threads();
        for row in 0..EACH {
            *y.add((first + row * THREADS + thread) as usize) = ROWS.get(row * THREADS + THREADS - 1 - thread);
        }
    }
}
