use cuda_std::prelude::*;

/// A polynomial at `x[i]`, by Horner's rule.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn polynomial_of(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        let x = unsafe { *x.add(i as usize) };
        let value = ((0.1 * x - 0.3) * x + 0.7) * x + 0.9;
        // SAFETY: as above.
        unsafe { *y.add(i as usize) = value };
    }
}
