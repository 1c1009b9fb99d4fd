//! A kernel that takes its time, to show that the launch call does not wait for it.

use crate::maths;
use cuda_std::prelude::*;

/// Advances a random sequence `steps` times in every thread: `values[i]` becomes its `steps`-th successor.
///
/// Each step needs the one before it, so the time is `steps` times the latency of an integer multiply-add, 4 to 5
/// cycles: a million steps take about two milliseconds on hardware.
///
/// - `values`: `n` elements, read and written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn slow(values: *mut u32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        let value = unsafe { values.add(i as usize) };
        // SAFETY: as above; no other thread has this element.
        unsafe { *value = maths::successor(*value, steps) };
    }
}
