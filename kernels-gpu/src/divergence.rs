//! What an `if` costs: two paths that compute the same map, and the ways in which the threads of a warp can disagree.
//!
//! Path A is one fused multiply-add a step, path B a multiplication and an addition. Every kernel here reads `x[i]`,
//! walks a path `steps` times and writes `y[i]`; they differ in who takes which path, and in nothing else.

use crate::maths;
use cuda_std::prelude::*;

/// The element of the calling thread, if it has one, through `map`.
///
/// # Safety
/// `x` and `y` have `n` elements each.
#[inline(always)]
unsafe fn for_each(x: *const f32, y: *mut f32, n: u32, map: impl FnOnce(u32, f32) -> f32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = map(i, *x.add(i as usize)) };
    }
}

/// Every thread takes path A.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `steps`: how often the path is walked.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn path_a(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |_, x| maths::path_a(x, steps)) };
}

/// Every thread takes path B. Parameters and launch as for [`path_a()`].
#[kernel]
pub unsafe fn path_b(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |_, x| maths::path_b(x, steps)) };
}

/// Even elements take path A, odd ones path B: the lanes of each warp disagree. Parameters and launch as for
/// [`path_a()`].
#[kernel]
pub unsafe fn by_lane(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |i, x| maths::either_path(i.is_multiple_of(2), x, steps)) };
}

/// Even warps take path A, odd ones path B: no two lanes of a warp disagree. Parameters and launch as for
/// [`path_a()`]; the block's size is a multiple of 32.
#[kernel]
pub unsafe fn by_warp(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |i, x| maths::either_path((i / 32).is_multiple_of(2), x, steps)) };
}

/// The first `k` lanes of each warp take path A, the others path B.
///
/// - `k`: 0 to 32; at 0 and 32 the lanes agree, in between they do not. The rest as for [`path_a()`].
/// - Launch: one-dimensional, at least `n` threads, the block's size a multiple of 32.
#[kernel]
pub unsafe fn split(x: *const f32, y: *mut f32, n: u32, steps: u32, k: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |i, x| maths::either_path(i % 32 < k, x, steps)) };
}

/// [`by_lane()`] with work after the two paths have met again: the result is divided by the number that the map tends to,
/// and clamped. The listing of chapter 1 is this kernel's.
///
/// Without that work the compiler could end each path with its own store and exit, and nothing would have to meet.
/// Parameters and launch as for [`path_a()`].
#[kernel]
pub unsafe fn branch_paths(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { for_each(x, y, n, |i, x| maths::after_the_join(maths::either_path(i.is_multiple_of(2), x, steps))) };
}
