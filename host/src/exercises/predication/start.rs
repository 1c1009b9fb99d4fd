use cuda_std::prelude::*;

/// Positive elements stay; the others take 32 steps of `v = v / 2 + 1`, which lead to 2.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn lift(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        let x = unsafe { *x.add(i as usize) };
        // SAFETY: as above.
        unsafe { *y.add(i as usize) = if x > 0.0 { x } else { lifted(x) } };
    }
}

/// Where the steps lead from `v`.
#[inline(always)]
fn lifted(v: f32) -> f32 {
    let mut v = v;
    for _ in 0..32 {
        v = v * 0.5 + 1.0;
    }
    v
}
