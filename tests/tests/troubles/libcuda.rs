//! A CUDA driver that has one GPU and runs nothing: for tests of what a program says when a driver refuses.
//!
//! `STUB_VERSION` is the driver's CUDA version (13000 where unset); `STUB_ANSWERS=cuInit=100` makes a function answer with an error.

#![allow(non_snake_case, unused_unsafe)]
#![allow(clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref)]

/// What the environment has this function answer, or success.
fn answer(function: &str) -> u32 {
    let asked = std::env::var("STUB_ANSWERS").unwrap_or_default();
    let code = asked.strip_prefix(function).and_then(|rest| rest.strip_prefix('='));
    code.map_or(0, |code| code.parse().unwrap())
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $of_type:ty),*) $body:block)*) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $of_type),*) -> u32 {
            unsafe { $body }
            answer(stringify!($name))
        })*
    };
}

functions! {
    cuInit(_flags: u32) {}
    cuDriverGetVersion(version: *mut i32) {
        *version = std::env::var("STUB_VERSION").map_or(13_000, |version| version.parse().unwrap());
    }
    cuDeviceGetCount(count: *mut i32) { *count = 1 }
    cuDeviceGet(device: *mut i32, ordinal: i32) { *device = ordinal }
    cuDeviceGetName(name: *mut u8, _length: i32, _device: i32) {
        let text = b"NVIDIA H200\0";
        name.copy_from_nonoverlapping(text.as_ptr(), text.len())
    }
    cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) { *bytes = 1 << 30 }
    // Numbers of CUdevice_attribute, cuda.h: compute capability, SMs, L2, clock.
    cuDeviceGetAttribute(value: *mut i32, attribute: i32, _device: i32) {
        *value = match attribute {
            75 => 9,
            76 => 0,
            16 => 132,
            38 => 60 << 20,
            13 => 1_980_000,
            _ => 1,
        }
    }
    cuCtxCreate_v2(context: *mut usize, _flags: u32, _device: i32) { *context = 1 }
    cuCtxSetCurrent(_context: usize) {}
    cuCtxDestroy_v2(_context: usize) {}
    cuCtxSynchronize() {}
    cuModuleLoadData(module: *mut usize, _image: *const u8) { *module = 1 }
    cuModuleLoadDataEx(module: *mut usize, _image: *const u8, _count: u32, _options: usize, _values: usize) { *module = 1 }
    cuModuleUnload(_module: usize) {}
    cuMemAlloc_v2(address: *mut u64, _bytes: usize) { *address = 1 << 40 }
    cuMemFree_v2(_address: u64) {}
    cuMemsetD8Async(_address: u64, _byte: u8, _bytes: usize, _stream: usize) {}
}
