//! The value of a lane further down. rust-cuda's `warp_shuffle_up` gives PTX the clamp of the other shuffles, 31, where 0 belongs: nearly
//! every lane then keeps its own value. So for it the lane is named.

#[cfg(not(feature = "nvvm"))]
pub use cuda_std::warp::warp_shuffle_up;

/// As `cuda_std`'s of that name.
///
/// # Safety
/// As for `warp_shuffle_idx`: every lane of `mask` comes here, and the lane read from is one of them.
#[cfg(feature = "nvvm")]
#[inline(always)]
pub unsafe fn warp_shuffle_up<T: cuda_std::warp::WarpShuffleValue + Copy>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    let place = cuda_std::warp::lane_id() & (width - 1);
    let is_there = place >= delta;
    let from = if is_there { place - delta } else { place };
    // SAFETY: the caller's promise.
    let (before, _) = unsafe { cuda_std::warp::warp_shuffle_idx(mask, value, from, width) };
    (before, is_there)
}
