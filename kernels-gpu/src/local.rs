//! Local memory that is no spill: an array that cannot live in registers, however many there are.

use crate::maths;
use cuda_std::prelude::*;

/// Elements of the array of [`runtime_index()`].
pub const TABLE: usize = 16;

/// Fills an array of the thread's own and adds up elements in an order that only the run knows. Registers have names and no addresses,
/// so an array that is indexed by a value goes to local memory; no register is short.
///
/// - `x`: `16 * n` elements, read: thread `i` has the elements `i`, `n + i`, `2n + i`, …; `y`: `n` elements, written:
///   [`maths::jumps`] of them; `steps`: how many elements are added up.
/// - Launch: one-dimensional, at least `n` threads.
#[kernel]
pub unsafe fn runtime_index(x: *const f32, y: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut table = [0.0; TABLE];
        for (k, value) in table.iter_mut().enumerate() {
            // SAFETY: k < 16 and i < n.
            *value = unsafe { *x.add((k as u32 * n + i) as usize) };
        }
        // SAFETY: i < n.
        unsafe { *y.add(i as usize) = maths::jumps(&table, i, steps) };
    }
}
