//! Who am I: the built-in indices and sizes of a thread, its block and its grid; and the block's barrier.
//!
//! CUDA's built-ins are 32-bit special registers. A thread is known by its place in its block (`thread_idx`, which many
//! threads of the grid share) and its block's place in the grid (`block_idx`); [`index_1d`] joins the two.

use crate::glam::{UVec2, UVec3};
#[cfg(target_arch = "nvptx64")]
use core::arch::nvptx;

macro_rules! built_ins {
    ($($(#[$doc:meta])* $name:ident = $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register, which every thread has.
            gpu!("thread::a built-in index or size", unsafe { nvptx::$intrinsic() })
        }
    )*};
}

built_ins! {
    /// `threadIdx.x`: the thread's column in its block, `0..block_dim_x()`.
    thread_idx_x = _thread_idx_x;
    /// `threadIdx.y`: the thread's row in its block, `0..block_dim_y()`.
    thread_idx_y = _thread_idx_y;
    /// `threadIdx.z`: the thread's layer in its block, `0..block_dim_z()`.
    thread_idx_z = _thread_idx_z;
    /// `blockIdx.x`: the block's column in the grid, `0..grid_dim_x()`.
    block_idx_x = _block_idx_x;
    /// `blockIdx.y`: the block's row in the grid, `0..grid_dim_y()`.
    block_idx_y = _block_idx_y;
    /// `blockIdx.z`: the block's layer in the grid, `0..grid_dim_z()`.
    block_idx_z = _block_idx_z;
    /// `blockDim.x`: threads of a block along x, `1..=1024`.
    block_dim_x = _block_dim_x;
    /// `blockDim.y`: threads of a block along y, `1..=1024`.
    block_dim_y = _block_dim_y;
    /// `blockDim.z`: threads of a block along z, `1..=64`.
    block_dim_z = _block_dim_z;
    /// `gridDim.x`: blocks of the grid along x, `1..=2^31 - 1`.
    grid_dim_x = _grid_dim_x;
    /// `gridDim.y`: blocks of the grid along y, `1..=65535`.
    grid_dim_y = _grid_dim_y;
    /// `gridDim.z`: blocks of the grid along z, `1..=65535`.
    grid_dim_z = _grid_dim_z;
}

/// `threadIdx`: the thread's place in its block.
#[inline(always)]
pub fn thread_idx() -> UVec3 {
    UVec3::new(thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// `blockIdx`: the block's place in the grid.
#[inline(always)]
pub fn block_idx() -> UVec3 {
    UVec3::new(block_idx_x(), block_idx_y(), block_idx_z())
}

/// `blockDim`: threads of a block along each axis.
#[inline(always)]
pub fn block_dim() -> UVec3 {
    UVec3::new(block_dim_x(), block_dim_y(), block_dim_z())
}

/// `gridDim`: blocks of the grid along each axis.
#[inline(always)]
pub fn grid_dim() -> UVec3 {
    UVec3::new(grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// `blockIdx.x * blockDim.x + threadIdx.x`: the thread's index along x, unique in a launch whose blocks and grid are
/// one-dimensional. Wraps at 2^32.
#[inline(always)]
pub fn index_1d() -> u32 {
    index(block_idx_x(), block_dim_x(), thread_idx_x())
}

/// The thread's index along x and y: the column and the row of the element that is its own.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), index(block_idx_y(), block_dim_y(), thread_idx_y()))
}

/// The thread's index along x, y and z.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y } = index_2d();
    UVec3::new(x, y, index(block_idx_z(), block_dim_z(), thread_idx_z()))
}

/// One multiply-add: wrapping, since a check for overflow would cost registers and a branch in every kernel.
#[inline(always)]
fn index(block: u32, block_threads: u32, thread: u32) -> u32 {
    block.wrapping_mul(block_threads).wrapping_add(thread)
}

/// Whether this is the thread with index zero on every axis, of the block with index zero on every axis.
#[inline(always)]
pub fn first() -> bool {
    block_idx() == UVec3::new(0, 0, 0) && thread_idx() == UVec3::new(0, 0, 0)
}

/// Threads in a warp: 32 on every NVIDIA GPU so far.
#[inline(always)]
pub fn warp_size() -> u32 {
    32
}

/// `__syncthreads()`: waits until every thread of the block is here; what any of them stored before is then visible to
/// all of them. Every thread that has not exited must come to the same call.
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: the barrier itself touches no memory; that all threads reach it is the caller's to see to.
    gpu!("thread::sync_threads", unsafe { nvptx::_syncthreads() })
}

/// [`sync_threads`], and the number of threads whose `predicate` is not zero.
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    let _ = predicate;
    gpu!("thread::sync_threads_count", crate::intrinsics::barrier_count(predicate))
}

/// [`sync_threads`], and a number other than zero if every thread's `predicate` is not zero.
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    let _ = predicate;
    gpu!("thread::sync_threads_and", crate::intrinsics::barrier_and(predicate))
}

/// [`sync_threads`], and a number other than zero if any thread's `predicate` is not zero.
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    let _ = predicate;
    gpu!("thread::sync_threads_or", crate::intrinsics::barrier_or(predicate))
}

/// `__threadfence_block()`: orders this thread's memory accesses as its block sees them. It waits for no thread.
///
/// The name is rust-cuda's.
#[inline(always)]
pub fn grid_fence() {
    gpu!("thread::grid_fence", crate::intrinsics::membar_block())
}

/// `__threadfence()`: orders this thread's memory accesses as the whole device sees them.
#[inline(always)]
pub fn device_fence() {
    gpu!("thread::device_fence", crate::intrinsics::membar_device())
}

/// `__threadfence_system()`: orders this thread's memory accesses as the device and the host see them.
#[inline(always)]
pub fn system_fence() {
    gpu!("thread::system_fence", crate::intrinsics::membar_system())
}

/// Suspends the thread for about `nanos` nanoseconds: between zero and twice that (PTX ISA, `nanosleep`).
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    let _ = nanos;
    gpu!("thread::nanosleep", crate::intrinsics::nanosleep(nanos))
}
