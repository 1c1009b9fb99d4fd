//! The kernel of the film "Life of a Launch": one thread's life, from the launch to its last store.

use crate::maths;
use cuda_std::prelude::*;

/// Adds two arrays, then treats even and odd elements differently: even ones walk path A 16 times, odd ones path B.
///
/// The arms are long enough that the compiler branches, so that even and odd lanes run one after the other.
///
/// - `a`, `b`: `n` elements each, read; `c`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn mix(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let element = i as usize;
        // SAFETY: i < n, and each array has n elements.
        unsafe { *c.add(element) = maths::mix(i, *a.add(element), *b.add(element)) };
    }
}
