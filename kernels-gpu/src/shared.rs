//! Arrays in shared memory: the block's own memory, inside its SM.
//!
//! This is the one place where rustc's back end and rust-cuda's differ. rustc has no address spaces for statics, and a
//! shared address made generic stays a generic access, which ptxas does not turn back into LDS and STS. So an array is
//! declared in PTX, and read and written by instructions that say `shared`. `asm!` is right for them: an access
//! synchronises no lanes, and being volatile it stays on its side of a barrier.
//!
//! rust-cuda (the feature `nvvm`) has `#[address_space(shared)]` for statics, and its compiler finds out by itself which pointers lead
//! there; so for it the same accesses are plain ones, through a pointer.
//!
//! ```text
//! shared_array!(TILE: [f32; 256]);
//!
//! unsafe { TILE.set(thread::thread_idx_x(), value) };
//! thread::sync_threads();
//! let neighbour = unsafe { TILE.get(thread::thread_idx_x() ^ 1) };
//! ```

use core::marker::PhantomData;

/// An array of `LEN` values in shared memory, one for each block, aligned to 16 bytes. What it holds at the start of a
/// block is undefined.
pub struct SharedArray<T, const LEN: usize> {
    /// Reads the array's address.
    address: fn() -> Address,
    values: PhantomData<fn() -> T>,
}

/// Where something is in shared memory: bytes from the start of the shared window, or a pointer.
#[cfg(not(feature = "nvvm"))]
pub type Address = u32;
#[cfg(feature = "nvvm")]
pub type Address = *mut u8;

impl<T: SharedValue, const LEN: usize> SharedArray<T, LEN> {
    /// Called by `shared_array!` alone.
    #[doc(hidden)]
    pub const fn new(address: fn() -> Address) -> Self {
        Self { address, values: PhantomData }
    }

    /// Values in the array.
    pub const fn len(&self) -> usize {
        LEN
    }

    /// Whether the array has no values.
    pub const fn is_empty(&self) -> bool {
        LEN == 0
    }

    #[inline(always)]
    fn address_of(&self, index: u32) -> Address {
        back_end::at((self.address)(), index * size_of::<T>() as u32)
    }

    /// Reads value `index`: an LDS.
    ///
    /// # Safety
    /// 1. `index < LEN`.
    /// 2. A thread of the block has written the value, and if it was another thread, a barrier stands in between.
    #[inline(always)]
    pub unsafe fn get(&self, index: u32) -> T {
        // SAFETY: the address is that of a value of the array, and 32-bit addresses are those of the shared window.
        unsafe { T::load(self.address_of(index)) }
    }

    /// Writes value `index`: an STS.
    ///
    /// # Safety
    /// 1. `index < LEN`.
    /// 2. No other thread of the block reads or writes the value without a barrier in between.
    #[inline(always)]
    pub unsafe fn set(&self, index: u32, value: T) {
        // SAFETY: as in `get`.
        unsafe { T::store(self.address_of(index), value) }
    }
}

impl<const LEN: usize> SharedArray<f32, LEN> {
    /// Reads the four values from `index` on, in one instruction: an LDS.128.
    ///
    /// # Safety
    /// `index` is a multiple of 4 and `index + 3 < LEN`; the rest as for [`Self::get`].
    #[inline(always)]
    pub unsafe fn get4(&self, index: u32) -> [f32; 4] {
        // SAFETY: four values of the array, aligned to 16 bytes.
        unsafe { back_end::load4(self.address_of(index)) }
    }

    /// Writes the four values from `index` on, in one instruction: an STS.128.
    ///
    /// # Safety
    /// `index` is a multiple of 4 and `index + 3 < LEN`; the rest as for [`Self::set`].
    #[inline(always)]
    pub unsafe fn set4(&self, index: u32, values: [f32; 4]) {
        // SAFETY: as in `get4`.
        unsafe { back_end::store4(self.address_of(index), values) }
    }
}

impl<const LEN: usize> SharedArray<u32, LEN> {
    /// Reads value `index` as C++ reads a `volatile` one. It is no barrier: whether another lane has written before, it does not say.
    ///
    /// # Safety
    /// `index < LEN`, and the value was written.
    #[inline(always)]
    pub unsafe fn get_volatile(&self, index: u32) -> u32 {
        // SAFETY: the address is that of a value of the array.
        unsafe { back_end::load_volatile(self.address_of(index)) }
    }

