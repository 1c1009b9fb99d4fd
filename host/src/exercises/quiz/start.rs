use cuda_std::prelude::*;

/// Elements of each thread.
const PER_THREAD: u32 = 4;

/// `y[i] = 0.1 x[i] + 0.7` for positive elements and `0.1 x[i] - 0.7` for the others, four elements a thread.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n / 4` threads, rounded up.
#[kernel]
pub unsafe fn exam(x: *const f32, y: *mut f32, n: u32) {
    let thread = thread::index_1d();
    for k in 0..PER_THREAD {
        let i = thread * PER_THREAD + k;
        if i < n {
            // SAFETY: i < n, the number of elements.
            let x = unsafe { *x.add(i as usize) } as f64;
            let value = if x > 0.0 { 0.1 * x + 0.7 } else { 0.1 * x - 0.7 };
            // SAFETY: as above.
            unsafe { *y.add(i as usize) = value as f32 };
        }
    }
}
