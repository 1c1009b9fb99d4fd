use cuda_std::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::warp;

/// The sum over the lanes of a warp.
///
/// # Safety
/// All lanes are here.
#[inline(always)]
unsafe fn over_warp(sum: f32) -> f32 {
    // SAFETY: the caller's promise.
    let with = |sum: f32, distance: u32| sum + unsafe { warp::warp_shuffle_xor(u32::MAX, sum, distance, 32) }.0;
    with(with(with(with(with(sum, 16), 8), 4), 2), 1)
}

/// A matrix times four vectors, a warp a row.
///
/// - `a`: `rows * columns` elements, row by row, read; `x`: four vectors of `columns` elements, one after the other, read; `y`: the four
///   results of each row, written; `columns`: a multiple of 32.
/// - Launch: one-dimensional, whole warps, at least `32 * rows` threads.
#[kernel]
pub unsafe fn four_products(a: *const f32, x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    let row = thread::index_1d() / 32;
    let lane = thread::thread_idx_x() % 32;
    if row < rows {
        for vector in 0..4 {
            let mut sum = 0.0_f32;
            let mut column = lane;
            while column < columns {
                // SAFETY: row and column are those of the matrix.
                let (weight, value) =
                    unsafe { (*a.add((row * columns + column) as usize), *x.add((vector * columns + column) as usize)) };
                sum = weight.mul_add(value, sum);
                column += 32;
            }
            // SAFETY: a warp has one row, so all its lanes are here; the element is one of y.
            unsafe {
                let sum = over_warp(sum);
                if lane == 0 {
                    *y.add((4 * row + vector) as usize) = sum;
                }
            }
        }
    }
}
