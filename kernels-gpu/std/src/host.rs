//! The host's side of a kernel: its typed descriptor, and its arguments as bytes.
//!
//! `#[kernel] pub unsafe fn vecadd(a: *const f32, …, n: u32)` is, on the host, the static
//! `vecadd: Kernel<(DevicePtr<f32>, …, u32)>`. A backend's `launch(&kernels::vecadd, grid, block, (a, …, n))` takes a
//! [`Kernel<A>`] and an `A`, so a wrong argument is an error of the compiler; [`KernelArgs::pack`] then lays the
//! arguments out as every backend passes them.

pub use crate::parameter::DevicePtr;
use core::marker::PhantomData;
use core::ops::Deref;

/// What is known of a kernel without its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The entry's name in the PTX.
    pub name: &'static str,
    /// The parameters' names, in order.
    pub params: &'static [&'static str],
    /// The parameters' types as the kernel's source spells them: `*const f32`, `u32`.
    pub types: &'static [&'static str],
    /// The kernel's doc comment; its first line says what it does.
    pub doc: &'static str,
    /// The source file, as the compiler was given it.
    pub file: &'static str,
    /// The line of the kernel's name in `file`, counted from 1.
    pub line: u32,
}

/// A kernel whose arguments are an `A`, the tuple of what the host passes.
pub struct Kernel<A> {
    descriptor: Descriptor,
    arguments: PhantomData<fn(A)>,
}

impl<A> Kernel<A> {
    /// Called by `#[kernel]` alone, which makes `A` and the lists from the same signature.
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        params: &'static [&'static str],
        types: &'static [&'static str],
        doc: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self { descriptor: Descriptor { name, params, types, doc, file, line }, arguments: PhantomData }
    }

    /// The kernel without its types, for tables of kernels.
    pub const fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }
}

impl<A> Deref for Kernel<A> {
    type Target = Descriptor;

    fn deref(&self) -> &Descriptor {
        &self.descriptor
    }
}

/// The arguments of one launch.
pub trait KernelArgs {
    /// The arguments in CUDA's parameter layout: each in little-endian order, at the next multiple of its own size.
    fn pack(&self) -> Vec<u8>;
}

/// One argument.
pub trait Argument: Copy {
    /// Appends the argument to `bytes`, aligned to its size.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! scalar_arguments {
    ($($scalar:ty)*) => {$(
        impl Argument for $scalar {
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.resize(bytes.len().next_multiple_of(size_of::<$scalar>()), 0);
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}

scalar_arguments!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Argument for usize {
    fn append(self, bytes: &mut Vec<u8>) {
        (self as u64).append(bytes);
    }
}

impl Argument for isize {
    fn append(self, bytes: &mut Vec<u8>) {
        (self as i64).append(bytes);
    }
}

impl<T> Argument for DevicePtr<T> {
    fn append(self, bytes: &mut Vec<u8>) {
        self.address().append(bytes);
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> KernelArgs for ($($name,)*) {
            #[allow(non_snake_case, unused_mut)]
            fn pack(&self) -> Vec<u8> {
                let ($($name,)*) = *self;
                let mut bytes = Vec::new();
                $($name.append(&mut bytes);)*
                bytes
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
tuples!(A B C D E F G H I J K L M);
tuples!(A B C D E F G H I J K L M N);
tuples!(A B C D E F G H I J K L M N O);
tuples!(A B C D E F G H I J K L M N O P);

/// What a GPU-only function does on the host.
pub(crate) fn only_on_a_gpu(name: &str) -> ! {
    panic!("{name} can only be executed on a GPU: launch the kernel that calls it")
}

#[cfg(test)]
mod tests {
    use super::{DevicePtr, KernelArgs};

    #[test]
    fn a_pointer_after_a_32_bit_scalar_is_aligned_to_8_bytes() {
        let packed = (7_u32, DevicePtr::<f32>::from_address(0x1_0000_0002), 1.5_f32).pack();
        let expected: [u8; 20] = [7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xc0, 0x3f];
        assert_eq!(packed, expected);
    }

    #[test]
    fn bytes_and_halves_are_aligned_to_their_own_size() {
        assert_eq!(
            (1_u8, 2_u16, 3_i8, -1_i64).pack(),
            [1, 0, 2, 0, 3, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }

    #[test]
    fn no_arguments_are_no_bytes() {
        assert_eq!(().pack(), []);
    }

    #[test]
    fn pointers_advance_by_values_and_wrap() {
        let pointer = DevicePtr::<f64>::from_address(u64::MAX - 7);
        assert_eq!(pointer.add(1), DevicePtr::NULL);
        assert_eq!(pointer.cast::<u8>().add(3).address(), u64::MAX - 4);
    }
}
