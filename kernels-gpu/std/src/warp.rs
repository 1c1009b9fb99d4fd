//! Functions that the lanes of a warp execute together: votes, shuffles, a barrier of the warp.
//!
//! Since Volta the lanes of a warp need not be at the same instruction, so each of these takes `mask`, the lanes that
//! take part (bit `i` for lane `i`; all of them: `u32::MAX`), and waits until all of them are here.

#[cfg(target_arch = "nvptx64")]
use crate::intrinsics;

/// The thread's lane in its warp, `0..32`: its linear index in the block modulo 32.
#[inline(always)]
pub fn lane_id() -> u32 {
    gpu!("warp::lane_id", intrinsics::lane_id())
}

/// The lanes that execute this instruction together, at this moment. It promises nothing about the next instruction:
/// to make lanes meet, use [`sync_warp`].
#[inline(always)]
pub fn activemask() -> u32 {
    gpu!("warp::activemask", intrinsics::activemask())
}

/// `__syncwarp(mask)`: waits until all lanes of `mask` are here; what any of them stored before is then visible to all.
///
/// # Safety
/// 1. The calling lane is in `mask`.
/// 2. No lane of `mask` has exited, and each comes to a `sync_warp` with the same mask.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    let _ = mask;
    // SAFETY: the caller's promise is the intrinsic's.
    gpu!("warp::sync_warp", unsafe { intrinsics::sync_warp(mask) })
}

/// Whether `predicate` is true in every lane of `mask`.
///
/// # Safety
/// 1. The calling lane is in `mask`.
/// 2. No lane of `mask` has exited, and each comes to this call with the same mask.
#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    let _ = (mask, predicate);
    // SAFETY: the caller's promise is the intrinsic's.
    gpu!("warp::warp_vote_all", unsafe { intrinsics::vote_all(mask, predicate) })
}

/// Whether `predicate` is true in any lane of `mask`.
///
/// # Safety
/// As for [`warp_vote_all`].
#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    let _ = (mask, predicate);
    // SAFETY: the caller's promise is the intrinsic's.
    gpu!("warp::warp_vote_any", unsafe { intrinsics::vote_any(mask, predicate) })
}

/// The lanes of `mask` in which `predicate` is true, bit `i` for lane `i`.
///
/// # Safety
/// As for [`warp_vote_all`].
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    let _ = (mask, predicate);
    // SAFETY: the caller's promise is the intrinsic's.
    gpu!("warp::warp_vote_ballot", unsafe { intrinsics::vote_ballot(mask, predicate) })
}

/// The value of lane `lane + delta`. See [`WarpShuffleValue::shuffle`] for the rest.
///
/// # Safety
/// As for [`WarpShuffleValue::shuffle`].
#[inline(always)]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    // SAFETY: the caller's promise.
    unsafe { T::shuffle(WarpShuffleMode::Down, mask, value, delta, width) }
}

/// The value of lane `lane - delta`. See [`WarpShuffleValue::shuffle`] for the rest.
///
/// # Safety
/// As for [`WarpShuffleValue::shuffle`].
#[inline(always)]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    // SAFETY: the caller's promise.
    unsafe { T::shuffle(WarpShuffleMode::Up, mask, value, delta, width) }
}

/// The value of lane `idx` of the caller's section. See [`WarpShuffleValue::shuffle`] for the rest.
///
/// # Safety
/// As for [`WarpShuffleValue::shuffle`].
#[inline(always)]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(mask: u32, value: T, idx: u32, width: u32) -> (T, bool) {
    // SAFETY: the caller's promise.
    unsafe { T::shuffle(WarpShuffleMode::Idx, mask, value, idx, width) }
}

/// The value of lane `lane ^ lane_mask`. See [`WarpShuffleValue::shuffle`] for the rest.
///
/// # Safety
/// As for [`WarpShuffleValue::shuffle`].
#[inline(always)]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    // SAFETY: the caller's promise.
    unsafe { T::shuffle(WarpShuffleMode::Xor, mask, value, lane_mask, width) }
}

/// How a shuffle names the lane it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpShuffleMode {
    Idx,
    Up,
    Down,
    Xor,
}

/// A value that lanes can read from each other.
pub trait WarpShuffleValue: Sized {
    /// Waits for the lanes of `mask`, then returns the `value` of the lane that `mode` and `b` name, and whether there
    /// is such a lane.
    ///
    /// `width` (a power of two, at most 32) cuts the warp into sections; a lane reads within its own section only. A
    /// source outside of it gives the caller its own value and `false`. A value of 64 bits takes two shuffles.
    ///
    /// # Safety
    /// 1. The calling lane is in `mask`.
    /// 2. No lane of `mask` has exited, and each comes to this call with the same mask.
    /// 3. The value read from a lane that is not in `mask` is unspecified.
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool);
}

