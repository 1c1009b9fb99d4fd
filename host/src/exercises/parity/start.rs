use cuda_std::prelude::*;

/// Even elements go one way, odd ones another, `steps` steps each.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `steps`: length of a way.
/// - Launch: one-dimensional, at least `n` threads; `n` and the block's size are multiples of 64.
#[kernel]
pub unsafe fn two_ways(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let thread = thread::index_1d();
    let i = thread;
    if i < n {
        // SAFETY: i < n, the number of elements.
        let mut value = unsafe { *x.add(i as usize) };
        if i % 2 == 0 {
            for _ in 0..steps {
                value = value * 0.5 + 0.25;
            }
        } else {
            for _ in 0..steps {
                value = value * -0.5 - 0.25;
            }
        }
        // SAFETY: as above.
        unsafe { *y.add(i as usize) = value };
    }
}
