use cuda_std::prelude::*;

/// Cells on each side that a sum takes in.
const RADIUS: u32 = 3;

/// Sums each cell and its three neighbours on each side, from the left to the right.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, blocks of 256 threads, at least `n` threads.
#[kernel]
pub unsafe fn smooth(x: *const f32, y: *mut f32, n: u32) {
    let own = thread::index_1d();
    if own < n {
        let mut sum = 0.0;
        for at in 0..2 * RADIUS + 1 {
            let cell = own.wrapping_add(at).wrapping_sub(RADIUS);
            if cell < n {
                // SAFETY: cell < n.
                sum += unsafe { *x.add(cell as usize) };
            }
        }
        // SAFETY: own < n.
        unsafe { *y.add(own as usize) = sum };
    }
}