    /// Writes value `index` as C++ writes a `volatile` one.
    ///
    /// # Safety
    /// `index < LEN`.
    #[inline(always)]
    pub unsafe fn set_volatile(&self, index: u32, value: u32) {
        // SAFETY: as in `get_volatile`.
        unsafe { back_end::store_volatile(self.address_of(index), value) }
    }

    /// Adds to value `index`, atomically among the threads of the block; wraps.
    ///
    /// # Safety
    /// `index < LEN`, and threads that touch the value do so atomically or with a barrier in between.
    #[inline(always)]
    pub unsafe fn add(&self, index: u32, value: u32) {
        // SAFETY: the address is that of a value of the array.
        unsafe { back_end::add(self.address_of(index), value) }
    }
}

/// A value that a shared array may hold.
pub trait SharedValue: Copy {
    /// # Safety
    /// `address` is that of an initialised value of this type in the shared window, aligned to its size.
    unsafe fn load(address: Address) -> Self;
    /// # Safety
    /// `address` is that of a value of this type in the shared window, aligned to its size.
    unsafe fn store(address: Address, value: Self);
}

/// The accesses, for rust-cuda.
#[cfg(feature = "nvvm")]
mod nvvm;
#[cfg(feature = "nvvm")]
use nvvm as back_end;

/// The instructions, for rustc's back end.
#[cfg(all(target_arch = "nvptx64", not(feature = "nvvm")))]
mod back_end {
    use super::SharedValue;
    use core::arch::asm;

    #[inline(always)]
    pub fn at(address: u32, bytes: u32) -> u32 {
        address + bytes
    }

    macro_rules! shared_values {
        ($($type:ident: $ptx:literal, $class:ident;)*) => {$(
            impl SharedValue for $type {
                #[inline(always)]
                unsafe fn load(address: u32) -> Self {
                    let value;
                    // SAFETY: the caller's promise is the instruction's.
                    unsafe {
                        asm!(concat!("ld.shared.", $ptx, " {}, [{}];"), out($class) value, in(reg32) address,
                            options(nostack, preserves_flags))
                    };
                    value
                }

                #[inline(always)]
                unsafe fn store(address: u32, value: Self) {
                    // SAFETY: the caller's promise is the instruction's.
                    unsafe {
                        asm!(concat!("st.shared.", $ptx, " [{}], {};"), in(reg32) address, in($class) value,
                            options(nostack, preserves_flags))
                    };
                }
            }
        )*};
    }

    shared_values! {
        f32: "f32", reg32;
        f64: "f64", reg64;
        u32: "u32", reg32;
        i32: "s32", reg32;
        u64: "u64", reg64;
    }

    /// # Safety
    /// `address` is that of a value in the shared window, aligned to 4 bytes.
    #[inline(always)]
    pub unsafe fn add(address: u32, value: u32) {
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            asm!("red.shared.add.u32 [{}], {};", in(reg32) address, in(reg32) value, options(nostack, preserves_flags))
        };
    }

    /// # Safety
    /// `address` is that of an initialised value in the shared window, aligned to 4 bytes.
    #[inline(always)]
    pub unsafe fn load_volatile(address: u32) -> u32 {
        let value;
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            asm!("ld.volatile.shared.u32 {}, [{}];", out(reg32) value, in(reg32) address,
                options(nostack, preserves_flags))
        };
        value
    }

    /// # Safety
    /// `address` is that of a value in the shared window, aligned to 4 bytes.
    #[inline(always)]
    pub unsafe fn store_volatile(address: u32, value: u32) {
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            asm!("st.volatile.shared.u32 [{}], {};", in(reg32) address, in(reg32) value,
                options(nostack, preserves_flags))
        };
    }

    /// # Safety
    /// `address` is that of four initialised values in the shared window, aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn load4(address: u32) -> [f32; 4] {
        let (x, y, z, w);
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            asm!("ld.shared.v4.f32 {{{}, {}, {}, {}}}, [{}];", out(reg32) x, out(reg32) y, out(reg32) z, out(reg32) w,
                in(reg32) address, options(nostack, preserves_flags))
        };
        [x, y, z, w]
    }

    /// # Safety
    /// `address` is that of four values in the shared window, aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn store4(address: u32, [x, y, z, w]: [f32; 4]) {
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            asm!("st.shared.v4.f32 [{}], {{{}, {}, {}, {}}};", in(reg32) address, in(reg32) x, in(reg32) y, in(reg32) z,
                in(reg32) w, options(nostack, preserves_flags))
        };
    }
}

