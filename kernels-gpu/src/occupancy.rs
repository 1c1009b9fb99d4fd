//! Who gets to live on the SM: kernels whose register counts decide how many warps fit.
//!
//! [`light()`] and [`heavy()`] are one algorithm at two sizes: a thread keeps a tile of sums in registers and adds outer
//! products to it, as a register-tiled matrix multiplication does. Tile, column and row are most of the registers.

use crate::maths;
use cuda_std::prelude::*;

/// Rows and columns of the tile of [`light()`].
pub const LIGHT_TILE: (usize, usize) = (3, 2);

/// Rows and columns of the tile of [`heavy()`].
pub const HEAVY_TILE: (usize, usize) = (7, 8);

/// Elements of each thread of [`ilp4()`], each with a chain of its own.
pub const ILP4_ELEMENTS: usize = 4;

/// Loads the thread's column and row, `n` apart so that the lanes of a warp read neighbours; adds up outer products;
/// stores the sum of the tile.
///
/// # Safety
/// `x` has `(ROWS + COLUMNS) * n` elements, `y` has `n`.
#[inline(always)]
unsafe fn tile<const ROWS: usize, const COLUMNS: usize, const IN_TWOS: bool>(
    x: *const f32,
    y: *mut f32,
    n: u32,
    steps: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: k < ROWS + COLUMNS and i < n.
        let load = |k: usize| unsafe { *x.add((k as u32 * n + i) as usize) };
        let mut column = [0.0; ROWS];
        for (k, value) in column.iter_mut().enumerate() {
            *value = load(k);
        }
        let mut row = [0.0; COLUMNS];
        for (k, value) in row.iter_mut().enumerate() {
            *value = load(ROWS + k);
        }
        let sum = match IN_TWOS {
            true => maths::outer_products_in_twos(column, row, steps),
            false => maths::outer_products(column, row, steps),
        };
        // SAFETY: i < n.
        unsafe { *y.add(i as usize) = sum };
    }
}

/// A kernel of few registers: 22 on sm_120, so that registers limit nothing.
///
/// - `x`: `(3 + 2) * n` elements, read: thread `i` has the elements `i`, `n + i`, `2n + i`, …, the column before the row;
///   `y`: `n` elements, written; `steps`: outer products added up.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn light(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { tile::<{ LIGHT_TILE.0 }, { LIGHT_TILE.1 }, false>(x, y, n, steps) };
}

/// A kernel of many registers: 80 on sm_120 without a spill, so that half of the warps fit.
///
/// - `x`: `(7 + 8) * n` elements, read; the rest as for [`light()`].
#[kernel]
pub unsafe fn heavy(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { tile::<{ HEAVY_TILE.0 }, { HEAVY_TILE.1 }, true>(x, y, n, steps) };
}

/// [`heavy()`] under launch bounds that ask for all warps (see [`crate::bounds`]): 40 registers, and the rest spills to
/// local memory. Parameters as for [`heavy()`]; blocks of at most 256 threads.
#[kernel]
pub unsafe fn heavy_capped(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { tile::<{ HEAVY_TILE.0 }, { HEAVY_TILE.1 }, false>(x, y, n, steps) };
}

/// Rows and columns of the tile of [`accumulators()`].
pub const ACCUMULATORS_TILE: (usize, usize) = (8, 8);

/// 64 sums in registers, as the inner loops of matrix multiplications keep them.
///
/// - `x`: `(8 + 8) * n` elements, read; the rest as for [`light()`].
#[kernel]
pub unsafe fn accumulators(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { tile::<{ ACCUMULATORS_TILE.0 }, { ACCUMULATORS_TILE.1 }, false>(x, y, n, steps) };
}

/// [`accumulators()`] under a cap of 40 registers (see [`crate::bounds`]): most of the sums live in local memory.
/// Parameters and launch as for [`accumulators()`].
#[kernel]
pub unsafe fn accumulators_capped(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { tile::<{ ACCUMULATORS_TILE.0 }, { ACCUMULATORS_TILE.1 }, false>(x, y, n, steps) };
}

/// Four elements a thread, each on path A of chapter 1: four independent chains, where a thread of
/// [`crate::divergence::path_a()`] has one. It hides the same latency with a quarter of the warps.
///
/// - `x`: `4 * n` elements, read; `y`: `4 * n` elements, written; thread `i` has the elements `i`, `n + i`, `2n + i`
///   and `3n + i`; `steps`: how often the path is walked.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn ilp4(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut values = [0.0; ILP4_ELEMENTS];
        for (k, value) in values.iter_mut().enumerate() {
            // SAFETY: k < 4 and i < n.
            *value = unsafe { *x.add((k as u32 * n + i) as usize) };
        }
        let values = maths::path_a_each(values, steps);
        for (k, value) in values.iter().enumerate() {
            // SAFETY: as above.
            unsafe { *y.add((k as u32 * n + i) as usize) = *value };
        }
    }
}
