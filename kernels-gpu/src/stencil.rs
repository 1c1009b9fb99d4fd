//! Each cell becomes the sum of itself and its neighbours: why a block needs a barrier, what halos are, and how fast it gets.
//!
//! Cells outside the array count as zero.

use crate::maths::{self, STENCIL_RADIUS};
use crate::shared::shared_array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Threads of a block, and cells of its tile without the halo.
pub const BLOCK_THREADS: u32 = 256;
const TILE: usize = (BLOCK_THREADS + 2 * STENCIL_RADIUS) as usize;

/// Cell `at`, or zero outside the array.
///
/// # Safety
/// `x` has `n` elements.
#[inline(always)]
unsafe fn cell(x: *const f32, at: u32, n: u32) -> f32 {
    // SAFETY: at < n.
    if at < n { unsafe { *x.add(at as usize) } } else { 0.0 }
}

/// A tile with its halo, filled by the block: thread by thread the cells, by the first few threads the halo on both sides.
macro_rules! fill {
    ($tile:ident, $read:expr) => {{
        let read = $read;
        let (own, thread) = (thread::index_1d(), thread::thread_idx_x());
        $tile.set(thread + STENCIL_RADIUS, read(own));
        if thread < STENCIL_RADIUS {
            $tile.set(thread, read(own.wrapping_sub(STENCIL_RADIUS)));
            $tile.set(thread + STENCIL_RADIUS + BLOCK_THREADS, read(own + BLOCK_THREADS));
        }
    }};
}

shared_array!(
    /// The tile of [`stencil_1d()`].
    STENCIL_TILE: [f32; TILE]
);

/// Sums cells with their three neighbours on each side, through a tile in shared memory.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written.
/// - Launch: one-dimensional, blocks of 256 threads, at least `n` threads, fewer than 2³² - 256.
#[kernel]
pub unsafe fn stencil_1d(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: cells below n are read and written; each cell of the tile has one writer, and a barrier before it is read.
    unsafe {
        fill!(STENCIL_TILE, |at| cell(x, at, n));
        thread::sync_threads();
        let (own, first) = (thread::index_1d(), thread::thread_idx_x());
        if own < n {
            *y.add(own as usize) = maths::stencil(|at| STENCIL_TILE.get(first + at));
        }
    }
}

shared_array!(
    /// The tile of [`stencil_no_barrier()`].
    UNGUARDED_TILE: [f32; TILE]
);

/// [`stencil_1d()`] without the barrier: threads read what others may not have written yet. Parameters and launch as for it.
#[kernel]
pub unsafe fn stencil_no_barrier(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: indices as in `stencil_1d`. That the tile is written when it is read is what nobody promises.
    unsafe {
        fill!(UNGUARDED_TILE, |at| cell(x, at, n));
        let (own, first) = (thread::index_1d(), thread::thread_idx_x());
        if own < n {
            *y.add(own as usize) = maths::stencil(|at| UNGUARDED_TILE.get(first + at));
        }
    }
}

shared_array!(
    /// The tile of [`stencil_halo_off()`], with room for the mistake.
    SHIFTED_TILE: [f32; TILE + 1]
);

/// [`stencil_1d()`] that reads its tile one cell too far to the right: the last thread takes in a cell that nobody writes. Parameters
/// and launch as for it.
#[kernel]
pub unsafe fn stencil_halo_off(x: *const f32, y: *mut f32, n: u32) {
    // SAFETY: as in `stencil_1d`, but for the last cell of the tile, which is never written.
    unsafe {
        fill!(SHIFTED_TILE, |at| cell(x, at, n));
        thread::sync_threads();
        let (own, first) = (thread::index_1d(), thread::thread_idx_x());
        if own < n {
            *y.add(own as usize) = maths::stencil(|at| SHIFTED_TILE.get(first + at + 1));
        }
    }
}

shared_array!(
    /// The tile of [`stencil_as_printed()`].
    PRINTED_TILE: [f32; TILE]
);

