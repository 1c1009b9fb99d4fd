//! What a GPU can do at most: the arithmetic ceiling that other kernels are put against.

use crate::maths;
use cuda_std::prelude::*;

/// Independent chains of multiply-adds in each thread of [`fma_chains()`]. Four schedulers with a full set of warps hide the
/// latency of one already; eight leave a margin for GPUs whose SMs hold few warps.
pub const FMA_CHAINS: usize = 8;

/// Multiply-adds of a chain in each step, written out so that the loop around them costs next to nothing.
pub const FMA_CHAIN_STEPS: u32 = 16;

/// Nothing but fused multiply-adds: `steps` times 128 in each thread, none of which waits for the one before.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written: [`maths::fma_chains`] of each; `steps`: rounds of the loop.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn fma_chains(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements of x.
        let value = unsafe { *x.add(i as usize) };
        // SAFETY: and of y.
        unsafe { *y.add(i as usize) = maths::fma_chains::<FMA_CHAINS>(value, steps, FMA_CHAIN_STEPS) };
    }
}
