//! Does this branch hurt? ReLU as a chapter prints it, and the same condition around long arms.

use crate::maths;
use cuda_std::prelude::*;

/// ReLU: `y[i] = x[i]` where it is positive, 0 elsewhere.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn relu(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, the number of elements.
        unsafe {
            if *x.add(i) > 0.0 {
                *y.add(i) = *x.add(i);
            } else {
                *y.add(i) = 0.0;
            }
        }
    }
}

/// The condition of [`relu()`] around two long arms of one cost.
///
/// - `steps`: length of an arm; the rest as for [`relu()`].
#[kernel]
pub unsafe fn relu_long_arms(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = maths::relu_long_arms(*x.add(i as usize), steps) };
    }
}
