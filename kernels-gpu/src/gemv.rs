//! A matrix times a few vectors at once, as a language model's layers do when they write one word (one vector) or read many (a batch).
//!
//! The matrix is read once however many vectors there are, so the work done with each byte of it grows with the batch.

use crate::maths;
use crate::reduce::over_warp;
use crate::wide::load4;
use cuda_std::prelude::*;

/// Rows of the matrix that a warp multiplies: each value of a vector that it reads serves all of them.
pub const ROWS: u32 = 4;
/// Columns that the lanes of a warp read at a time, four each.
const COLUMNS: u32 = 128;

/// What a lane has added up of a vector's products with each row.
type Sums = [f32; ROWS as usize];

/// Adds the products of four columns of each row with four values of a vector.
#[inline(always)]
fn add(sums: &mut Sums, rows: &[[f32; 4]; ROWS as usize], values: [f32; 4]) {
    for row in 0..ROWS as usize {
        for k in 0..4 {
            sums[row] = maths::multiply_add(rows[row][k], values[k], sums[row]);
        }
    }
}

/// Adds up over the lanes and writes the four results, which are `batch` elements apart.
///
/// # Safety
/// All lanes of the warp are here, and the results are elements of `y`.
#[inline(always)]
unsafe fn finish(sums: Sums, y: *mut f32, first: u32, batch: u32, lane: u32) {
    // SAFETY: the caller's promise.
    let total = |row: usize| unsafe { over_warp(sums[row], |a, b| a + b) };
    let totals = [total(0), total(1), total(2), total(3)];
    if lane == 0 {
        // SAFETY: as above.
        let write = |row: usize| unsafe { *y.add((first + row as u32 * batch) as usize) = totals[row] };
        write(0);
        write(1);
        write(2);
        write(3);
    }
}

/// The body of a kernel: `y = a * x` for the vectors that are counted up. A macro, since a loop over the vectors would be no longer
/// written out when there are sixteen, and their sums would move from registers to local memory.
macro_rules! times_batch {
    ($a:ident, $x:ident, $y:ident, $rows:ident, $columns:ident; $($vector:literal)*) => {{
        const BATCH: u32 = [$($vector),*].len() as u32;
        let first = thread::index_1d() / 32 * ROWS;
        // Whole warps: all lanes have the same rows.
        if first < $rows {
            let lane = thread::thread_idx_x() % 32;
            let mut sums = [[0.0; ROWS as usize]; BATCH as usize];
            let mut column = 4 * lane;
            while column < $columns {
                // SAFETY: rows and columns are those of the matrix, and columns a multiple of 4.
                let four = |row: u32| unsafe { load4($a, (first + row) * $columns + column) };
                let rows = [four(0), four(1), four(2), four(3)];
                // SAFETY: as above.
                $(add(&mut sums[$vector], &rows, unsafe { load4($x, $vector * $columns + column) });)*
                column += COLUMNS;
            }
            // SAFETY: all lanes are here, and the results are the rows'.
            $(unsafe { finish(sums[$vector], $y, first * BATCH + $vector, BATCH, lane) };)*
        }
    }};
}

/// A matrix times one vector.
///
/// - `a`: `rows * columns` elements, row by row, read; `x`: `columns` elements, read; each aligned to 16 bytes; `y`: `rows` elements,
///   written; `rows`: a multiple of 4; `columns`: a multiple of 128.
/// - Launch: one-dimensional, whole warps, at least `8 * rows` threads.
#[kernel]
pub unsafe fn gemv(a: *const f32, x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    times_batch!(a, x, y, rows, columns; 0);
}

/// A matrix times four vectors.
///
/// - `x`: four vectors of `columns` elements, one after the other, read; `y`: `rows` times four elements, the four of a row together,
///   written; the rest as for [`gemv()`].
#[kernel]
pub unsafe fn gemm_4(a: *const f32, x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    times_batch!(a, x, y, rows, columns; 0 1 2 3);
}

/// A matrix times sixteen vectors. Parameters as for [`gemm_4()`], with sixteen in place of four.
#[kernel]
pub unsafe fn gemm_16(a: *const f32, x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    times_batch!(a, x, y, rows, columns; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}
