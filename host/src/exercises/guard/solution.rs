use cuda_std::prelude::*;

/// Elements of each thread.
const PER_THREAD: u32 = 8;

/// `y[i] = 0.5 x[i] + 1`, eight elements a thread: those of a block lie together, its threads' side by side.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n / 8` threads, rounded up to whole blocks.
#[kernel]
pub unsafe fn eight_each(x: *const f32, y: *mut f32, n: u32) {
    let step = thread::block_dim_x();
    let first = thread::block_idx_x() * step * PER_THREAD + thread::thread_idx_x();
    let behind = (thread::block_idx_x() + 1) * step * PER_THREAD;
    if behind <= n {
        // The whole block is inside: nothing to ask.
        for k in 0..PER_THREAD {
            let i = (first + k * step) as usize;
            // SAFETY: i < behind <= n.
            unsafe { *y.add(i) = 0.5 * *x.add(i) + 1.0 };
        }
    } else {
        for k in 0..PER_THREAD {
            let i = first + k * step;
            if i < n {
                // SAFETY: i < n, the number of elements.
                unsafe { *y.add(i as usize) = 0.5 * *x.add(i as usize) + 1.0 };
            }
        }
    }
}
