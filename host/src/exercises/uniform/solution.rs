use cuda_std::prelude::*;

/// Scales each block's elements by the block's own factor, which a generator of random numbers gives.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; `seed`: where the generator begins.
/// - Launch: one-dimensional, at least `n` threads, 256 a block.
#[kernel]
pub unsafe fn scale_by_block(x: *const f32, y: *mut f32, n: u32, seed: u32) {
    let i = thread::index_1d();
    if i < n {
        let block = thread::block_idx_x();
        let mut word = seed ^ block;
        for _ in 0..8 {
            word = word * 1_664_525 + 1_013_904_223;
        }
        let factor = (word >> 8) as f32 / 16_777_216.0;
        // SAFETY: i < n, the number of elements.
        unsafe { *y.add(i as usize) = factor * *x.add(i as usize) };
    }
}
