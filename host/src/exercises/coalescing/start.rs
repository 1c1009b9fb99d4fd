use cuda_std::prelude::*;

/// Multiplies records of eight floats by eight gains.
///
/// - `x`: `8 * n` elements, read; `gains`: eight, read; `y`: `8 * n`, written: `y[8 i + c] = x[8 i + c] * gains[c]`.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn gain(x: *const f32, gains: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        for c in 0..8 {
            let at = (8 * i + c) as usize;
            // SAFETY: i < n, the number of records, and c < 8.
            unsafe { *y.add(at) = *x.add(at) * *gains.add(c as usize) };
        }
    }
}
