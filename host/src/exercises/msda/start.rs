use cuda_std::prelude::*;

/// Adds up four rows of 32 channels for each result, in the order of the list.
///
/// - `x`: rows of 32 elements, read; `picked`: `4 * n` numbers of rows, read; `y`: `32 * n` elements, written.
/// - Launch: one-dimensional, blocks of whole warps, at least `n` threads.
#[kernel]
pub unsafe fn pool(x: *const f32, picked: *const u32, y: *mut f32, n: u32) {
    let result = thread::index_1d();
    if result < n {
        for channel in 0..32 {
            let mut sum = 0.0;
            for k in 0..4 {
                // SAFETY: result < n; the list names rows that there are.
                unsafe {
                    let row = *picked.add((4 * result + k) as usize);
                    sum += *x.add((32 * row + channel) as usize);
                }
            }
            // SAFETY: result < n.
            unsafe { *y.add((32 * result + channel) as usize) = sum };
        }
    }
}
