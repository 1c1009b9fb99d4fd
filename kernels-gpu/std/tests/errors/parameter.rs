//! Kernels with parameters that no kernel may have. See kernel_errors.rs.

use cuda_std::prelude::*;

#[kernel]
pub unsafe fn array(x: [f32; 4]) {} //~ a kernel takes pointers and scalars, and `[f32; 4]` is neither

#[kernel]
pub unsafe fn truth(yes: bool) {} //~ a kernel takes pointers and scalars, and `bool` is neither

#[kernel]
pub unsafe fn wide(x: u128) {} //~ a kernel takes pointers and scalars, and `u128` is neither
