use cuda_std::prelude::*;

/// `y[i] = 3 x[i]` for every element, whatever the grid.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, any number of threads.
#[kernel]
pub unsafe fn triple(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = 3.0 * *x.add(i as usize) };
    }
}
