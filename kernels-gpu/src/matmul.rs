//! Matrix multiplication, twice: every thread for itself, and a block together through shared memory.

use crate::maths;
use crate::shared::{SharedArray, shared_array};
use cuda_std::prelude::*;

/// Rows and columns of a tile, and of a block of [`matmul_tiled()`].
pub const TILE: u32 = 32;

/// `c = a * b`, a thread an element of `c`, each reading its row and column from global memory.
///
/// - `a`, `b`: `n * n` elements each, row by row, read; `c`: as many, written.
/// - Launch: two-dimensional, at least `n` threads along x (columns) and y (rows).
#[kernel]
pub unsafe fn matmul_naive(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let at = thread::index_2d();
    if at.y < n && at.x < n {
        // SAFETY: `maths::dot` asks for k < n only.
        let (row, column) =
            (|k: u32| unsafe { *a.add((at.y * n + k) as usize) }, |k: u32| unsafe { *b.add((k * n + at.x) as usize) });
        // SAFETY: the element is one of the matrix.
        unsafe { *c.add((at.y * n + at.x) as usize) = maths::dot(row, column, n, 0.0) };
    }
}

/// [`matmul_naive()`] through tiles in shared memory, each of `LEN` = `TILE` × `TILE` elements.
///
/// # Safety
/// As the kernels say; the two tiles are this kernel's alone.
#[inline(always)]
unsafe fn tiled<const TILE: u32, const LEN: usize>(
    [tile_a, tile_b]: [&SharedArray<f32, LEN>; 2],
    (a, b, c): (*const f32, *const f32, *mut f32),
    n: u32,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let at = thread::index_2d();
    let mine = y * TILE + x;
    let mut sum = 0.0;
    let mut tile = 0;
    while tile < n {
        // SAFETY: n is a multiple of the tile, and each value of a tile has one writer; barriers stand between writes and
        // reads of the tiles.
        unsafe {
            tile_a.set(mine, *a.add((at.y * n + tile + x) as usize));
            tile_b.set(mine, *b.add(((tile + y) * n + at.x) as usize));
            thread::sync_threads();
            sum = maths::dot(|k| tile_a.get(y * TILE + k), |k| tile_b.get(k * TILE + x), TILE, sum);
            thread::sync_threads();
        }
        tile += TILE;
    }
    // SAFETY: the element is one of the matrix.
    unsafe { *c.add((at.y * n + at.x) as usize) = sum };
}

shared_array!(
    /// A tile of a.
    TILE_A: [f32; (TILE * TILE) as usize]
);
shared_array!(
    /// A tile of b.
    TILE_B: [f32; (TILE * TILE) as usize]
);

/// [`matmul_naive()`] through tiles of 32 × 32 in shared memory: each element is read from global memory once a tile.
///
/// - `n`: a multiple of 32; the rest as for [`matmul_naive()`].
/// - Launch: blocks of 32 × 32 threads, `n / 32` along x and y.
#[kernel]
pub unsafe fn matmul_tiled(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    // SAFETY: the caller's promise.
    unsafe { tiled::<TILE, { (TILE * TILE) as usize }>([&TILE_A, &TILE_B], (a, b, c), n) };
}

/// Rows and columns of a tile of [`matmul_tiled_16()`].
pub const TILE_16: u32 = 16;

shared_array!(
    /// A small tile of a.
    TILE_A_16: [f32; (TILE_16 * TILE_16) as usize]
);
shared_array!(
    /// A small tile of b.
    TILE_B_16: [f32; (TILE_16 * TILE_16) as usize]
);

/// [`matmul_tiled()`] with the tiles of 16 × 16 of chapter 3: half the reuse, and two rows of a tile in each warp.
///
/// - `n`: a multiple of 16; the rest as for [`matmul_naive()`].
/// - Launch: blocks of 16 × 16 threads, `n / 16` along x and y.
#[kernel]
pub unsafe fn matmul_tiled_16(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    // SAFETY: the caller's promise.
    unsafe { tiled::<TILE_16, { (TILE_16 * TILE_16) as usize }>([&TILE_A_16, &TILE_B_16], (a, b, c), n) };
}
