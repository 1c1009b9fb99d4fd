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
    // Each step halves the distance from 2: 32 of them divide it by 2 to the 32nd.
    (v - 2.0) * (1.0 / 4_294_967_296.0) + 2.0
}
