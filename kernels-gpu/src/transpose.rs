//! Transposing a matrix: rows are read together, columns are not, and what shared memory can do about it.
//!
//! A block of 32 × 8 threads moves a tile of 32 × 32, four elements a thread.

use crate::shared::{SharedArray, shared_array};
use cuda_std::prelude::*;

/// Rows and columns of a tile.
pub const TILE: u32 = 32;
/// Rows of a block's threads.
pub const ROWS: u32 = 8;

/// Writes each row to a column: the reads of a warp are one line, its writes 32.
///
/// - `x`: `n * n` elements, row by row, read; `y`: as many, written; `n`: a multiple of 32.
/// - Launch: blocks of 32 × 8 threads, `n / 32` along x and y.
#[kernel]
pub unsafe fn transpose_naive(x: *const f32, y: *mut f32, n: u32) {
    let column = thread::block_idx_x() * TILE + thread::thread_idx_x();
    let row = thread::block_idx_y() * TILE + thread::thread_idx_y();
    let (from, to) = (row * n + column, column * n + row);
    // SAFETY: rows and columns are below n. All loads before the first store: a pointer does not say that no store changes what is yet
    // to be loaded, so the compiler has to keep them in their order.
    unsafe {
        let load = |k: u32| *x.add((from + k * ROWS * n) as usize);
        let values = [load(0), load(1), load(2), load(3)];
        *y.add(to as usize) = values[0];
        *y.add((to + ROWS) as usize) = values[1];
        *y.add((to + 2 * ROWS) as usize) = values[2];
        *y.add((to + 3 * ROWS) as usize) = values[3];
    }
}

/// Through a tile in shared memory whose rows are `WIDTH` values apart.
///
/// # Safety
/// As for [`transpose_naive()`]; the tile has [`TILE`] rows, and is this kernel's alone.
#[inline(always)]
unsafe fn through_tile<const WIDTH: u32, const LEN: usize>(
    tile: &SharedArray<f32, LEN>,
    (x, y): (*const f32, *mut f32),
    n: u32,
) {
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (write, read) = (ty * WIDTH + tx, tx * WIDTH + ty);
    // One product a place, and steps from row to row; written out: a loop has the compiler multiply for each row.
    let step = ROWS * n;
    let from = (thread::block_idx_y() * TILE + ty) * n + (thread::block_idx_x() * TILE + tx);
    // SAFETY: rows and columns are below n, and those of the tile below its own; each value has one writer, and a barrier stands before
    // its reader.
    unsafe {
        let load = |k: u32| *x.add((from + k * step) as usize);
        let values = [load(0), load(1), load(2), load(3)];
        tile.set(write, values[0]);
        tile.set(write + ROWS * WIDTH, values[1]);
        tile.set(write + 2 * ROWS * WIDTH, values[2]);
        tile.set(write + 3 * ROWS * WIDTH, values[3]);
        thread::sync_threads();
        let to = (thread::block_idx_x() * TILE + ty) * n + (thread::block_idx_y() * TILE + tx);
        let store = |k: u32| *y.add((to + k * step) as usize) = tile.get(read + k * ROWS);
        store(0);
        store(1);
        store(2);
        store(3);
    }
}

shared_array!(
    /// The tile of [`transpose_tiled()`].
    TILED: [f32; (TILE * TILE) as usize]
);

/// [`transpose_naive()`] through shared memory: reads and writes of global memory are whole lines, but the 32 values of a
/// column of the tile lie in one bank. Parameters and launch as for [`transpose_naive()`].
#[kernel]
pub unsafe fn transpose_tiled(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: the caller's promise.
    unsafe { through_tile::<TILE, { (TILE * TILE) as usize }>(&TILED, (x, y), n) };
}

shared_array!(
    /// The tile of [`transpose_padded()`], a column wider.
    PADDED: [f32; (TILE * (TILE + 1)) as usize]
);

/// [`transpose_tiled()`] with a tile whose rows are one value longer: a column lies in 32 banks.
/// Parameters and launch as for [`transpose_naive()`].
#[kernel]
pub unsafe fn transpose_padded(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: the caller's promise.
    unsafe { through_tile::<{ TILE + 1 }, { (TILE * (TILE + 1)) as usize }>(&PADDED, (x, y), n) };
}
