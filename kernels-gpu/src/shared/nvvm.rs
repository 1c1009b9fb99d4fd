//! Shared memory for rust-cuda: plain accesses through a pointer, which libNVVM turns into those that say `shared`.

use super::SharedValue;
use core::sync::atomic::Ordering;
use cuda_std::atomic::mid;

/// Four neighbours, loaded and stored by one instruction of 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([f32; 4]);

#[inline(always)]
pub fn at(address: *mut u8, bytes: u32) -> *mut u8 {
    address.wrapping_add(bytes as usize)
}

macro_rules! shared_values {
    ($($type:ident)*) => {$(
        impl SharedValue for $type {
            #[inline(always)]
            unsafe fn load(address: *mut u8) -> Self {
                // SAFETY: the caller's promise.
                unsafe { *address.cast::<Self>() }
            }

            #[inline(always)]
            unsafe fn store(address: *mut u8, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { *address.cast::<Self>() = value };
            }
        }
    )*};
}

shared_values!(f32 f64 u32 i32 u64);

/// # Safety
/// `address` is that of a value in shared memory, which threads touch atomically or with a barrier in between.
#[inline(always)]
pub unsafe fn add(address: *mut u8, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { mid::atomic_fetch_add_u32_block(address.cast(), Ordering::Relaxed, value) };
}

/// # Safety
/// `address` is that of an initialised value in shared memory.
#[inline(always)]
pub unsafe fn load_volatile(address: *mut u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { address.cast::<u32>().read_volatile() }
}

/// # Safety
/// `address` is that of a value in shared memory.
#[inline(always)]
pub unsafe fn store_volatile(address: *mut u8, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { address.cast::<u32>().write_volatile(value) };
}

/// # Safety
/// `address` is that of four initialised values in shared memory, aligned to 16 bytes.
#[inline(always)]
pub unsafe fn load4(address: *mut u8) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe { *address.cast::<Four>() }.0
}

/// # Safety
/// `address` is that of four values in shared memory, aligned to 16 bytes.
#[inline(always)]
pub unsafe fn store4(address: *mut u8, values: [f32; 4]) {
    // SAFETY: the caller's promise.
    unsafe { *address.cast::<Four>() = Four(values) };
}
