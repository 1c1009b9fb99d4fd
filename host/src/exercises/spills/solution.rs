use cuda_std::prelude::*;

const VALUES: u32 = 8;

/// Adds up a thread's eight values, beginning with number `turn`: `y[i]` is the sum of `x[(turn + k) % 8 * n + i]`, k from 0 to 7.
///
/// - `x`: `8 * n` elements, read; `y`: `n` elements, written; `turn`: any.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn from_turn(x: *const f32, y: *mut f32, n: u32, turn: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut sum = 0.0;
        for k in 0..VALUES {
            // SAFETY: the row is below 8 and i < n.
            sum += unsafe { *x.add(((turn + k) % VALUES * n + i) as usize) };
        }
        // SAFETY: i < n.
        unsafe { *y.add(i as usize) = sum };
    }
}
