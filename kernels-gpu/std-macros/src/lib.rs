//! The attribute `#[kernel]`: one function in, an entry for the GPU and a typed descriptor for the host out.
//!
//! The device build compiles this crate as well, so it has no dependencies and reads the tokens by hand; a kernel's
//! grammar is small enough for that. [`signature`] reads it, [`expand`] writes it.

mod expand;
mod signature;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry that the host launches.
///
/// Compiled for `nvptx64`, the function becomes an entry of its own name. Compiled for anything else, its body is
/// type-checked, and a `static` of the same name, a `cuda_std::host::Kernel`, describes the entry to the host.
///
/// A kernel is `unsafe`, returns nothing, has no type parameters, and takes pointers and scalars:
///
/// ```ignore
/// #[kernel]
/// pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) { … }
/// ```
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    match signature::read(attribute, item) {
        Ok(kernel) => expand::expand(&kernel, is_wanted(&kernel.name.to_string())),
        Err(error) => error.into_compile_error(),
    }
}

/// Holds the names of a device build's entries, between commas, where not all are wanted: `watch` waits for its kernels only. Whoever sets it
/// tells cargo by another flag that the crate is to be compiled again.
const ONLY: &str = "WARPWISE_ONLY_KERNELS";

fn is_wanted(name: &str) -> bool {
    std::env::var(ONLY).map_or(true, |only| only.split(',').any(|wanted| wanted == name))
}
