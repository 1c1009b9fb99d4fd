use cuda_std::prelude::*;

const VALUES: usize = 8;

/// Adds up a thread's eight values, beginning with number `turn`: `y[i]` is the sum of `x[(turn + k) % 8 * n + i]`, k from 0 to 7.
///
/// - `x`: `8 * n` elements, read; `y`: `n` elements, written; `turn`: any.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn from_turn(x: *const f32, y: *mut f32, n: u32, turn: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut values = [0.0; VALUES];
        for (k, value) in values.iter_mut().enumerate() {
            // SAFETY: k < 8 and i < n.
            *value = unsafe { *x.add((k as u32 * n + i) as usize) };
        }
        let mut sum = 0.0;
        for k in 0..VALUES {
            sum += values[(turn as usize + k) % VALUES];
        }
        // SAFETY: i < n.
        unsafe { *y.add(i as usize) = sum };
    }
}
