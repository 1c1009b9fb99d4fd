use cuda_std::prelude::*;

/// Multiplies records of eight floats by eight gains.
///
/// - `x`: `8 * n` elements, read; `gains`: eight, read; `y`: `8 * n`, written: `y[8 i + c] = x[8 i + c] * gains[c]`.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn gain(x: *const f32, gains: *const f32, y: *mut f32, n: u32) {
    let threads = thread::block_dim_x();
    let first = 8 * threads * thread::block_idx_x() + thread::thread_idx_x();
    for k in 0..8 {
        let at = first + k * threads;
        if at < 8 * n {
            // SAFETY: at < 8 n, the number of floats.
            unsafe { *y.add(at as usize) = *x.add(at as usize) * *gains.add((at % 8) as usize) };
        }
    }
}
