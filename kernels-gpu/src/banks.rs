//! Banks of shared memory: how many passes an access takes by where its lanes read.

use crate::shared::shared_array;
use cuda_std::prelude::*;

/// Words of the array: 32 rows of 33.
pub const WORDS: u32 = 1_056;

shared_array!(BANKS_WORDS: [f32; 1_056]);
shared_array!(BANKS_PAIRS: [f64; 64]);

/// Each lane reads one word a step: in step c word `stride * lane + (c mod 32 xor (lane and swizzle))`, of an array in which each
/// word is its own index. Writes each thread's sum.
///
/// - `out`: an element a thread, written. `steps`: reads of each thread.
/// - `stride`: 0 to 33. 0 has all lanes read one word; 32 a column of 32 rows; 33 a column of padded rows.
/// - `swizzle`: 0, or 31 to have each row shifted by its own number.
/// - Launch: one-dimensional, the block's size a multiple of 32.
#[kernel]
pub unsafe fn shared_stride(out: *mut f32, steps: u32, stride: u32, swizzle: u32) {
    let lane = thread::thread_idx_x() % 32;
    let mut word = thread::thread_idx_x();
    while word < WORDS {
        // SAFETY: word < WORDS; each thread writes words of its own.
        unsafe { BANKS_WORDS.set(word, word as f32) };
        word += thread::block_dim_x();
    }
    thread::sync_threads();
    let mut sum = 0.0;
    for step in 0..steps {
        // SAFETY: at most 33 * 31 + 31 < WORDS; a barrier stands between writing and reading.
        sum += unsafe { BANKS_WORDS.get(stride * lane + ((step % 32) ^ (lane & swizzle))) };
    }
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(thread::index_1d() as usize) = sum };
}

/// Each lane reads a pair of words, 8 bytes, a step: the lanes' pairs side by side. Writes each thread's sum.
///
/// - `out`: an element a thread, written. `steps`: reads of each thread.
/// - Launch: one-dimensional, the block's size a multiple of 32.
#[kernel]
pub unsafe fn shared_pairs(out: *mut f32, steps: u32) {
    let (thread, lane) = (thread::thread_idx_x(), thread::thread_idx_x() % 32);
    if thread < 32 {
        // SAFETY: an array of 64; each thread writes values of its own.
        unsafe {
            BANKS_PAIRS.set(thread, thread as f64);
            BANKS_PAIRS.set(thread + 32, (thread + 32) as f64);
        };
    }
    thread::sync_threads();
    let mut sum = 0.0_f64;
    for step in 0..steps {
        // SAFETY: at most 31 + 31; a barrier stands between writing and reading.
        sum += unsafe { BANKS_PAIRS.get(lane + step % 32) };
    }
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(thread::index_1d() as usize) = sum as f32 };
}

/// Each lane reads four words, 16 bytes, a step: the lanes' fours side by side. Writes each thread's sum of first words.
///
/// - `out`: an element a thread, written. `steps`: reads of each thread.
/// - Launch: one-dimensional, the block's size a multiple of 32.
#[kernel]
pub unsafe fn shared_quads(out: *mut f32, steps: u32) {
    let lane = thread::thread_idx_x() % 32;
    let mut word = thread::thread_idx_x();
    while word < WORDS {
        // SAFETY: as in `shared_stride`.
        unsafe { BANKS_WORDS.set(word, word as f32) };
        word += thread::block_dim_x();
    }
    thread::sync_threads();
    let mut sum = 0.0;
    for step in 0..steps {
        // SAFETY: at most 4 * (31 + 31) + 3 < WORDS, a multiple of 4; a barrier stands between writing and reading.
        sum += unsafe { BANKS_WORDS.get4(4 * (lane + step % 32)) }[0];
    }
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(thread::index_1d() as usize) = sum };
}
