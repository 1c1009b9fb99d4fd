//! Host memory that kernels reach: page-locked memory of the driver's, and the program's own, registered. One address for both sides.

use std::ffi::c_uint;

use crate::abi::{DevicePtr, Host, Out};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::notice;
use crate::regions::Kind;

/// `CU_MEMHOSTALLOC_*`: portable, device map, write-combined.
const ALLOC_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_*`: portable, device map, I/O memory, read-only.
const REGISTER_FLAGS: u32 = 15;
const REGISTER_IO_MEMORY: u32 = 4;

/// Kernels see the process's own addresses only where the machine's memory lies at them.
pub fn require_shared_addresses(driver: &Driver) -> Done {
    if driver.engine.machine().memory().is_identity_mapped() {
        return Ok(());
    }
    notice::say_once(
        "the machine's addresses were taken in this process, so host memory cannot be shared with kernels",
    );
    Err(Code::NOT_SUPPORTED)
}

fn allocate(pointer: Out<Host>, bytes: usize, flags: u32) -> Done {
    let driver = Driver::get()?;
    let context = context::current()?;
    pointer.required()?;
    if bytes == 0 || flags & !ALLOC_FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    require_shared_addresses(driver)?;
    pointer.put(Host::at(driver.allocate(&context, bytes as u64, Kind::Pinned, flags)?))
}

fn register(pointer: Host, bytes: usize, flags: u32) -> Done {
    let driver = Driver::get()?;
    let context = context::current()?;
    let address = pointer.address();
    let end = address.checked_add(bytes as u64);
    if address == 0 || bytes == 0 || end.is_none() || flags & !REGISTER_FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    if flags & REGISTER_IO_MEMORY != 0 {
        return Err(Code::NOT_SUPPORTED);
    }
    if driver.regions.overlaps(address, bytes as u64) {
        return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
    }
    require_shared_addresses(driver)?;
    // SAFETY: the caller of the driver vouches for the memory until it unregisters it.
    let adopted = unsafe { driver.engine.machine().adopt(address, bytes as u64) };
    adopted.map_err(|error| {
        notice::say_once(&error.to_string());
        Code::INVALID_VALUE
    })?;
    driver.regions.insert(address, bytes as u64, Kind::Registered, context.handle, flags);
    Ok(())
}

api! {
    fn cuMemAllocHost_v2(pointer: Out<Host>, bytes: usize) {
        allocate(pointer, bytes, 0)
    }

    fn cuMemHostAlloc(pointer: Out<Host>, bytes: usize, flags: c_uint) {
        allocate(pointer, bytes, flags)
    }

    fn cuMemFreeHost(pointer: Host) {
        super::memory::free(pointer.address(), |kind| kind == Kind::Pinned)
    }

    fn cuMemHostRegister_v2(pointer: Host, bytes: usize, flags: c_uint) {
        register(pointer, bytes, flags)
    }

    fn cuMemHostUnregister(pointer: Host) {
        let driver = Driver::get()?;
        let context = context::current()?;
        context.synchronize(&driver.engine)?;
        let region = driver.regions.remove(pointer.address(), |kind| kind == Kind::Registered);
        let region = region.map_err(|_| Code::HOST_MEMORY_NOT_REGISTERED)?;
        driver.engine.machine().disown(region.start).map_err(|_| Code::HOST_MEMORY_NOT_REGISTERED)
    }

    fn cuMemHostGetDevicePointer_v2(address: Out<DevicePtr>, pointer: Host, flags: c_uint) {
        let driver = Driver::get()?;
        context::current()?;
        let region = driver.regions.find(pointer.address()).filter(|region| region.kind.is_host_visible());
        if flags != 0 || region.is_none() {
            return Err(Code::INVALID_VALUE);
        }
        address.put(pointer.address())
    }

    fn cuMemHostGetFlags(flags: Out<c_uint>, pointer: Host) {
        let driver = Driver::get()?;
        context::current()?;
        let region = driver.regions.find(pointer.address()).filter(|region| region.kind == Kind::Pinned);
        flags.put(region.ok_or(Code::INVALID_VALUE)?.flags)
    }
}
