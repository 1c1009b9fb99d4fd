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
        let mut sums = [0.0_f32; 4];
        let mut column = lane;
        while column < columns {
            // SAFETY: row and column are those of the matrix.
            unsafe {
                let weight = *a.add((row * columns + column) as usize);
                let value = |vector: u32| *x.add((vector * columns + column) as usize);
                sums = [
                    weight.mul_add(value(0), sums[0]),
                    weight.mul_add(value(1), sums[1]),
                    weight.mul_add(value(2), sums[2]),
                    weight.mul_add(value(3), sums[3]),
                ];
            }
            column += 32;
        }
        // SAFETY: a warp has one row, so all its lanes are here; the elements are those of y.
        unsafe {
            let sums = [over_warp(sums[0]), over_warp(sums[1]), over_warp(sums[2]), over_warp(sums[3])];
            if lane == 0 {
                let write = |vector: u32| *y.add((4 * row + vector) as usize) = sums[vector as usize];
                write(0);
                write(1);
                write(2);
                write(3);
            }
        }
    }
}
