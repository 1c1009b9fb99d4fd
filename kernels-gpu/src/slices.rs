//! What Rust's bounds checks cost on a GPU: one filter, written four ways.
//!
//! `y[i]` is the sum of `weights[k] * x[i + k]`. The slices are made inside the kernel, from pointers and lengths, so that the checks see
//! what they would see on a CPU. The result is written through a pointer in all four: a `&mut` slice of `y` in every thread would be
//! the same memory borrowed mutably many times over, which Rust does not permit.
//!
//! - `x`: `len` elements, read; `weights`: `taps` elements, read; `y`: `n` elements, written.
//! - Launch: one-dimensional, at least `n` threads.

use crate::maths;
use core::slice;
use cuda_std::prelude::*;

/// Indexing, as one would write it first: a check an access.
///
/// With `len` less than `n + taps - 1` it panics, which on a GPU is a trap: the launch fails. Parameters and launch as for the module's others: `x`, `weights`, `y`, `taps`, `n`.
#[kernel]
pub unsafe fn filter_indexed(x: *const f32, weights: *const f32, y: *mut f32, len: u32, taps: u32, n: u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize {
        // SAFETY: the arrays are as long as the parameters say.
        let (x, weights) =
            unsafe { (slice::from_raw_parts(x, len as usize), slice::from_raw_parts(weights, taps as usize)) };
        let mut sum = 0.0;
        for k in 0..taps as usize {
            sum = maths::multiply_add(x[i + k], weights[k], sum);
        }
        // SAFETY: i < n.
        unsafe { *y.add(i) = sum };
    }
}

/// A slice and iterators over it: one check a thread, where the slice is taken. Panics as [`filter_indexed()`] does. Launch as for it.
#[kernel]
pub unsafe fn filter_iterator(x: *const f32, weights: *const f32, y: *mut f32, len: u32, taps: u32, n: u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize {
        // SAFETY: the arrays are as long as the parameters say.
        let (x, weights) =
            unsafe { (slice::from_raw_parts(x, len as usize), slice::from_raw_parts(weights, taps as usize)) };
        // A fold and not a `for` loop: that asks both iterators for the next element in each round, and stays a loop of single steps.
        let pairs = x[i..i + taps as usize].iter().zip(weights);
        let sum = pairs.fold(0.0, |sum, (x, weight)| maths::multiply_add(*x, *weight, sum));
        // SAFETY: i < n.
        unsafe { *y.add(i) = sum };
    }
}

/// [`filter_indexed()`] with `get_unchecked`: the promise that `len` is at least `n + taps - 1` is the caller's. Launch as for it.
#[kernel]
pub unsafe fn filter_unchecked(x: *const f32, weights: *const f32, y: *mut f32, len: u32, taps: u32, n: u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize {
        // SAFETY: the arrays are as long as the parameters say.
        let (x, weights) =
            unsafe { (slice::from_raw_parts(x, len as usize), slice::from_raw_parts(weights, taps as usize)) };
        let mut sum = 0.0;
        for k in 0..taps as usize {
            // SAFETY: k < taps and i + k < n + taps - 1.
            sum = unsafe { maths::multiply_add(*x.get_unchecked(i + k), *weights.get_unchecked(k), sum) };
        }
        // SAFETY: i < n.
        unsafe { *y.add(i) = sum };
    }
}

/// Pointers, as the other kernels here are written; `len` is not looked at. Launch as for [`filter_indexed()`].
#[kernel]
pub unsafe fn filter_raw(x: *const f32, weights: *const f32, y: *mut f32, len: u32, taps: u32, n: u32) {
    let _ = len;
    let i = thread::index_1d() as usize;
    if i < n as usize {
        let mut sum = 0.0;
        for k in 0..taps as usize {
            // SAFETY: k < taps and i + k < n + taps - 1, which x has at least.
            sum = unsafe { maths::multiply_add(*x.add(i + k), *weights.add(k), sum) };
        }
        // SAFETY: i < n.
        unsafe { *y.add(i) = sum };
    }
}
