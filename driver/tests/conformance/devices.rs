//! Versions, devices, errors.

use std::ffi::{CStr, c_char};

use crate::library::{Cuda, at, code};

fn name() -> String {
    let mut name = [0u8; 100];
    Cuda::get().ok("cuDeviceGetName", &[at(&mut name), 100, 0]);
    CStr::from_bytes_until_nul(&name).unwrap().to_str().unwrap().to_owned()
}

fn attribute(number: u64) -> i32 {
    let mut value = 0i32;
    Cuda::get().ok("cuDeviceGetAttribute", &[at(&mut value), number, 0]);
    value
}

#[test]
fn the_first_device_has_a_name_a_size_and_attributes_and_there_is_no_device_99() {
    let cuda = Cuda::get();
    assert_eq!(cuda.is_modelled(), name().ends_with("(modelled)"), "{}", name());
    assert!(cuda.make("cuDeviceTotalMem_v2", &[0]) >= 1 << 30);
    assert!(attribute(75) >= 7, "compute capability");
    assert_eq!((attribute(10), attribute(1)), (32, 1024), "warp size and threads a block");
    assert_eq!(attribute(41), 1, "unified addressing");
    let mut device = 0i32;
    assert_eq!(cuda.call("cuDeviceGet", &[at(&mut device), 99]), 101);
    assert_eq!(cuda.call("cuDeviceGetAttribute", &[at(&mut device), 0, 0]), code::INVALID_VALUE);
    assert_eq!(cuda.call("cuDeviceGetAttribute", &[0, 10, 0]), code::INVALID_VALUE);
}

#[test]
fn errors_have_names_and_texts_and_a_number_that_is_none_has_none() {
    let cuda = Cuda::get();
    let text = |function: &str, error: u64| {
        let mut text: *const c_char = std::ptr::null();
        let result = cuda.call(function, &[error, at(&mut text)]);
        // SAFETY: the driver's texts end in zero.
        (result, (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap()))
    };
    assert_eq!(text("cuGetErrorName", 0), (code::OK, Some("CUDA_SUCCESS")));
    assert_eq!(text("cuGetErrorName", 700), (code::OK, Some("CUDA_ERROR_ILLEGAL_ADDRESS")));
    assert_eq!(text("cuGetErrorString", 700), (code::OK, Some("an illegal memory access was encountered")));
    assert_eq!(text("cuGetErrorString", 1), (code::OK, Some("invalid argument")));
    assert_eq!(text("cuGetErrorName", 12_345), (code::INVALID_VALUE, None));
}

#[test]
fn the_version_is_that_of_a_driver_that_knows_cuda_12() {
    let mut version = 0i32;
    Cuda::get().ok("cuDriverGetVersion", &[at(&mut version)]);
    assert!(version >= 12_000, "{version}");
}
