use crate::shared::shared_array;
use cuda_std::prelude::*;

/// Cells on each side that a sum takes in.
const RADIUS: u32 = 3;
const BLOCK: u32 = 256;

shared_array!(
    /// The block's cells and three more on each side.
    TILE: [f32; (BLOCK + 2 * RADIUS) as usize]
);

/// Cell `at`, or zero outside the array.
///
/// # Safety
/// `x` has `n` elements.
unsafe fn cell(x: *const f32, at: u32, n: u32) -> f32 {
    // SAFETY: at < n.
    if at < n { unsafe { *x.add(at as usize) } } else { 0.0 }
}

/// Sums each cell and its three neighbours on each side, from the left to the right.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, blocks of 256 threads, at least `n` threads.
#[kernel]
pub unsafe fn smooth(x: *const f32, y: *mut f32, n: u32) {
    let (own, thread) = (thread::index_1d(), thread::thread_idx_x());
    // SAFETY: cells below n; each cell of the tile has one writer, and a barrier before it is read.
    unsafe {
        TILE.set(thread + RADIUS, cell(x, own, n));
        if thread < RADIUS {
            TILE.set(thread, cell(x, own.wrapping_sub(RADIUS), n));
            TILE.set(thread + RADIUS + BLOCK, cell(x, own + BLOCK, n));
        }
        thread::sync_threads();
        if own < n {
            let mut sum = 0.0;
            for at in 0..2 * RADIUS + 1 {
                sum += TILE.get(thread + at);
            }
            *y.add(own as usize) = sum;
        }
    }
}
