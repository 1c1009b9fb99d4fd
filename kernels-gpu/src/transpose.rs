//! Transposing a matrix: rows are read together, columns are not, and what shared memory can do about it.
//!
//! A block of 32 × 8 threads moves a tile of 32 × 32, four elements a thread.

use crate::shared::shared_array;
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
    for k in 0..TILE / ROWS {
        let row = row + k * ROWS;
        // SAFETY: rows and columns are below n.
        unsafe { *y.add((column * n + row) as usize) = *x.add((row * n + column) as usize) };
    }
}

/// Through a tile in shared memory: `set` and `get` write and read its element in a row and a column.
///
/// # Safety
/// As for [`transpose_naive()`]; `set` and `get` take rows and columns below [`TILE`].
#[inline(always)]
unsafe fn through_tile(x: *const f32, y: *mut f32, n: u32, set: impl Fn(u32, u32, f32), get: impl Fn(u32, u32) -> f32) {
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (bx, by) = (thread::block_idx_x() * TILE, thread::block_idx_y() * TILE);
    for k in 0..TILE / ROWS {
        let row = ty + k * ROWS;
        // SAFETY: rows and columns are below n.
        set(row, tx, unsafe { *x.add(((by + row) * n + bx + tx) as usize) });
    }
    thread::sync_threads();
    for k in 0..TILE / ROWS {
        let row = ty + k * ROWS;
        // SAFETY: as above.
        unsafe { *y.add(((bx + row) * n + by + tx) as usize) = get(tx, row) };
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
    // SAFETY: the caller's promise; row and column are below the tile's, and each value has one writer.
    unsafe {
        through_tile(
            x,
            y,
            n,
            |row, column, value| TILED.set(row * TILE + column, value),
            |row, column| TILED.get(row * TILE + column),
        )
    };
}

shared_array!(
    /// The tile of [`transpose_padded()`], a column wider.
    PADDED: [f32; (TILE * (TILE + 1)) as usize]
);

/// [`transpose_tiled()`] with a tile whose rows are one value longer: a column lies in 32 banks.
/// Parameters and launch as for [`transpose_naive()`].
#[kernel]
pub unsafe fn transpose_padded(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: as above, for a longer row.
    unsafe {
        through_tile(
            x,
            y,
            n,
            |row, column, value| PADDED.set(row * (TILE + 1) + column, value),
            |row, column| PADDED.get(row * (TILE + 1) + column),
        )
    };
}
