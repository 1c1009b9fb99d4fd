//! [`crate::atomics::atomic_add()`] for other types: some have an instruction of their own, others are compared and swapped.
//!
//! Numbers of 16 bits are passed as their bits, since rustc and rust-cuda have no type for them in common.

use crate::{maths, special};
use cuda_std::prelude::*;

/// 1 as a 16-bit float, and twice in one word; 1 twice as bfloat16. Those of -1 have the sign too.
pub const F16_ONE: u16 = 0x3c00;
pub const F16X2_ONES: u32 = 0x3c00_3c00;
pub const BF16X2_ONES: u32 = 0x3f80_3f80;
const F16_SIGN: u16 = 0x8000;
const BOTH_SIGNS: u32 = 0x8000_8000;

/// One and the other in turn, beginning with one, `repeats` times in all. Written as pairs and one more, so that each is code of its own with
/// its own constant.
#[inline(always)]
fn in_turn(repeats: u32, one: impl Fn(), other: impl Fn()) {
    for _ in 0..repeats / 2 {
        one();
        other();
    }
    if repeats % 2 == 1 {
        one();
    }
}

/// Adds 1 to one of `mask + 1` sums of 64 bits, `repeats` times a thread.
///
/// - `sums`: `mask + 1` elements, added to; thread `i` adds to element `i & mask`; `mask`: a power of two, less 1.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn add_f64(sums: *mut f64, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: the launch touches the sums atomically only.
        unsafe { special::add_f64(sum, 1.0) };
    }
}

/// Adds 1 and -1 in turn, beginning with 1, to one of `mask + 1` sums of 16 bits, `repeats` times a thread. PTX has an instruction for it, the
/// hardware has none: ptxas makes a loop of compare-and-swap.
///
/// In turn, so that an even number of repeats leaves the sums as they were, however often the launch is timed: numbers of few bits that only
/// grew would soon be so large that 1 more is the same number, and then nobody is in anybody's way. Parameters and launch as for
/// [`add_f64()`].
#[kernel]
pub unsafe fn add_f16(sums: *mut u16, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    // SAFETY: the launch touches the sums atomically only.
    let add = |value| unsafe { special::add_f16(sum, value) };
    in_turn(repeats, || add(F16_ONE), || add(F16_ONE | F16_SIGN));
}

/// [`add_f16()`] for pairs of 16-bit numbers, each of a word: these the hardware adds. Parameters and launch as for [`add_f64()`].
#[kernel]
pub unsafe fn add_f16x2(sums: *mut u32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    // SAFETY: the launch touches the sums atomically only.
    let add = |value| unsafe { special::add_f16x2(sum, value) };
    in_turn(repeats, || add(F16X2_ONES), || add(F16X2_ONES | BOTH_SIGNS));
}

/// [`add_f16()`] for pairs of bfloat16, each of a word, by compare-and-swap: the instruction is there from compute capability 9.0 on, and
/// these kernels are for 8.0 too. Parameters and launch as for [`add_f64()`].
#[kernel]
pub unsafe fn add_bf16x2(sums: *mut u32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let sum = unsafe { sums.add((thread::index_1d() & mask) as usize) };
    // SAFETY: as in `crate::atomics::atomic_add_cas()`.
    let add = |value| unsafe {
        let mut expected = sum.read_volatile();
        loop {
            let before = special::compare_and_swap(sum, expected, maths::add_bf16x2(expected, value));
            if before == expected {
                break;
            }
            expected = before;
        }
    };
    in_turn(repeats, || add(BF16X2_ONES), || add(BF16X2_ONES | BOTH_SIGNS));
}
