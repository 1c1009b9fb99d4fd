//! Matrix multiplication that keeps its sums in registers: a thread has 64 elements of the product, not one.
//!
//! An element that a thread reads from shared memory serves eight multiply-adds instead of one, and a block of 128 × 128 elements reads
//! its operands from global memory a quarter as often as one of 32 × 32. Both memories drop out of the way, and the multiply-add
//! pipes set the pace.

use crate::maths;
use crate::shared::shared_array;
use crate::wide::{load4, store4};
use cuda_std::prelude::*;

/// Rows and columns of the product that a block computes.
pub const TILE: u32 = 128;
/// Threads of a block: each computes 8 × 8 elements.
pub const BLOCK_THREADS: u32 = 256;

/// Columns of `a`, and rows of `b`, that are in shared memory at a time.
const DEPTH: u32 = 8;
/// From one column of `a` to the next in shared memory: four values more than it has, so that eight threads that write two columns
/// meet in no bank.
const COLUMN: u32 = TILE + 4;

shared_array!(
    /// Columns of `a`, one after the other, twice: one set is read while the other is written.
    COLUMNS_OF_A: [f32; (2 * DEPTH * COLUMN) as usize]
);
shared_array!(
    /// Rows of `b`, likewise.
    ROWS_OF_B: [f32; (2 * DEPTH * TILE) as usize]
);

/// A thread's elements of the product: two by two squares of four by four, 16 rows and 32 columns apart.
type Sums = [[f32; 8]; 8];
const ROWS_APART: u32 = 16;
const COLUMNS_APART: u32 = 32;

/// What a thread brings from global memory for the next eight steps, on its way while the last eight are computed.
struct Fetched {
    a: [f32; 4],
    b: [f32; 4],
}

/// Which elements a thread moves from global to shared memory, relative to the block's part of `a` and `b`.
#[derive(Clone, Copy)]
struct Carrier {
    /// Row of `a`, and the first of its four columns.
    a_row: u32,
    a_column: u32,
    /// Row of `b`, and the first of its four columns.
    b_row: u32,
    b_column: u32,
}

impl Carrier {
    #[inline(always)]
    fn of(thread: u32) -> Self {
        Self { a_row: thread / 2, a_column: thread % 2 * 4, b_row: thread / 32, b_column: thread % 32 * 4 }
    }

    /// Writes to one of the two sets: four columns of `a`, a value each, and four neighbours in a row of `b`.
    ///
    /// # Safety
    /// No thread reads this set before the next barrier.
    #[inline(always)]
    unsafe fn put(self, set: u32, fetched: &Fetched) {
        let a = set * (DEPTH * COLUMN) + self.a_column * COLUMN + self.a_row;
        // SAFETY: rows are below 128 and columns below 8, and no two threads carry the same elements.
        unsafe {
            COLUMNS_OF_A.set(a, fetched.a[0]);
            COLUMNS_OF_A.set(a + COLUMN, fetched.a[1]);
            COLUMNS_OF_A.set(a + 2 * COLUMN, fetched.a[2]);
            COLUMNS_OF_A.set(a + 3 * COLUMN, fetched.a[3]);
            ROWS_OF_B.set4(set * (DEPTH * TILE) + self.b_row * TILE + self.b_column, fetched.b);
        }
    }
}

/// Adds the outer product of a column of `a` and a row of `b`, of which the thread's first elements are at `a` and `b`.
///
/// # Safety
/// The set was written, and a barrier stands in between.
#[inline(always)]
unsafe fn add_outer(sums: &mut Sums, a: u32, b: u32) {
    // SAFETY: the thread's rows and columns are those of the tile, and multiples of 4.
    let (a, b) = unsafe {
        (
            [COLUMNS_OF_A.get4(a), COLUMNS_OF_A.get4(a + ROWS_APART)],
            [ROWS_OF_B.get4(b), ROWS_OF_B.get4(b + COLUMNS_APART)],
        )
    };
    for r in 0..8 {
        for c in 0..8 {
            sums[r][c] = maths::multiply_add(a[r / 4][r % 4], b[c / 4][c % 4], sums[r][c]);
        }
    }
}

/// Adds the eight outer products of a set. Written out, so that every place in shared memory is a constant from the first.
///
/// # Safety
/// As for [`add_outer`].
#[inline(always)]
unsafe fn add_set(sums: &mut Sums, set: u32, row: u32, column: u32) {
    let (a, b) = (set * (DEPTH * COLUMN) + row, set * (DEPTH * TILE) + column);
    // SAFETY: the caller's promise.
    unsafe {
        add_outer(sums, a, b);
        add_outer(sums, a + COLUMN, b + TILE);
        add_outer(sums, a + 2 * COLUMN, b + 2 * TILE);
        add_outer(sums, a + 3 * COLUMN, b + 3 * TILE);
        add_outer(sums, a + 4 * COLUMN, b + 4 * TILE);
        add_outer(sums, a + 5 * COLUMN, b + 5 * TILE);
        add_outer(sums, a + 6 * COLUMN, b + 6 * TILE);
        add_outer(sums, a + 7 * COLUMN, b + 7 * TILE);
    }
}

/// `c = a * b` with 8 × 8 elements a thread. While a block works on one set of columns and rows in shared memory, the next is on its way
/// from global memory.
///
/// A warp has 32 × 64 elements of `c`, its lanes four by eight of them, so that its reads of shared memory are 64 and 128 neighbouring
/// bytes.
///
/// - `a`, `b`: `n * n` elements each, row by row, aligned to 16 bytes, read; `c`: as many, written; `n`: a multiple of 128.
/// - Launch: blocks of 256 threads, one-dimensional; `n / 128` of them along x (columns) and y (rows).
#[kernel]
pub unsafe fn matmul_register(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    let (first_row, first_column) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);
    let carrier = Carrier::of(thread);
    let (warp, lane) = (thread / 32, thread % 32);
    let row = warp / 2 * 32 + lane / 8 * 4;
    let column = warp % 2 * 64 + lane % 8 * 4;
    let mut from_a = (first_row + carrier.a_row) * n + carrier.a_column;
    let mut from_b = carrier.b_row * n + first_column + carrier.b_column;
    let mut sums = [[0.0; 8]; 8];
    // SAFETY: n is a multiple of the tile, so all elements are of the matrices, at multiples of 4. A set is written by all threads, read
    // behind the next barrier, and written again behind the one after.
    unsafe {
        carrier.put(0, &Fetched { a: load4(a, from_a), b: load4(b, from_b) });
        thread::sync_threads();
        let mut set = 0;
        let mut left = n / DEPTH - 1;
        while left > 0 {
            from_a += DEPTH;
            from_b += DEPTH * n;
            let fetched = Fetched { a: load4(a, from_a), b: load4(b, from_b) };
            add_set(&mut sums, set, row, column);
            set ^= 1;
            carrier.put(set, &fetched);
            thread::sync_threads();
            left -= 1;
        }
        add_set(&mut sums, set, row, column);
        let first = (first_row + row) * n + first_column + column;
        for (r, [s0, s1, s2, s3, s4, s5, s6, s7]) in sums.into_iter().enumerate() {
            let to = first + (r as u32 / 4 * ROWS_APART + r as u32 % 4) * n;
            store4(c, to, [s0, s1, s2, s3]);
            store4(c, to + COLUMNS_APART, [s4, s5, s6, s7]);
        }
    }
}
