use crate::shared::shared_array;
use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: u32 = 256;
/// Elements of each array that belong to a thread, one grid apart.
const ROUNDS: usize = 8;

shared_array!(
    /// An element a thread, on its way to the other end of the block.
    RELAY: [f32; BLOCK as usize]
);
shared_array!(
    /// A sum a thread, on its way back.
    RETURN: [f32; BLOCK as usize]
);

/// Adds up, round by round, an element of `a` and the element of `b` at the mirrored place of the block: the element of `a` goes there
/// through shared memory, and the sum comes back.
///
/// - `a`, `b`: eight elements a thread, read; `c`: an element a thread, written.
/// - Launch: one-dimensional, blocks of 256 threads.
#[kernel]
pub unsafe fn relayed(a: *const f32, b: *const f32, c: *mut f32) {
    let (i, thread) = (thread::index_1d() as usize, thread::thread_idx_x());
    let mirrored = BLOCK - 1 - thread;
    let threads = (thread::grid_dim_x() * BLOCK) as usize;
    let mut sum = 0.0;
    for round in 0..ROUNDS {
        // SAFETY: eight elements a thread; each value has one writer, and a barrier before it is read and before it is written again.
        unsafe {
            let at = i + round * threads;
            let summand = *b.add(at);
            RELAY.set(thread, *a.add(at));
            thread::sync_threads();
            RETURN.set(thread, RELAY.get(mirrored) + summand);
            thread::sync_threads();
            sum += RETURN.get(mirrored);
        }
    }
    // SAFETY: an element a thread.
    unsafe { *c.add(i) = sum };
}
