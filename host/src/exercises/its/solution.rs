use cuda_std::prelude::*;
use cuda_std::warp;

/// The greatest element of each warp.
///
/// - `x`: an element a thread, read; `greatest`: an element a block, written.
/// - Launch: one-dimensional, blocks of 32 threads.
#[kernel]
pub unsafe fn warp_max(x: *const u32, greatest: *mut u32) {
    // SAFETY: an element a thread; all lanes come to the shuffles.
    unsafe {
        let mut value = *x.add(thread::index_1d() as usize);
        for distance in [16, 8, 4, 2, 1] {
            let (other, _) = warp::warp_shuffle_xor(u32::MAX, value, distance, 32);
            value = value.max(other);
        }
        if warp::lane_id() == 0 {
            *greatest.add(thread::block_idx_x() as usize) = value;
        }
    }
}
