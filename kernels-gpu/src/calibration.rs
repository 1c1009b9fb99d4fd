//! Micro-benchmarks that ask one thing of the hardware each: how long a dependent access or operation takes, how many a
//! cycle. The cycle model's parameters are set by them, and by nothing that it is later judged by.
//!
//! Threads that only keep the hardware busy write their result all the same, so that nothing is optimised away.

use crate::shared::shared_array;
use crate::{maths, special};
use cuda_std::prelude::*;

/// Nothing: what is left is what a launch, or a block, costs.
///
/// - Launch: any shape.
#[kernel]
pub unsafe fn empty() {}

/// Follows a chain of indices, each loaded from where the one before points: `warm` hops unmeasured, then `steps`.
///
/// - `next`: the chain, read: element `i` has the index of its successor; `out`: two elements, written: where the chain
///   got to, and the cycles of the `steps` hops.
/// - Launch: one thread.
#[kernel]
pub unsafe fn chase(next: *const u32, out: *mut u32, warm: u32, steps: u32) {
    // SAFETY: the chain never leaves its array.
    let hop = |at: u32| unsafe { *next.add(at as usize) };
    let mut at = 0;
    for _ in 0..warm {
        at = hop(at);
    }
    let start = special::clock();
    for _ in 0..steps {
        at = hop(at);
    }
    let cycles = special::clock() - start;
    // SAFETY: two elements.
    unsafe {
        *out = at;
        *out.add(1) = cycles;
    }
}

/// Values of the chain of [`chase_shared()`].
pub const SHARED_CHAIN: usize = 1024;

shared_array!(
    /// The chain of [`chase_shared()`].
    CHAIN: [u32; SHARED_CHAIN]
);

/// [`chase()`] in shared memory. The successor of `i` is `33 * i + 1`, modulo the chain's length: all are visited.
///
/// - `out`: two elements, written, as for [`chase()`]; `steps`: hops.
/// - Launch: one block of one warp.
#[kernel]
pub unsafe fn chase_shared(out: *mut u32, steps: u32) {
    let thread = thread::thread_idx_x();
    let mut at = thread;
    while at < SHARED_CHAIN as u32 {
        // SAFETY: below the length; each value has one writer.
        unsafe { CHAIN.set(at, maths::shared_successor(at)) };
        at += thread::block_dim_x();
    }
    thread::sync_threads();
    if thread == 0 {
        let mut at = 0;
        let start = special::clock();
        for _ in 0..steps {
            // SAFETY: successors are below the length, and were written before the barrier.
            at = unsafe { CHAIN.get(at) };
        }
        let cycles = special::clock() - start;
        // SAFETY: two elements.
        unsafe {
            *out = at;
            *out.add(1) = cycles;
        }
    }
}

/// Four words, loaded by one instruction.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([u32; 4]);

/// Reads an array in parts, as fast as what holds it gives: block `b` begins with part `b`, and goes on by `turn` parts in
/// each pass, around the array; a block beyond the last part begins at the first again.
///
/// - `x`: `4 * fours * parts` elements, read, aligned to 16 bytes; `out`: an element a thread, written: the sum of what it
///   read; `parts`: a power of two; `passes`: parts that each block reads.
/// - Launch: one-dimensional, `fours` a multiple of four times the block's threads.
#[kernel]
pub unsafe fn read_global(x: *const u32, out: *mut u32, fours: u32, parts: u32, turn: u32, passes: u32) {
    let threads = thread::block_dim_x();
    let mut part = thread::block_idx_x() & (parts - 1);
    let mut sums = [0_u32; 4];
    for _ in 0..passes {
        // SAFETY: the part is one of the array.
        let from = unsafe { x.cast::<Four>().add((part * fours) as usize) };
        let mut at = thread::thread_idx_x();
        while at < fours {
            // Four loads on their way at a time.
            for k in 0..4 {
                // SAFETY: `fours` is a multiple of what a turn reads.
                let Four(words) = unsafe { *from.add((at + k * threads) as usize) };
                for (sum, word) in sums.iter_mut().zip(&words) {
                    *sum = sum.wrapping_add(*word);
                }
            }
            at += 4 * threads;
        }
        part = (part + turn) & (parts - 1);
    }
    let sum = sums[0].wrapping_add(sums[1]).wrapping_add(sums[2]).wrapping_add(sums[3]);
    // SAFETY: an element a thread.
    unsafe { *out.add(thread::index_1d() as usize) = sum };
}

/// Values of the array of [`read_shared()`].
pub const SHARED_READ: usize = 4096;

shared_array!(
    /// The array of [`read_shared()`].
    READ: [f32; SHARED_READ]
);

