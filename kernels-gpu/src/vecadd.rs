//! Vector addition: the smallest kernel with everything a kernel needs. The loop of the CPU became the grid.

use cuda_std::prelude::*;

/// Adds two arrays of `n` elements, a thread an element: `c[i] = a[i] + b[i]`.
///
/// The grid is rounded up to whole blocks, so the threads past the end must do nothing: hence the guard.
///
/// - `a`, `b`: `n` elements each, read; `c`: `n` elements, written.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn vecadd(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and each array has n elements.
        unsafe { *c.add(i) = *a.add(i) + *b.add(i) };
    }
}

/// [`vecadd()`] without the guard: right when the threads of the grid are exactly the elements, and a read past the
/// end of the arrays by the first thread too many otherwise.
///
/// - `a`, `b`: an element a thread, read; `c`: an element a thread, written.
/// - Launch: one-dimensional, exactly as many threads as elements.
#[kernel]
pub unsafe fn vecadd_unguarded(a: *const f32, b: *const f32, c: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: the launch has as many threads as each array has elements.
    unsafe { *c.add(i) = *a.add(i) + *b.add(i) };
}

/// Four neighbours, loaded and stored by one instruction of 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([f32; 4]);

/// Elements of each thread of [`vecadd4()`].
pub const VECADD4_ELEMENTS: u32 = 4;

/// [`vecadd()`] with four neighbouring elements a thread, each array's in one access of 16 bytes. A resident thread keeps four
/// times as many bytes in flight, so a full SM asks for enough to fill the memory's bandwidth.
///
/// - `a`, `b`: `n` elements each, read; `c`: `n` elements, written; each aligned to 16 bytes, as allocations are.
/// - Launch: one-dimensional, at least `n / 4` threads, rounded up. The thread of an incomplete four goes element by element.
#[kernel]
pub unsafe fn vecadd4(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let i = thread::index_1d();
    let fours = n / VECADD4_ELEMENTS;
    if i < fours {
        let i = i as usize;
        // SAFETY: element 4i + 3 is below n, and the arrays are aligned to 16 bytes.
        let (Four(x), Four(y)) = unsafe { (*a.cast::<Four>().add(i), *b.cast::<Four>().add(i)) };
        let sums = Four([x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]]);
        // SAFETY: as above.
        unsafe { *c.cast::<Four>().add(i) = sums };
    } else if i == fours {
        // Written out: a loop would be unrolled into several times the kernel.
        let add = |k: u32| {
            let k = (fours * VECADD4_ELEMENTS + k) as usize;
            // SAFETY: k < n, and each array has n elements.
            unsafe { *c.add(k) = *a.add(k) + *b.add(k) };
        };
        let rest = n % VECADD4_ELEMENTS;
        if rest > 0 {
            add(0);
        }
        if rest > 1 {
            add(1);
        }
        if rest > 2 {
            add(2);
        }
    }
}

/// [`vecadd4()`] without the guard and without an incomplete four: right when the threads of the grid are exactly the fours.
///
/// - `a`, `b`: four elements a thread, read; `c`: four elements a thread, written; each aligned to 16 bytes.
/// - Launch: one-dimensional, exactly a quarter as many threads as elements.
#[kernel]
pub unsafe fn vecadd4_unguarded(a: *const f32, b: *const f32, c: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: the launch has as many threads as each array has fours, and the arrays are aligned to 16 bytes.
    let (Four(x), Four(y)) = unsafe { (*a.cast::<Four>().add(i), *b.cast::<Four>().add(i)) };
    let sums = Four([x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]]);
    // SAFETY: as above.
    unsafe { *c.cast::<Four>().add(i) = sums };
}
