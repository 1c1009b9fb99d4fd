use crate::shared::shared_array;
use cuda_std::GpuFloat;
use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 16;

shared_array!(LEFT: [f32; (TILE * TILE) as usize]);
shared_array!(RIGHT: [f32; (TILE * TILE) as usize]);

/// `c = a * b`, a thread an element, through tiles in shared memory.
///
/// - `a`, `b`: `n * n` elements each, read; `c`: as many, written; `n`: a multiple of 16.
/// - Launch: blocks of 16 × 16 threads, `n / 16` along x and y.
#[kernel]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let at = thread::index_2d();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let mut sum = 0.0_f32;
    let mut tile = 0;
    while tile < n {
        // SAFETY: the elements are those of the matrices; a barrier stands between writing and reading a tile, and between reading
        // and writing it again.
        unsafe {
            LEFT.set(y * TILE + x, *a.add((at.y * n + tile + x) as usize));
            RIGHT.set(y * TILE + x, *b.add(((tile + y) * n + at.x) as usize));
            thread::sync_threads();
            for k in 0..TILE {
                sum = LEFT.get(y * TILE + k).mul_add(RIGHT.get(k * TILE + x), sum);
            }
            thread::sync_threads();
        }
        tile += TILE;
    }
    // SAFETY: the element is one of the matrix.
    unsafe { *c.add((at.y * n + at.x) as usize) = sum };
}
