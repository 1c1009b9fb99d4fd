use crate::shared::shared_array;
use cuda_std::prelude::*;
use cuda_std::warp;

shared_array!(
    /// A value a lane; the upper half repeats the lower.
    GREATEST: [u32; 64]
);

/// The greatest element of each warp.
///
/// - `x`: an element a thread, read; `greatest`: an element a block, written.
/// - Launch: one-dimensional, blocks of 32 threads.
#[kernel]
pub unsafe fn warp_max(x: *const u32, greatest: *mut u32) {
    let lane = warp::lane_id();
    // SAFETY: an element a thread; indices are below 64.
    unsafe {
        let value = *x.add(thread::index_1d() as usize);
        GREATEST.set(lane, value);
        GREATEST.set(lane + 32, value);
        for distance in [16, 8, 4, 2, 1] {
            let value = GREATEST.get(lane).max(GREATEST.get(lane + distance));
            GREATEST.set(lane, value);
        }
        if lane == 0 {
            *greatest.add(thread::block_idx_x() as usize) = GREATEST.get(0);
        }
    }
}
