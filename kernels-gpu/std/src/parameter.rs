//! What a kernel may take: pointers and scalars, the types whose layout rustc, rust-cuda and CUDA agree on.

use core::fmt;
use core::marker::PhantomData;

/// A type that a kernel's parameter may have.
#[diagnostic::on_unimplemented(
    message = "a kernel takes pointers and scalars, and `{Self}` is neither",
    label = "no parameter of a kernel",
    note = "pass a pointer and a length, and make the slice inside the kernel"
)]
pub trait Parameter: Copy {
    /// What the host passes for it: a scalar as it is, a [`DevicePtr`] for a pointer.
    type Host: Copy;
}

impl<T> Parameter for *const T {
    type Host = DevicePtr<T>;
}

impl<T> Parameter for *mut T {
    type Host = DevicePtr<T>;
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        impl Parameter for $scalar {
            type Host = Self;
        }
    )*};
}

scalars!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

/// An address in device memory, of values of type `T`. A number on the host, which cannot read through it.
pub struct DevicePtr<T> {
    address: u64,
    values: PhantomData<fn() -> T>,
}

impl<T> DevicePtr<T> {
    /// The null pointer.
    pub const NULL: Self = Self::from_address(0);

    /// The pointer with this address, in bytes.
    pub const fn from_address(address: u64) -> Self {
        Self { address, values: PhantomData }
    }

    /// The address, in bytes.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// The pointer `count` values further on; the address wraps at 2^64.
    #[must_use]
    pub const fn add(self, count: u64) -> Self {
        Self::from_address(self.address.wrapping_add(count.wrapping_mul(size_of::<T>() as u64)))
    }

    /// The same address, of values of another type.
    pub const fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::from_address(self.address)
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> PartialEq for DevicePtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}", self.address)
    }
}
