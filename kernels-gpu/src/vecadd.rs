//! Vector addition: the smallest kernel with everything a kernel needs. The loop of the CPU became the grid.

use cuda_std::prelude::*;

/// Adds two arrays of `n` elements, a thread an element: `c[i] = a[i] + b[i]`.
///
/// The grid is rounded up to whole blocks, so the threads past the end must do nothing: hence the guard.
///
/// - `a`, `b`: `n` elements each, read; `c`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn vecadd(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and each array has n elements.
        unsafe { *c.add(i) = *a.add(i) + *b.add(i) };
    }
}

/// [`vecadd()`] without the guard: right when the threads of the grid are exactly the elements, and a read past the
/// end of the arrays by the first thread too many otherwise.
///
/// - `a`, `b`: an element a thread, read; `c`: an element a thread, written.
/// - Launch: one-dimensional, exactly as many threads as elements.
#[kernel]
pub unsafe fn vecadd_unguarded(a: *const f32, b: *const f32, c: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: the launch has as many threads as each array has elements.
    unsafe { *c.add(i) = *a.add(i) + *b.add(i) };
}
