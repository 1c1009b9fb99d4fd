use cuda_std::prelude::*;

/// Rows and columns of each thread's tile.
const ROWS: usize = 8;
const COLUMNS: usize = 7;

/// A tile of sums a thread: `steps` times the outer product of its 8 numbers of a column and its 7 of a row, the column a little
/// smaller in each step; then the sum of the tile.
///
/// - `x`: 15 rows of `n` numbers, of which thread i has column i: 8 of the tile's column, then 7 of its row; read.
/// - `y`: `n` elements, written. `steps`: products to be added.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn tile_sum(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: each of the 15 rows has n > i elements.
        let number = |k: usize| unsafe { *x.add(k * n as usize + i as usize) };
        let row: [f32; COLUMNS] = core::array::from_fn(|k| number(ROWS + k));
        let mut sum = 0.0;
        // Two rows at a time: 14 sums in registers, not 56.
        let mut r = 0;
        while r < ROWS {
            sum += tile::<2>([number(r), number(r + 1)], row, steps);
            r += 2;
        }
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = sum };
    }
}

/// The sum of a tile of `R` rows.
#[inline(always)]
fn tile<const R: usize>(mut column: [f32; R], row: [f32; COLUMNS], steps: u32) -> f32 {
    let mut tile = [[0.0_f32; COLUMNS]; R];
    for _ in 0..steps {
        for r in 0..R {
            for c in 0..COLUMNS {
                tile[r][c] += column[r] * row[c];
            }
            column[r] *= 0.999;
        }
    }
    let mut sum = 0.0;
    for sums in &tile {
        for value in sums {
            sum += value;
        }
    }
    sum
}
