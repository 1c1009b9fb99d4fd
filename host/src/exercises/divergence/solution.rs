use cuda_std::prelude::*;

/// Even elements settle from `x[i]`, odd ones from `1 - x[i]`.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `steps`: how often a number is halved.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn settle(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        let value = unsafe { *x.add(i as usize) };
        let mut settled = if i % 2 == 0 { value } else { 1.0 - value };
        for _ in 0..steps {
            settled = settled * 0.5 + 0.25;
        }
        // SAFETY: as above.
        unsafe { *y.add(i as usize) = settled };
    }
}