/// The stencil as books print it: without a number of cells, so that the first block reads before the array and the last one behind
/// it.
///
/// - `x`: an element a thread, and three before and behind, read; `y`: an element a thread, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn stencil_as_printed(x: *const f32, y: *mut f32) {
    // SAFETY: the caller's promise, which is more than an array of the grid's size keeps.
    unsafe {
        // As C++ does: the index is a signed integer.
        fill!(PRINTED_TILE, |at: u32| *x.offset(at as i32 as isize));
        thread::sync_threads();
        let first = thread::thread_idx_x();
        *y.add(thread::index_1d() as usize) = maths::stencil(|at| PRINTED_TILE.get(first + at));
    }
}

/// Cells of each thread of [`stencil4()`].
pub const STENCIL4_CELLS: u32 = 4;

/// Four neighbouring cells, from `at` on; zeros outside the array.
///
/// # Safety
/// `x` has `n` elements and is aligned to 16 bytes; `at` is a multiple of 4, modulo 2³².
#[inline(always)]
unsafe fn four(x: *const f32, at: u32, n: u32) -> [f32; 4] {
    // SAFETY: cells below n, four of them aligned.
    unsafe {
        if at < n && n - at >= 4 {
            // rust-cuda shifts a number of 128 bits by 0 wrongly, and loads a struct whole.
            #[cfg(feature = "nvvm")]
            return crate::wide::load4(x, at);
            // As one number: a struct would be loaded in two halves.
            #[cfg(not(feature = "nvvm"))]
            {
                let bits = *x.add(at as usize).cast::<u128>();
                return [0, 32, 64, 96].map(|shift| f32::from_bits((bits >> shift) as u32));
            }
        }
        [cell(x, at, n), cell(x, at.wrapping_add(1), n), cell(x, at.wrapping_add(2), n), cell(x, at.wrapping_add(3), n)]
    }
}

/// [`stencil_1d()`] with four cells a thread, loaded and stored in one access of 16 bytes. Neighbours come from the neighbouring lanes
/// by shuffles; the first and the last lane of a warp load theirs. No shared memory, no barrier.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; each aligned to 16 bytes, as allocations are.
/// - Launch: one-dimensional, whole warps, at least `n / 4` threads, rounded up.
#[kernel]
pub unsafe fn stencil4(x: *const f32, y: *mut f32, n: u32) {
    let at = thread::index_1d() * STENCIL4_CELLS;
    let lane = warp::lane_id();
    // SAFETY: cells below n, aligned as the arrays are; all lanes come to the shuffles.
    unsafe {
        let own = four(x, at, n);
        let mut outer = [0.0; 4];
        if lane == 0 {
            outer = four(x, at.wrapping_sub(STENCIL4_CELLS), n);
        }
        if lane == 31 {
            outer = four(x, at.wrapping_add(STENCIL4_CELLS), n);
        }
        let from_left = |k: usize| {
            let (value, _) = crate::lanes::warp_shuffle_up(u32::MAX, own[k], 1, 32);
            if lane == 0 { outer[k] } else { value }
        };
        let from_right = |k: usize| {
            let (value, _) = warp::warp_shuffle_down(u32::MAX, own[k], 1, 32);
            if lane == 31 { outer[k] } else { value }
        };
        let cells = [
            from_left(1),
            from_left(2),
            from_left(3),
            own[0],
            own[1],
            own[2],
            own[3],
            from_right(0),
            from_right(1),
            from_right(2),
        ];
        let sum = |k: usize| maths::stencil(|at| cells[k + at as usize]);
        if at < n && n - at >= STENCIL4_CELLS {
            #[cfg(feature = "nvvm")]
            crate::wide::store4(y, at, [sum(0), sum(1), sum(2), sum(3)]);
            #[cfg(not(feature = "nvvm"))]
            {
                let bits = |k: usize| u128::from(sum(k).to_bits()) << (32 * k);
                *y.add(at as usize).cast::<u128>() = bits(0) | bits(1) | bits(2) | bits(3);
            }
            return;
        }
        let set = |k: usize| {
            if at < n && (k as u32) < n - at {
                *y.add(at as usize + k) = sum(k);
            }
        };
        set(0);
        set(1);
        set(2);
    }
}
