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

/// Copies `n` elements of which those read are `stride` apart and those written are neighbours: unlike [`strided_copy()`], whose
/// writes are scattered as well, it shows what scattered reads alone cost.
///
/// - `x`: `n * stride` elements, every `stride`-th read; `y`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads; `n * stride` below 2^32.
#[kernel]
pub unsafe fn copy_stride(x: *const f32, y: *mut f32, n: u32, stride: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and i * stride < n * stride.
        unsafe { *y.add(i as usize) = *x.add((i * stride) as usize) };
    }
}

/// Copies all elements, read in an order without a pattern. The order is computed and not loaded, as that of [`gather()`] is, so that
/// every load is one of the copy.
///
/// - `x`: `2^bits` elements, read; `y`: as many, written: element `i` is that of index [`maths::permuted`] of `i`.
/// - Launch: one-dimensional, at least `2^bits` threads; `bits` below 32.
#[kernel]
pub unsafe fn copy_random(x: *const f32, y: *mut f32, bits: u32) {
    let i = thread::index_1d();
    if i < 1 << bits {
        // SAFETY: both indices are below 2^bits.
        unsafe { *y.add(i as usize) = *x.add(maths::permuted(i, bits) as usize) };
    }
}

/// Elements of each thread of [`copy_vec4()`].
pub const COPY_VEC4_ELEMENTS: u32 = 4;

/// Copies `n` elements, four neighbours a thread in one access of 16 bytes each way.
///
/// As fast as memory: one access a thread and direction, since more of them in flight made no copy faster on an H200, and the few elements
/// behind the last four go to threads of their own. ([`crate::ceilings::copy_stream()`] is the same for arrays of 16-byte elements.)
///
/// - `x`: `n` elements, read; `y`: `n` elements, written; each aligned to 16 bytes, as allocations are.
/// - Launch: one-dimensional, at least `n / 4 + n % 4` threads.
#[kernel]
pub unsafe fn copy_vec4(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    let fours = n / COPY_VEC4_ELEMENTS;
    if i < fours {
        let i = i as usize;
        // As one number: a struct would be copied in two halves.
        // SAFETY: element 4i + 3 is below n, and the arrays are aligned to 16 bytes.
        unsafe { *y.cast::<u128>().add(i) = *x.cast::<u128>().add(i) };
    } else if i - fours < n % COPY_VEC4_ELEMENTS {
        let i = (fours * COPY_VEC4_ELEMENTS + (i - fours)) as usize;
        // SAFETY: i < n.
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