impl WarpShuffleValue for u32 {
    #[inline(always)]
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
        let _ = (mode, mask, value, b, width);
        gpu!("warp::warp_shuffle", {
            // PTX ISA, `shfl.sync`: operand c holds the clamp in bits 0 to 4 and the section mask in bits 8 to 12.
            let section = 32u32.wrapping_sub(width) << 8;
            // SAFETY: the caller's promise is the intrinsic's.
            let read = unsafe {
                match mode {
                    WarpShuffleMode::Idx => intrinsics::shuffle_idx(mask, value, b, section | 31),
                    WarpShuffleMode::Up => intrinsics::shuffle_up(mask, value, b, section),
                    WarpShuffleMode::Down => intrinsics::shuffle_down(mask, value, b, section | 31),
                    WarpShuffleMode::Xor => intrinsics::shuffle_xor(mask, value, b, section | 31),
                }
            };
            (read, source_in_section(mode, intrinsics::lane_id(), b, width))
        })
    }
}

/// What `shfl.sync` would put in its predicate: whether the source lane is one that the section may read. An `Xor` may
/// read lanes of the sections below its own.
#[cfg(any(target_arch = "nvptx64", test))]
#[inline(always)]
fn source_in_section(mode: WarpShuffleMode, lane: u32, b: u32, width: u32) -> bool {
    let b = b & 31;
    let (first, last) = (lane & !(width - 1), lane | (width - 1));
    match mode {
        WarpShuffleMode::Idx => true,
        WarpShuffleMode::Up => lane >= first + b,
        WarpShuffleMode::Down => lane + b <= last,
        WarpShuffleMode::Xor => lane ^ b <= last,
    }
}

macro_rules! shuffle_as_u32 {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                // SAFETY: the caller's promise.
                let (read, in_section) = unsafe { u32::shuffle(mode, mask, $to(value), b, width) };
                ($from(read), in_section)
            }
        }
    )*};
}

shuffle_as_u32! {
    i32: |value: i32| value as u32, |read: u32| read as i32;
    u16: u32::from, |read: u32| read as u16;
    i16: |value: i16| value as u32, |read: u32| read as i16;
    u8: u32::from, |read: u32| read as u8;
    i8: |value: i8| value as u32, |read: u32| read as i8;
    f32: f32::to_bits, f32::from_bits;
}

impl WarpShuffleValue for u64 {
    #[inline(always)]
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
        // SAFETY: the caller's promise.
        let (low, in_section) = unsafe { u32::shuffle(mode, mask, value as u32, b, width) };
        // SAFETY: the caller's promise.
        let (high, _) = unsafe { u32::shuffle(mode, mask, (value >> 32) as u32, b, width) };
        (u64::from(high) << 32 | u64::from(low), in_section)
    }
}

macro_rules! shuffle_as_u64 {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                // SAFETY: the caller's promise.
                let (read, in_section) = unsafe { u64::shuffle(mode, mask, $to(value), b, width) };
                ($from(read), in_section)
            }
        }
    )*};
}

shuffle_as_u64! {
    i64: |value: i64| value as u64, |read: u64| read as i64;
    f64: f64::to_bits, f64::from_bits;
}

#[cfg(test)]
mod tests {
    use super::{WarpShuffleMode::*, source_in_section};

    /// PTX ISA 8.5, 9.7.9.6 `shfl.sync`, its pseudocode, with `c` as CUDA's headers build it.
    fn by_the_isa(mode: super::WarpShuffleMode, lane: u32, b: u32, width: u32) -> bool {
        let segment_mask = 32 - width;
        let clamp = if mode == Up { 0 } else { 31 };
        let b = b & 31;
        let max_lane = (lane & segment_mask) | (clamp & !segment_mask & 31);
        let min_lane = lane & segment_mask;
        match mode {
            Up => lane as i64 - b as i64 >= max_lane as i64,
            Down => lane + b <= max_lane,
            Xor => lane ^ b <= max_lane,
            Idx => (min_lane | (b & !segment_mask & 31)) <= max_lane,
        }
    }

    #[test]
    fn the_predicate_of_every_shuffle_is_that_of_the_isa() {
        for mode in [Idx, Up, Down, Xor] {
            for width in [1, 2, 4, 8, 16, 32] {
                for lane in 0..32 {
                    for b in 0..64 {
                        assert_eq!(
                            source_in_section(mode, lane, b, width),
                            by_the_isa(mode, lane, b, width),
                            "{mode:?}, lane {lane}, b {b}, width {width}"
                        );
                    }
                }
            }
        }
    }
}
