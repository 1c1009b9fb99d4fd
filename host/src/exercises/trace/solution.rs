use crate::shared::shared_array;
use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: u32 = 256;

shared_array!(
    /// An element a thread.
    RELAY: [f32; BLOCK as usize]
);

/// `c[i] = b[i]` and the element of `a` at the mirrored place of the block.
///
/// - `a`, `b`: an element a thread, read; `c`: an element a thread, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn relayed(a: *const f32, b: *const f32, c: *mut f32) {
    let (i, thread) = (thread::index_1d() as usize, thread::thread_idx_x());
    // SAFETY: an element a thread; each value has one writer, and a barrier before it is read.
    unsafe {
        let summand = *b.add(i);
        RELAY.set(thread, *a.add(i));
        thread::sync_threads();
        *c.add(i) = RELAY.get(BLOCK - 1 - thread) + summand;
    }
}
