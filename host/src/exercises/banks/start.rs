use crate::shared::shared_array;
use cuda_std::prelude::*;

/// Rows and columns of a tile.
const SIDE: u32 = 32;
/// Words from a row of the tile to the next.
const PITCH: u32 = SIDE;

shared_array!(SQUARE: [f32; (SIDE * PITCH) as usize]);

/// Transposes a square matrix, a tile of 32 by 32 a block.
///
/// - `input`, `output`: `size * size` elements, row after row; read, written. `size` is a multiple of 32.
/// - Launch: blocks of 32 by 8 threads, a block a tile.
#[kernel]
pub unsafe fn transpose_square(input: *const f32, output: *mut f32, size: u32) {
    let (column, first) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * SIDE, thread::block_idx_y() * SIDE);
    for k in 0..4 {
        let row = first + 8 * k;
        // SAFETY: the tile lies within the matrix, and row and column within the tile.
        unsafe { SQUARE.set(row * PITCH + column, *input.add(((top + row) * size + left + column) as usize)) };
    }
    thread::sync_threads();
    for k in 0..4 {
        let row = first + 8 * k;
        // SAFETY: as above; the barrier stands between writing and reading.
        unsafe { *output.add(((left + row) * size + top + column) as usize) = SQUARE.get(column * PITCH + row) };
    }
}
