//! Who knows what: every thread writes down what it knows of itself.

use crate::special;
use core::sync::atomic::Ordering;
use cuda_std::atomic::mid;
use cuda_std::prelude::*;
use cuda_std::warp;

/// What a thread knows of itself, as [`whoami()`] writes it down.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `threadIdx`: x, y, z. Many threads of the grid share it.
    pub thread_idx: [u32; 3],
    /// `blockIdx`: x, y, z. All threads of a block share it.
    pub block_idx: [u32; 3],
    /// The thread's place in its block as the hardware flattens it: x varies fastest, then y, then z.
    pub linear_tid: u32,
    /// `%laneid`, from the hardware.
    pub lane: u32,
    /// The warp within the block: the linear index divided by 32.
    pub warp: u32,
    /// `%smid`: the SM that ran the thread.
    pub sm: u32,
    /// A number that no other thread of the launch drew. The order in which threads draw is not promised.
    pub ticket: u32,
    /// `blockIdx.x * blockDim.x + threadIdx.x`: unique where block and grid are one-dimensional.
    pub index_1d: u32,
}

impl Identity {
    /// 32-bit words of an identity in memory.
    pub const WORDS: usize = size_of::<Self>() / size_of::<u32>();

    /// An identity from its words, in the order of the fields.
    pub const fn from_words(words: &[u32; Self::WORDS]) -> Self {
        let [tx, ty, tz, bx, by, bz, linear_tid, lane, warp, sm, ticket, index_1d] = *words;
        Self { thread_idx: [tx, ty, tz], block_idx: [bx, by, bz], linear_tid, lane, warp, sm, ticket, index_1d }
    }
}

/// Writes each thread's [`Identity`] at the thread's place in the grid: block by block, and within a block by linear
/// index.
///
/// - `identities`: one a thread of the grid, written.
/// - `counter`: one element, 0 before the launch and the number of threads after it; hands out the tickets.
/// - Launch: any shape, at most 2^32 - 1 threads.
#[kernel]
pub unsafe fn whoami(identities: *mut Identity, counter: *mut u32) {
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let (block_dim, grid_dim) = (thread::block_dim(), thread::grid_dim());
    let linear_tid = thread.x + block_dim.x * (thread.y + block_dim.y * thread.z);
    let linear_block = block.x + grid_dim.x * (block.y + grid_dim.y * block.z);
    let threads = block_dim.x * block_dim.y * block_dim.z;
    // SAFETY: `counter` points to an element that the launch touches atomically only.
    let ticket = unsafe { mid::atomic_fetch_add_u32_device(counter, Ordering::Relaxed, 1) };
    let identity = Identity {
        thread_idx: [thread.x, thread.y, thread.z],
        block_idx: [block.x, block.y, block.z],
        linear_tid,
        lane: warp::lane_id(),
        warp: linear_tid / 32,
        sm: special::sm_id(),
        ticket,
        index_1d: thread::index_1d(),
    };
    // SAFETY: there is an element for each thread of the grid.
    unsafe { *identities.add((linear_block * threads + linear_tid) as usize) = identity };
}
