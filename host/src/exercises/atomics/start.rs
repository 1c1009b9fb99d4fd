use core::sync::atomic::Ordering;
use cuda_std::atomic::mid::atomic_fetch_add_f32_device;
use cuda_std::prelude::*;

/// Adds all elements to one total.
///
/// - `x`: `n` elements, read; `total`: one element, added to.
/// - Launch: one-dimensional, blocks of whole warps, at least `n` threads.
#[kernel]
pub unsafe fn total(x: *const f32, total: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the launch touches the total atomically only.
        unsafe { atomic_fetch_add_f32_device(total, Ordering::Relaxed, *x.add(i as usize)) };
    }
}
