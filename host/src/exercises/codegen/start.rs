use cuda_std::prelude::*;

/// Coefficients of the polynomial, from the highest power on.
const COEFFICIENTS: [f32; 8] = [0.031, -0.062, 0.093, -0.124, 0.155, -0.186, 0.217, 0.25];

/// A polynomial of degree 7, by Horner's rule, applied to its own result `rounds` times.
///
/// - `x`: `n` elements between -1 and 1, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn horner(x: *const f32, y: *mut f32, n: u32, rounds: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n.
        let mut at = unsafe { *x.add(i) };
        for _ in 0..rounds {
            let mut value = COEFFICIENTS[0];
            value = value * at + COEFFICIENTS[1];
            value = value * at + COEFFICIENTS[2];
            value = value * at + COEFFICIENTS[3];
            value = value * at + COEFFICIENTS[4];
            value = value * at + COEFFICIENTS[5];
            value = value * at + COEFFICIENTS[6];
            at = value * at + COEFFICIENTS[7];
        }
        // SAFETY: i < n.
        unsafe { *y.add(i) = at };
    }
}
