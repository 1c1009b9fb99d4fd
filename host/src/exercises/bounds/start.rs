use core::slice;
use cuda_std::GpuFloat;
use cuda_std::prelude::*;

/// The distance of each row from a pattern, squared: a thread a row, whose elements are one after the other.
///
/// - `x`: `n * len` elements, read; `pattern`: `len` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn distance(x: *const f32, pattern: *const f32, y: *mut f32, n: u32, len: u32) {
    let i = thread::index_1d() as usize;
    let (n, len) = (n as usize, len as usize);
    if i < n {
        // SAFETY: the arrays are as long as the parameters say.
        let (x, pattern) = unsafe { (slice::from_raw_parts(x, n * len), slice::from_raw_parts(pattern, len)) };
        let mut sum = 0.0_f32;
        for k in 0..len {
            let off = x[i * len + k] - pattern[k];
            sum = off.mul_add(off, sum);
        }
        // SAFETY: i < n.
        unsafe { *y.add(i) = sum };
    }
}
