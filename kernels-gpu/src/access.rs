//! Ways through memory: far apart, at random, one after the other, and in three dimensions.

use crate::maths;
use cuda_std::prelude::*;

/// Copies elements that are `stride` apart: a warp's lanes share fewer and fewer lines.
///
/// - `x`: `n * stride` elements, read; `y`: as many, every `stride`-th written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn strided_copy(x: *const f32, y: *mut f32, n: u32, stride: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = (i * stride) as usize;
        // SAFETY: i < n * stride.
        unsafe { *y.add(i) = *x.add(i) };
    }
}

/// Reads elements in the order that an array of indices gives.
///
/// - `x`: `mask + 1` elements, a power of two, read; `index`: `n` elements, read, of which the bits of `mask` count;
///   `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn gather(x: *const f32, index: *const u32, y: *mut f32, n: u32, mask: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and an index is at most `mask`.
        unsafe { *y.add(i as usize) = *x.add((*index.add(i as usize) & mask) as usize) };
    }
}

/// Follows a chain from each thread's own element on.
///
/// - `next`: read; element `i` has the index of its successor; `found`: `n` elements, written: where `hops` hops lead from
///   element `i * apart`; `hops`, `apart`: any, as far as the chain has that element.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn walk(next: *const u32, found: *mut u32, n: u32, apart: u32, hops: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut at = i * apart;
        for _ in 0..hops {
            // SAFETY: successors are elements.
            at = unsafe { *next.add(at as usize) };
        }
        // SAFETY: i < n.
        unsafe { *found.add(i as usize) = at };
    }
}

/// Finds where keys belong in a sorted array: each step of the search waits for the one before.
///
/// - `sorted`: `len` elements, a power of two, ascending, read; `keys`: `n` elements, read; `found`: `n` elements,
///   written: how many of the sorted ones but the last are less than the key.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn binary_search(sorted: *const u32, keys: *const u32, found: *mut u32, n: u32, len: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and the search asks for elements below len.
        unsafe {
            let read = |at: u32| *sorted.add(at as usize);
            *found.add(i as usize) = maths::lower_bound(read, *keys.add(i as usize), len);
        }
    }
}

/// One step of heat conduction in a cube: each cell and its six neighbours; the faces of the cube keep their values.
///
/// - `input`: `n * n * n` elements, x fastest, then y, then z, read; `output`: as many, written.
/// - Launch: three-dimensional, at least `n` threads along x and y, exactly `n` along z.
#[kernel]
pub unsafe fn heat(input: *const f32, output: *mut f32, n: u32) {
    let at = thread::index_3d();
    if at.x < n && at.y < n {
        let cell = (at.z * n + at.y) * n + at.x;
        // SAFETY: `maths::heat` asks for cells of the cube only.
        let read = |cell: u32| unsafe { *input.add(cell as usize) };
        let value = maths::heat(read, [at.x, at.y, at.z], n);
        // SAFETY: the cell is one of the cube.
        unsafe { *output.add(cell as usize) = value };
    }
}