/// Reads shared memory, four values an instruction, neighbouring threads neighbouring fours: no conflicts.
///
/// - `out`: an element a thread, written: the sum of what it read; `passes`: times four loads.
/// - Launch: one-dimensional, blocks of 256 to 1,024 threads, a multiple of 256.
#[kernel]
pub unsafe fn read_shared(out: *mut f32, passes: u32) {
    let thread = thread::thread_idx_x();
    let mut at = thread;
    while at < SHARED_READ as u32 {
        // SAFETY: below the length; each value has one writer.
        unsafe { READ.set(at, (at % 8) as f32) };
        at += thread::block_dim_x();
    }
    thread::sync_threads();
    let mut sums = [0.0; 4];
    for pass in 0..passes {
        for k in 0..4 {
            let four = (thread + 256 * k + 32 * pass) % (SHARED_READ as u32 / 4);
            // SAFETY: below the length, written before the barrier.
            let values = unsafe { READ.get4(4 * four) };
            for (sum, value) in sums.iter_mut().zip(&values) {
                *sum += value;
            }
        }
    }
    // SAFETY: an element a thread.
    unsafe { *out.add(thread::index_1d() as usize) = sums[0] + sums[1] + sums[2] + sums[3] };
}

/// One chain of fused multiply-adds a thread.
///
/// - `y`: an element a thread, written: [`maths::path_a`] of the thread's index; `steps`: the chain's length.
/// - Launch: one-dimensional. One warp shows the latency, a full SM the rate.
#[kernel]
pub unsafe fn chain_ffma(y: *mut f32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: an element a thread.
    unsafe { *y.add(i as usize) = maths::path_a(i as f32, steps) };
}

/// One chain of integer multiply-adds a thread.
///
/// Each squares, since steps with a constant factor are contracted by the compiler, several into one.
///
/// - `y`: an element a thread, written: [`maths::squares`] of the thread's index. Steps and launch as for [`chain_ffma()`].
#[kernel]
pub unsafe fn chain_imad(y: *mut u32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: an element a thread.
    unsafe { *y.add(i as usize) = maths::squares(i, steps) };
}

/// One chain of approximate reciprocal square roots a thread.
///
/// Not of reciprocals: two of them are none to the compiler.
///
/// - `y`: an element a thread, written: [`maths::reciprocal_roots`] of the thread's index plus 1. Steps and launch as for
///   [`chain_ffma()`].
#[kernel]
pub unsafe fn chain_mufu(y: *mut f32, steps: u32) {
    let i = thread::index_1d();
    // SAFETY: an element a thread.
    unsafe { *y.add(i as usize) = maths::reciprocal_roots((i + 1) as f32, steps) };
}

/// Counts: every thread adds 1 to a counter `repeats` times, without waiting for the result.
///
/// - `counters`: `mask + 1` elements, added to; thread `i` adds to element `i & mask`; `mask`: a power of two, less 1.
/// - Launch: one-dimensional.
#[kernel]
pub unsafe fn count(counters: *mut u32, mask: u32, repeats: u32) {
    // SAFETY: the index is at most `mask`.
    let counter = unsafe { counters.add((thread::index_1d() & mask) as usize) };
    for _ in 0..repeats {
        // SAFETY: the launch touches the counters atomically only.
        unsafe { special::add_u32(counter, 1) };
    }
}

/// Word of a [`scatter_add()`]: lane by lane `apart`, and `turn` further for each warp that was there before.
fn scattered(mask: u32, apart: u32, turn: u32, repeat: u32) -> usize {
    let thread = thread::index_1d();
    let warps = (thread::grid_dim_x() * thread::block_dim_x()) >> 5;
    maths::scattered(thread & 31, (thread >> 5) + repeat * warps, apart, turn, mask) as usize
}

/// Adds 1 to words as far apart as one likes, without waiting for the result.
///
/// - `words`: `mask + 1` elements, added to: [`maths::scattered`] says which; `mask`: a power of two, less 1; `apart`: words
///   from lane to lane; `turn`: words from warp to warp; `repeats`: additions of a thread.
/// - Launch: one-dimensional, whole warps.
#[kernel]
pub unsafe fn scatter_add(words: *mut u32, mask: u32, apart: u32, turn: u32, repeats: u32) {
    for repeat in 0..repeats {
        // SAFETY: the index is at most `mask`; the launch touches the words atomically only.
        unsafe { special::add_u32(words.add(scattered(mask, apart, turn, repeat)), 1) };
    }
}

/// Writes words as far apart as one likes: each its own index, whoever writes it. Parameters and launch as for [`scatter_add()`].
#[kernel]
pub unsafe fn scatter_store(words: *mut u32, mask: u32, apart: u32, turn: u32, repeats: u32) {
    for repeat in 0..repeats {
        let at = scattered(mask, apart, turn, repeat);
        // SAFETY: the index is at most `mask`; all that write a word write the same.
        unsafe { words.add(at).write_volatile(at as u32) };
    }
}
