use cuda_std::GpuFloat;
use cuda_std::prelude::*;

/// `c = a * b`, a thread an element.
///
/// - `a`, `b`: `n * n` elements each, read; `c`: as many, written; `n`: a multiple of 16.
/// - Launch: blocks of 16 × 16 threads, `n / 16` along x and y.
#[kernel]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let at = thread::index_2d();
    let mut sum = 0.0_f32;
    for k in 0..n {
        // SAFETY: the elements are those of the matrices.
        let (left, right) = unsafe { (*a.add((at.y * n + k) as usize), *b.add((k * n + at.x) as usize)) };
        sum = left.mul_add(right, sum);
    }
    // SAFETY: the element is one of the matrix.
    unsafe { *c.add((at.y * n + at.x) as usize) = sum };
}
