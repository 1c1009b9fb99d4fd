//! Kernels that compute: floating-point, integers, a bit of both, and paths that depend on the data.

use crate::maths;
use crate::shared::shared_array;
use cuda_std::prelude::*;

/// A polynomial of degree 15, `rounds` times over, by Horner's rule.
///
/// - `x`: `n` elements, read; `y`: `n` elements, written: [`maths::polynomial`] of each.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn polynomial(x: *const f32, y: *mut f32, n: u32, rounds: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n.
        unsafe { *y.add(i as usize) = maths::polynomial(*x.add(i as usize), rounds) };
    }
}

/// Mixes the bits of each value, `rounds` times.
///
/// - `values`: `n` elements, read and written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn mix_bits(values: *mut u32, n: u32, rounds: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and no other thread has this element.
        unsafe { *values.add(i as usize) = maths::mix_bits(*values.add(i as usize), rounds) };
    }
}

/// How often each number is halved, or tripled and increased, until it is 1: neighbours take paths of different lengths.
///
/// - `lengths`: `n` elements, written: [`maths::collatz`] of the index plus 1; `limit`: steps at most.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn collatz(lengths: *mut u32, n: u32, limit: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n.
        unsafe { *lengths.add(i as usize) = maths::collatz(i + 1, limit) };
    }
}

/// The Mandelbrot set: a pixel's loop ends when its number escapes.
///
/// - `escapes`: `width * width` elements, row by row, written: [`maths::escapes_after`]; `limit`: turns at most.
/// - Launch: two-dimensional, at least `width` threads along x and y.
#[kernel]
pub unsafe fn mandelbrot(escapes: *mut u32, width: u32, limit: u32) {
    let pixel = thread::index_2d();
    if pixel.x < width && pixel.y < width {
        // SAFETY: the pixel is one of the image.
        unsafe {
            *escapes.add((pixel.y * width + pixel.x) as usize) = maths::escapes_after(pixel.x, pixel.y, width, limit);
        }
    }
}

/// Threads of a block of [`nbody()`], and bodies in shared memory.
pub const NBODY_TILE: u32 = 256;

shared_array!(
    /// Bodies that all threads of the block look at next.
    BODIES: [f32; 4 * NBODY_TILE as usize]
);

/// Four values, loaded and stored by one instruction.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([f32; 4]);

/// The acceleration that each body feels from all of them: x, y, z, and a value that is 0.
///
/// - `bodies`: `4 * n` elements, read: x, y, z and mass of each; `accelerations`: as many, written; `n`: a multiple of 256.
/// - Launch: one-dimensional, blocks of 256 threads, `n` threads.
#[kernel]
pub unsafe fn nbody(bodies: *const f32, accelerations: *mut f32, n: u32) {
    let i = thread::index_1d() as usize;
    let thread = thread::thread_idx_x();
    // SAFETY: as many bodies as threads; an array of fours is aligned to 16 bytes.
    let Four(own) = unsafe { *bodies.cast::<Four>().add(i) };
    let mut sum = [0.0; 3];
    let mut tile = 0;
    while tile < n {
        // SAFETY: n is a multiple of the tile; one writer for each four, and barriers between writes and reads.
        unsafe {
            let Four(body) = *bodies.cast::<Four>().add((tile + thread) as usize);
            BODIES.set4(4 * thread, body);
            thread::sync_threads();
            for k in 0..NBODY_TILE {
                sum = maths::attracted(sum, own, BODIES.get4(4 * k));
            }
            thread::sync_threads();
        }
        tile += NBODY_TILE;
    }
    // SAFETY: as above.
    unsafe { *accelerations.cast::<Four>().add(i) = Four([sum[0], sum[1], sum[2], 0.0]) };
}
