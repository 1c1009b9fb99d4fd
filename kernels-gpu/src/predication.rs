//! When a branch is not a branch: a condition with short arms is computed for every lane and selected.

use crate::maths;
use cuda_std::prelude::*;

/// Leaky ReLU: `y[i] = x[i]` where it is positive, a tenth of it elsewhere. Both arms together are two instructions, so
/// the compiler selects and does not branch.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn leaky_relu(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = maths::leaky_relu(*x.add(i as usize)) };
    }
}

/// [`leaky_relu()`] without its condition, `y[i] = 0.1 * x[i]`: what the condition is compared with. Parameters and
/// launch as for [`leaky_relu()`].
#[kernel]
pub unsafe fn scale(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = maths::scale(*x.add(i as usize)) };
    }
}

/// Leaky ReLU whose other arm is long: 32 multiply-adds, too many to compute for nothing, so the compiler branches.
/// Parameters and launch as for [`leaky_relu()`].
#[kernel]
pub unsafe fn leaky_relu_long(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = maths::leaky_relu_long(*x.add(i as usize)) };
    }
}
