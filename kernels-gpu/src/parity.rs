//! The same `if`, placed badly and well: elements of even and of odd number go different ways of one cost, and the threads of a
//! warp have either both kinds of element or one.

use crate::maths;
use cuda_std::prelude::*;

/// A thread an element in order: each warp has elements of both kinds.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `steps`: length of a way.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn parity_lane(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { element(x, y, n, steps, thread::index_1d()) };
}

/// Of each 64 elements the first warp has the even ones and the second the odd ones: the results are those of [`parity_lane()`].
/// Parameters as for it.
///
/// - Launch: one-dimensional, at least `n` threads, rounded up to a multiple of 64; so is the block's size.
#[kernel]
pub unsafe fn parity_warp(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: the caller's promise.
    unsafe { element(x, y, n, steps, i / 64 * 64 + i % 32 * 2 + i / 32 % 2) };
}

/// # Safety
/// `x` and `y` have `n` elements each.
#[inline(always)]
unsafe fn element(x: *const f32, y: *mut f32, n: u32, steps: u32, i: u32) {
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = maths::parity(i, *x.add(i as usize), steps) };
    }
}
