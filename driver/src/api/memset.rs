//! Filling memory with an element of one, two or four bytes. Like copies on the device, fills do not wait, in either form.

use std::ffi::{c_uchar, c_uint, c_ushort};

use crate::abi::{DevicePtr, Handle};
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::guard::api;
use crate::stream::Target;
use crate::transfer::{Pattern, Shape};

/// `count` elements in a row.
fn row(stream: Handle, to: DevicePtr, value: u32, element_bytes: u64, count: usize) -> Done {
    rows(stream, to, 0, value, element_bytes, count, 1)
}

/// `height` rows of `width` elements.
fn rows(
    stream: Handle,
    to: DevicePtr,
    pitch: usize,
    value: u32,
    element_bytes: u64,
    width: usize,
    height: usize,
) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    let width = (width as u64).checked_mul(element_bytes).ok_or(Code::INVALID_VALUE)?;
    if height > 1 && (pitch as u64) < width {
        return Err(Code::INVALID_VALUE);
    }
    let shape = Shape { width, height: height as u64, depth: 1 };
    Pattern { value, bytes: element_bytes }.fill_on(driver, &target, to, pitch as u64, shape)
}

api! {
    fn cuMemsetD8_v2(to: DevicePtr, value: c_uchar, count: usize) {
        row(Handle::NULL, to, value.into(), 1, count)
    }

    fn cuMemsetD8Async(to: DevicePtr, value: c_uchar, count: usize, stream: Handle) {
        row(stream, to, value.into(), 1, count)
    }

    fn cuMemsetD2D8_v2(to: DevicePtr, pitch: usize, value: c_uchar, width: usize, height: usize) {
        rows(Handle::NULL, to, pitch, value.into(), 1, width, height)
    }

    fn cuMemsetD2D8Async(
        to: DevicePtr,
        pitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        rows(stream, to, pitch, value.into(), 1, width, height)
    }

    fn cuMemsetD16_v2(to: DevicePtr, value: c_ushort, count: usize) {
        row(Handle::NULL, to, value.into(), 2, count)
    }

    fn cuMemsetD16Async(to: DevicePtr, value: c_ushort, count: usize, stream: Handle) {
        row(stream, to, value.into(), 2, count)
    }

    fn cuMemsetD2D16_v2(to: DevicePtr, pitch: usize, value: c_ushort, width: usize, height: usize) {
        rows(Handle::NULL, to, pitch, value.into(), 2, width, height)
    }

    fn cuMemsetD2D16Async(
        to: DevicePtr,
        pitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        rows(stream, to, pitch, value.into(), 2, width, height)
    }

    fn cuMemsetD32_v2(to: DevicePtr, value: c_uint, count: usize) {
        row(Handle::NULL, to, value, 4, count)
    }

    fn cuMemsetD32Async(to: DevicePtr, value: c_uint, count: usize, stream: Handle) {
        row(stream, to, value, 4, count)
    }

    fn cuMemsetD2D32_v2(to: DevicePtr, pitch: usize, value: c_uint, width: usize, height: usize) {
        rows(Handle::NULL, to, pitch, value, 4, width, height)
    }

    fn cuMemsetD2D32Async(
        to: DevicePtr,
        pitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        rows(stream, to, pitch, value, 4, width, height)
    }
}
