use cuda_std::prelude::*;

/// Each thread adds up `x[i] ^ round` over all rounds, and over the words that are its own in each block: `t`, `t + b`, …, for
/// thread `t` of a block of `b`.
///
/// - `x`: `len` elements, read; `sums`: an element a thread, written: the sum, which wraps; `rounds`: any.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn mix_all(x: *const u32, sums: *mut u32, len: u32, rounds: u32) {
    let mut sum = 0_u32;
    let mut i = thread::thread_idx_x();
    while i < len {
        // SAFETY: i < len, the number of words.
        let word = unsafe { *x.add(i as usize) };
        for round in 0..rounds {
            sum = sum.wrapping_add(word ^ round);
        }
        i += thread::block_dim_x();
    }
    // SAFETY: an element a thread.
    unsafe { *sums.add(thread::index_1d() as usize) = sum };
}
