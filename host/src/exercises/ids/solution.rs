use cuda_std::prelude::*;

/// Each thread writes which warp of its block it is in and which lane it is: `32 * warp + lane`.
///
/// - `out`: an element a thread, block after block and, within a block, x fastest, then y, then z; written.
/// - Launch: a one-dimensional grid of blocks of any shape.
#[kernel]
pub unsafe fn place(out: *mut u32) {
    let (x, y, z) = (thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z());
    let (columns, rows, layers) = (thread::block_dim_x(), thread::block_dim_y(), thread::block_dim_z());
    let element = ((thread::block_idx_x() * layers + z) * rows + y) * columns + x;
    let linear = (z * rows + y) * columns + x;
    let warp = linear / 32;
    let lane = linear % 32;
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(element as usize) = 32 * warp + lane };
}
