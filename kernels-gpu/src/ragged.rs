//! Work of different sizes: an item is a sum of some number of terms, and the lanes of a warp wait for the longest of theirs.

use crate::maths::ragged_term;
use cuda_std::prelude::*;
use cuda_std::warp;

/// The sum of terms `first`, `first + step`, … below `terms`, one after the other.
#[inline(always)]
fn sum(item: u32, first: u32, terms: u32, step: u32) -> u32 {
    let mut sum = 0_u32;
    let mut k = first;
    while k < terms {
        sum = sum.wrapping_add(ragged_term(item, k));
        k += step;
    }
    sum
}

/// A thread an item: `sums[i]` is the sum of its `terms[i]` terms.
///
/// - `terms`: `n` elements, read; `sums`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn ragged(terms: *const u32, sums: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of items.
        unsafe { *sums.add(i as usize) = sum(i, 0, *terms.add(i as usize), 1) };
    }
}

/// As [`ragged()`], with the items dealt out in some order: sorted by their terms, neighbours have about as many.
///
/// - `order`: each index below `n` once, read; the rest as for [`ragged()`].
#[kernel]
pub unsafe fn ragged_sorted(terms: *const u32, order: *const u32, sums: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of items, and order has indices below n.
        unsafe {
            let item = *order.add(i as usize);
            *sums.add(item as usize) = sum(item, 0, *terms.add(item as usize), 1);
        }
    }
}

/// As [`ragged()`], with every item of more than 32 terms split among the lanes of its warp.
///
/// - Launch: one-dimensional, at least `n` threads, the block's size a multiple of 32. Parameters as for [`ragged()`].
#[kernel]
pub unsafe fn ragged_split(terms: *const u32, sums: *mut u32, n: u32) {
    let i = thread::index_1d();
    let lane = i % 32;
    // SAFETY: i < n, the number of items. Lanes behind the end have no terms, and stay to help.
    let own = if i < n { unsafe { *terms.add(i as usize) } } else { 0 };
    // SAFETY: all lanes of the warp are here.
    let mut long = unsafe { warp::warp_vote_ballot(u32::MAX, own > 32) };
    let mut result = if own > 32 { 0 } else { sum(i, 0, own, 1) };
    while long != 0 {
        let owner = long.trailing_zeros();
        // SAFETY: all lanes have the same `long`, so all of them are here.
        let of_owner = unsafe { warp::warp_shuffle_idx(u32::MAX, own, owner, 32) }.0;
        let mut part = sum(i - lane + owner, lane, of_owner, 32);
        let mut distance = 16;
        while distance > 0 {
            // SAFETY: as above.
            part = part.wrapping_add(unsafe { warp::warp_shuffle_xor(u32::MAX, part, distance, 32) }.0);
            distance /= 2;
        }
        if lane == owner {
            result = part;
        }
        long &= long - 1;
    }
    if i < n {
        // SAFETY: as above.
        unsafe { *sums.add(i as usize) = result };
    }
}
