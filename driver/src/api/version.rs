//! Starting the driver, its version, and the mark by which it is told from NVIDIA's.

use std::ffi::{CStr, c_char, c_int, c_uint};

use crate::abi::Out;
use crate::code::Code;
use crate::driver::{CUDA_VERSION, Driver};
use crate::guard::api;

/// Warpwise's version. NVIDIA's driver has no such function: whoever finds it knows that times are modelled.
#[unsafe(no_mangle)]
pub extern "C" fn warpwise_driver_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

api! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        Driver::init().map(|_| ())
    }

    fn cuDriverGetVersion(version: Out<c_int>) {
        version.put(CUDA_VERSION)
    }
}
