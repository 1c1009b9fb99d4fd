use cuda_std::prelude::*;

/// Even elements go one way, odd ones another, `steps` steps each.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `steps`: length of a way.
/// - Launch: one-dimensional, at least `n` threads; `n` and the block's size are multiples of 64.
#[kernel]
pub unsafe fn two_ways(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let thread = thread::index_1d();
    // Of each 64 threads the first warp takes the even elements, the second the odd ones.
    let (group, warp, lane) = (thread / 64, thread / 32 % 2, thread % 32);
    let i = 64 * group + 2 * lane + warp;
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