/// The host has no shared memory; the types are enough for it.
#[cfg(not(any(target_arch = "nvptx64", feature = "nvvm")))]
mod back_end {
    use super::SharedValue;

    pub fn at(address: u32, bytes: u32) -> u32 {
        address + bytes
    }

    const ONLY_ON_A_GPU: &str = "shared memory is a GPU's: launch the kernel that uses the array";

    macro_rules! shared_values {
        ($($type:ident)*) => {$(
            impl SharedValue for $type {
                unsafe fn load(_: u32) -> Self {
                    panic!("{ONLY_ON_A_GPU}")
                }

                unsafe fn store(_: u32, _: Self) {
                    panic!("{ONLY_ON_A_GPU}")
                }
            }
        )*};
    }

    shared_values!(f32 f64 u32 i32 u64);

    pub unsafe fn add(_: u32, _: u32) {
        panic!("{ONLY_ON_A_GPU}")
    }

    pub unsafe fn load_volatile(_: u32) -> u32 {
        panic!("{ONLY_ON_A_GPU}")
    }

    pub unsafe fn store_volatile(_: u32, _: u32) {
        panic!("{ONLY_ON_A_GPU}")
    }

    pub unsafe fn load4(_: u32) -> [f32; 4] {
        panic!("{ONLY_ON_A_GPU}")
    }

    pub unsafe fn store4(_: u32, _: [f32; 4]) {
        panic!("{ONLY_ON_A_GPU}")
    }
}

/// What arrays are made of for rust-cuda: 16 bytes that nobody wrote, aligned so that four values are one access.
#[cfg(feature = "nvvm")]
#[repr(C, align(16))]
pub struct Sixteen(core::mem::MaybeUninit<[u32; 4]>);

#[cfg(feature = "nvvm")]
impl Sixteen {
    pub const fn uninit() -> Self {
        Self(core::mem::MaybeUninit::uninit())
    }
}

/// Declares a [`SharedArray`]: `shared_array!(TILE: [f32; 256]);`. The name is the array's in the PTX too, so no two
/// arrays of the crate may share it.
macro_rules! shared_array {
    ($(#[$doc:meta])* $name:ident: [$type:ident; $len:expr]) => {
        #[cfg(all(target_arch = "nvptx64", not(feature = "nvvm")))]
        core::arch::global_asm!(
            concat!(".shared .align 16 .b8 ", stringify!($name), "[{bytes}];"),
            bytes = const $len * size_of::<$type>()
        );

        // A constant for rust-cuda: from a static its compiler would fetch the function's address when the kernel runs, and call it.
        $(#[$doc])*
        #[cfg(feature = "nvvm")]
        const $name: $crate::shared::SharedArray<$type, { $len }> = $crate::shared::shared_array!(@new $name [$type; $len]);
        $(#[$doc])*
        #[cfg(not(feature = "nvvm"))]
        static $name: $crate::shared::SharedArray<$type, { $len }> = $crate::shared::shared_array!(@new $name [$type; $len]);
    };
    (@new $name:ident [$type:ident; $len:expr]) => {{
        #[inline(always)]
        fn address() -> $crate::shared::Address {
            #[cfg(feature = "nvvm")]
            {
                use $crate::shared::Sixteen;

                const SIXTEENS: usize = ($len * size_of::<$type>()).div_ceil(16);
                #[cuda_std::address_space(shared)]
                static mut ARRAY: [Sixteen; SIXTEENS] = [const { Sixteen::uninit() }; SIXTEENS];
                (&raw mut ARRAY).cast()
            }
            #[cfg(all(target_arch = "nvptx64", not(feature = "nvvm")))]
            {
                let address;
                // SAFETY: reads the address of the array declared above.
                unsafe {
                    core::arch::asm!(
                        concat!("mov.u32 {}, ", stringify!($name), ";"),
                        out(reg32) address,
                        options(pure, nomem, nostack, preserves_flags)
                    )
                };
                address
            }
            #[cfg(not(any(target_arch = "nvptx64", feature = "nvvm")))]
            panic!("shared memory is a GPU's: launch the kernel that uses {}", stringify!($name))
        }
        $crate::shared::SharedArray::new(address)
    }};
}

pub(crate) use shared_array;
