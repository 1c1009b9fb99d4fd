//! `cuda_std` for rustc's own NVPTX back end: the part of rust-cuda's crate of that name which the laboratories use.
//!
//! Names and signatures are rust-cuda's, so that a kernel's source compiles unchanged against either crate; what is
//! behind them differs. rust-cuda calls functions that libNVVM defines; this crate calls LLVM's NVPTX intrinsics.
//! Whatever must stay convergent (barriers, shuffles, votes) is an intrinsic and never `asm!`: LLVM knows that the
//! intrinsics are convergent and does not duplicate them, and knows no such thing of `asm!`.
//!
//! On every other target the crate compiles too, so that rust-analyzer and `cargo build` work on kernels. There,
//! `#[kernel]` leaves a typed descriptor instead of an entry ([`host::Kernel`]), the maths of [`GpuFloat`] is the
//! host's, and a function that only a GPU can execute panics with its name if it is called all the same.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// Adds two arrays of `n` elements, a thread an element.
//! #[kernel]
//! pub unsafe fn vecadd(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
//!     let i = thread::index_1d();
//!     if i < n {
//!         let i = i as usize;
//!         unsafe { *c.add(i) = *a.add(i) + *b.add(i) };
//!     }
//! }
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_unadjusted, asm_experimental_arch, core_intrinsics, link_llvm_intrinsics, stdarch_nvptx)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

/// A body for the GPU; elsewhere, a panic that names the function.
macro_rules! gpu {
    ($name:literal, $body:expr) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            $body
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            crate::host::only_on_a_gpu($name)
        }
    }};
}

pub mod atomic;
mod float;
pub mod glam;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
#[cfg(target_arch = "nvptx64")]
mod intrinsics;
mod parameter;
pub mod thread;
pub mod warp;

pub use cuda_std_macros::kernel;
pub use float::GpuFloat;
pub use parameter::Parameter;

/// What a kernel's source begins with: `use cuda_std::prelude::*;`.
pub mod prelude {
    pub use crate::{kernel, thread};
}

/// A panic in a kernel is a trap: the launch fails with an error at the next synchronise.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: `trap` has no preconditions.
    unsafe { core::arch::nvptx::trap() }
}
