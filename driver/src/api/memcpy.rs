//! Copies of one row, in all directions, now and in streams. Peers are contexts of the one device, so their copies are like others.

use std::ffi::c_void;

use crate::abi::{DevicePtr, Handle, Host, In};
use crate::code::Done;
use crate::driver::Driver;
use crate::guard::api;
use crate::stream::Target;
use crate::transfer::Copy;

/// How a side is named: as device memory, or as any memory of the process.
#[derive(Clone, Copy)]
enum Named {
    Device(u64),
    Any(u64),
}

use Named::{Any, Device};

fn copy(driver: &Driver, to: Named, from: Named, bytes: usize) -> Done<Copy> {
    let bytes = bytes as u64;
    let place = |side| match side {
        Device(address) => driver.regions.device(address, bytes),
        Any(address) => driver.regions.any(address, bytes),
    };
    Ok(Copy::row(place(to)?, place(from)?, bytes))
}

fn now(to: Named, from: Named, bytes: usize) -> Done {
    let driver = Driver::get()?;
    crate::context::current()?;
    copy(driver, to, from, bytes)?.now(driver)
}

fn on(stream: Handle, to: Named, from: Named, bytes: usize) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    copy(driver, to, from, bytes)?.on(driver, &target)
}

/// Both contexts of a copy between peers.
fn peers(to: Handle, from: Handle) -> Done {
    let driver = Driver::get()?;
    driver.context(to)?;
    driver.context(from).map(|_| ())
}

api! {
    fn cuMemcpy(to: DevicePtr, from: DevicePtr, bytes: usize) {
        now(Any(to), Any(from), bytes)
    }

    fn cuMemcpyAsync(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Handle) {
        on(stream, Any(to), Any(from), bytes)
    }

    fn cuMemcpyHtoD_v2(to: DevicePtr, from: Host, bytes: usize) {
        now(Device(to), Any(from.address()), bytes)
    }

    fn cuMemcpyHtoDAsync_v2(to: DevicePtr, from: Host, bytes: usize, stream: Handle) {
        on(stream, Device(to), Any(from.address()), bytes)
    }

    fn cuMemcpyDtoH_v2(to: Host, from: DevicePtr, bytes: usize) {
        now(Any(to.address()), Device(from), bytes)
    }

    fn cuMemcpyDtoHAsync_v2(to: Host, from: DevicePtr, bytes: usize, stream: Handle) {
        on(stream, Any(to.address()), Device(from), bytes)
    }

    fn cuMemcpyDtoD_v2(to: DevicePtr, from: DevicePtr, bytes: usize) {
        now(Device(to), Device(from), bytes)
    }

    fn cuMemcpyDtoDAsync_v2(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Handle) {
        on(stream, Device(to), Device(from), bytes)
    }

    fn cuMemcpyPeer(to: DevicePtr, to_context: Handle, from: DevicePtr, from_context: Handle, bytes: usize) {
        peers(to_context, from_context)?;
        now(Device(to), Device(from), bytes)
    }

    fn cuMemcpyPeerAsync(
        to: DevicePtr,
        to_context: Handle,
        from: DevicePtr,
        from_context: Handle,
        bytes: usize,
        stream: Handle,
    ) {
        peers(to_context, from_context)?;
        on(stream, Device(to), Device(from), bytes)
    }

    /// Attributes say where host memory lies, which does not matter here.
    fn cuMemcpyBatchAsync_v2(
        to: In<DevicePtr>,
        from: In<DevicePtr>,
        bytes: In<usize>,
        count: usize,
        _attributes: In<c_void>,
        _attribute_indices: In<usize>,
        _attribute_count: usize,
        stream: Handle,
    ) {
        (0..count).try_for_each(|index| {
            let (to, from) = (to.element(index).get()?, from.element(index).get()?);
            on(stream, Any(to), Any(from), bytes.element(index).get()?)
        })
    }
}
