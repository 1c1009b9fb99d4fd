//! Wrong kernels. See kernel_errors.rs.

use cuda_std::prelude::*;

#[kernel(256)] //~ #[kernel] takes no arguments; launch bounds are in the table of bounds
pub unsafe fn with_arguments() {}

#[kernel]
pub fn safe(x: *mut f32) {} //~ a kernel must be `unsafe fn`: nothing checks the pointers that a launch passes to it

#[kernel]
pub const unsafe fn constant() {} //~ a kernel cannot be `const`: write `unsafe fn`

#[kernel]
pub async unsafe fn waiting() {} //~ a kernel cannot be `async`: write `unsafe fn`

#[kernel]
pub unsafe extern "C" fn with_abi() {} //~ #[kernel] chooses the ABI: write `unsafe fn` without `extern`

#[kernel]
pub struct NoFunction; //~ #[kernel] stands on a function: `pub unsafe fn name(…) { … }`

#[kernel]
pub unsafe fn generic<T>(x: *mut T) {} //~ the kernel `generic` has type parameters

#[kernel]
pub unsafe fn returns(x: *mut f32) -> f32 { //~ the kernel `returns` returns a value
    unsafe { *x }
}

#[kernel]
pub unsafe fn filtered(x: *mut f32) where f32: Copy {} //~ the kernel `filtered` has a `where` clause

#[kernel]
pub unsafe fn method(&self, x: *mut f32) {} //~ a kernel is no method

#[kernel]
pub unsafe fn pattern((a, b): (u32, u32)) {} //~ expected a parameter's name, a plain name

#[kernel]
pub unsafe fn attributed(#[allow(unused)] x: u32) {} //~ a kernel's parameter takes no attributes

#[kernel]
pub unsafe fn slice(x: &[f32], n: u32) {} //~ a kernel takes no reference: pass a pointer and a length
