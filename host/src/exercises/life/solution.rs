use cuda_std::prelude::*;

/// Walks from `a[i]` and from `b[i]`, `steps` steps each, and adds where they lead.
///
/// - `a`, `b`: `n` elements each, read; `c`: `n` elements, written; `steps`: length of a walk.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn two_walks(a: *const f32, b: *const f32, c: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements.
        let (from_a, from_b) = unsafe { (*a.add(i as usize), *b.add(i as usize)) };
        let (mut left, mut right) = (from_a, from_b);
        for _ in 0..steps {
            left = left * 0.75 + 0.125;
            right = right * 0.75 + 0.125;
        }
        // SAFETY: as above.
        unsafe { *c.add(i as usize) = left + right };
    }
}
