//! Four neighbouring floats in one access of 16 bytes, the most that a thread moves at once.

/// Alignment makes one access of the four.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([f32; 4]);

/// Reads the elements `i` to `i + 3`.
///
/// # Safety
/// They are elements of the array, the array is aligned to 16 bytes, and `i` is a multiple of 4.
#[inline(always)]
pub unsafe fn load4(array: *const f32, i: u32) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe { (*array.add(i as usize).cast::<Four>()).0 }
}

/// Writes the elements `i` to `i + 3`.
///
/// # Safety
/// As for [`load4`].
#[inline(always)]
pub unsafe fn store4(array: *mut f32, i: u32, values: [f32; 4]) {
    // SAFETY: the caller's promise.
    unsafe { *array.add(i as usize).cast::<Four>() = Four(values) };
}
