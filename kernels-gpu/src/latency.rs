//! Latency and how it is hidden: chains of dependent loads, some number of them side by side in a thread.

use cuda_std::prelude::*;

/// `CHAINS` walks through a table of successors, a step of each in turn: one load has to wait for the one before it in its own
/// chain, and for none of the others. The sum of where the walks end.
///
/// # Safety
/// Every entry of `next` is an index into it, and so are the beginnings `first + k * apart`, k below `CHAINS`.
#[inline(always)]
unsafe fn walk<const CHAINS: usize>(next: *const u32, first: u32, apart: u32, steps: u32) -> u32 {
    let mut at: [u32; CHAINS] = [0; CHAINS];
    let mut k = 0;
    while k < CHAINS {
        at[k] = first + k as u32 * apart;
        k += 1;
    }
    for _ in 0..steps {
        for at in &mut at {
            // SAFETY: the caller's promise.
            *at = unsafe { *next.add(*at as usize) };
        }
    }
    at.iter().fold(0, |sum: u32, &at| sum.wrapping_add(at))
}

/// One chain of dependent loads a thread; writes the sum of where its chains end.
///
/// - `next`: a table of successors, each entry an index into it, read. `out`: an element a thread, written.
/// - `apart`: from where a chain of a thread begins to where the next one does: thread i begins at `i`, `i + apart`, …, all of
///   them indices into the table. `steps`: length of a chain.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn chase_ilp1(next: *const u32, out: *mut u32, apart: u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: the caller's promise; there is an element of `out` for each thread.
    unsafe { *out.add(i as usize) = walk::<1>(next, i, apart, steps) };
}

/// [`chase_ilp1()`] with two chains. Parameters and launch as for it.
#[kernel]
pub unsafe fn chase_ilp2(next: *const u32, out: *mut u32, apart: u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: the caller's promise; there is an element of `out` for each thread.
    unsafe { *out.add(i as usize) = walk::<2>(next, i, apart, steps) };
}

/// [`chase_ilp1()`] with four chains. Parameters and launch as for it.
#[kernel]
pub unsafe fn chase_ilp4(next: *const u32, out: *mut u32, apart: u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: the caller's promise; there is an element of `out` for each thread.
    unsafe { *out.add(i as usize) = walk::<4>(next, i, apart, steps) };
}

/// [`chase_ilp1()`] with eight chains. Parameters and launch as for it.
#[kernel]
pub unsafe fn chase_ilp8(next: *const u32, out: *mut u32, apart: u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: the caller's promise; there is an element of `out` for each thread.
    unsafe { *out.add(i as usize) = walk::<8>(next, i, apart, steps) };
}
