use core::sync::atomic::Ordering;
use cuda_std::atomic::mid::atomic_fetch_add_f32_device;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Adds all elements to one total.
///
/// - `x`: `n` elements, read; `total`: one element, added to.
/// - Launch: one-dimensional, blocks of whole warps, at least `n` threads.
#[kernel]
pub unsafe fn total(x: *const f32, total: *mut f32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i < n.
    let mut sum = if i < n { unsafe { *x.add(i as usize) } } else { 0.0 };
    for distance in [16, 8, 4, 2, 1] {
        // SAFETY: whole warps, all of whose lanes come here.
        sum += unsafe { warp::warp_shuffle_xor(u32::MAX, sum, distance, 32) }.0;
    }
    if warp::lane_id() == 0 {
        // SAFETY: the launch touches the total atomically only.
        unsafe { atomic_fetch_add_f32_device(total, Ordering::Relaxed, sum) };
    }
}
