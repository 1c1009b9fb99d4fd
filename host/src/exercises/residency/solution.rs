use crate::shared::shared_array;
use cuda_std::prelude::*;

const THREADS: u32 = 256;
/// Elements of each thread.
const EACH: u32 = 32;
/// Rows that are in shared memory at a time.
const AT_ONCE: u32 = 4;

shared_array!(ROWS: [f32; (THREADS * AT_ONCE) as usize]);

/// Turns each row of 256 elements around; a block has 32 rows.
///
/// - `x`, `y`: 8,192 elements a block; read, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn turn_rows(x: *const f32, y: *mut f32) {
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() * THREADS * EACH;
    let mut rows = 0;
    while rows < EACH {
        // SAFETY: the elements are the block's; a barrier stands between writing and reading, and between reading and writing again.
        unsafe {
            for row in 0..AT_ONCE {
                ROWS.set(row * THREADS + thread, *x.add((first + (rows + row) * THREADS + thread) as usize));
            }
            thread::sync_threads();
            for row in 0..AT_ONCE {
                let turned = ROWS.get(row * THREADS + THREADS - 1 - thread);
                *y.add((first + (rows + row) * THREADS + thread) as usize) = turned;
            }
            thread::sync_threads();
        }
        rows += AT_ONCE;
    }
}
