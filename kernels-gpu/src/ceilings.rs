//! What a GPU can do at most: kernels that do one thing, which others are put against.
//!
//! Arithmetic, and streams through memory: a copy, and reading and writing alone. Memory that changes between reading and writing loses
//! time at each change, so a stream that only reads is faster than a copy, and one that reads more than it writes lies between.

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

/// 16 bytes, the most that a thread moves in one access, which alignment makes one.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Quad([u32; 4]);

/// Accesses of each thread of [`read_stream()`].
pub const READ_STREAM_QUADS: u32 = 4;

/// Copies `n` elements of 16 bytes, a thread an element. One access a thread and direction: on an H200 more of them in flight, or hints to
/// the caches, made no copy faster (docs/measurements).
///
/// - `from`: `n` elements, read; `to`: `n` elements, written; each aligned to 16 bytes.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn copy_stream(from: *const u32, to: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // As one number: a struct would be copied in two halves.
        // SAFETY: i < n, and both arrays have n elements, aligned as the elements are.
        unsafe { *to.cast::<u128>().add(i) = *from.cast::<u128>().add(i) };
    }
}

/// Reads elements of 16 bytes, four a thread, and writes next to nothing: the exclusive or of all words of a thread, if it is `needle`.
///
/// Element `k` of thread `t` of a block of `b` threads is `b·k + t` of the block's `4·b`: neighbours read neighbours.
///
/// - `from`: four elements a thread, read, aligned to 16 bytes; `found`: one word, written by the threads that found the needle.
/// - Launch: one-dimensional, a quarter as many threads as elements.
#[kernel]
pub unsafe fn read_stream(from: *const u32, found: *mut u32, needle: u32) {
    let block = thread::block_dim_x();
    let first = thread::block_idx_x() * block * READ_STREAM_QUADS + thread::thread_idx_x();
    // SAFETY: the launch has as many threads as there are fours of elements.
    let quad = |k: u32| unsafe { (*from.cast::<Quad>().add((first + k * block) as usize)).0 };
    let (a, b, c, d) = (quad(0), quad(1), quad(2), quad(3));
    let word = |i: usize| a[i] ^ b[i] ^ c[i] ^ d[i];
    if word(0) ^ word(1) ^ word(2) ^ word(3) == needle {
        // SAFETY: there is one word.
        unsafe { *found = needle };
    }
}

/// Writes `n` elements of 16 bytes, a thread an element, each word of them `value`.
///
/// - `to`: `n` elements, written, aligned to 16 bytes.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn write_stream(to: *mut u32, n: u32, value: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the number of elements, aligned as they are.
        unsafe { *to.cast::<Quad>().add(i as usize) = Quad([value; 4]) };
    }
}
