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
        let left = walk(unsafe { *a.add(i as usize) }, steps);
        // SAFETY: as above.
        let right = walk(unsafe { *b.add(i as usize) }, steps);
        // SAFETY: as above.
        unsafe { *c.add(i as usize) = left + right };
    }
}

#[inline(always)]
fn walk(from: f32, steps: u32) -> f32 {
    let mut at = from;
    for _ in 0..steps {
        at = at * 0.75 + 0.125;
    }
    at
}
