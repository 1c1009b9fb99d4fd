//! Device memory: allocate, free, ask.

use std::ffi::c_uint;

use crate::abi::{DevicePtr, Out};
use crate::attributes::TEXTURE_ALIGNMENT_BYTES;
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::regions::Kind;

/// Frees memory that starts at `address`, after the work of the context that may still use it.
pub fn free(address: DevicePtr, fits: impl Fn(Kind) -> bool) -> Done {
    let driver = Driver::get()?;
    let context = context::current()?;
    context.synchronize(&driver.engine)?;
    let region = driver.regions.remove(address, fits)?;
    if let Kind::Pool(pool) = region.kind
        && let Ok(pool) = driver.pools.get(pool)
    {
        pool.gave_back(region.bytes);
    }
    driver.engine.machine().free(region.start).map_err(|_| Code::INVALID_VALUE)
}

api! {
    fn cuMemAlloc_v2(address: Out<DevicePtr>, bytes: usize) {
        let driver = Driver::get()?;
        let context = context::current()?;
        address.required()?;
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        address.put(driver.allocate(&context, bytes as u64, Kind::Device, 0)?)
    }

    fn cuMemAllocPitch_v2(address: Out<DevicePtr>, pitch: Out<usize>, width: usize, height: usize, element: c_uint) {
        let driver = Driver::get()?;
        let context = context::current()?;
        address.required()?;
        pitch.required()?;
        if width == 0 || height == 0 || ![4, 8, 16].contains(&element) {
            return Err(Code::INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(TEXTURE_ALIGNMENT_BYTES as usize).ok_or(Code::INVALID_VALUE)?;
        let bytes = row.checked_mul(height).ok_or(Code::OUT_OF_MEMORY)?;
        address.put(driver.allocate(&context, bytes as u64, Kind::Device, 0)?)?;
        pitch.put(row)
    }

    fn cuMemFree_v2(address: DevicePtr) {
        if address == 0 {
            Driver::get()?;
            return context::current().map(|_| ());
        }
        free(address, |kind| matches!(kind, Kind::Device | Kind::Managed | Kind::Pool(_)))
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let driver = Driver::get()?;
        context::current()?;
        let all = driver.settings.device.dram_bytes;
        let used = driver.regions.bytes(|kind| !matches!(kind, Kind::Pinned | Kind::Registered));
        free.put_if_wanted(all.saturating_sub(used) as usize);
        total.put_if_wanted(all as usize);
        Ok(())
    }

    fn cuMemGetAddressRange_v2(base: Out<DevicePtr>, bytes: Out<usize>, address: DevicePtr) {
        let driver = Driver::get()?;
        context::current()?;
        let region = driver.regions.find(address).ok_or(Code::NOT_FOUND)?;
        base.put_if_wanted(region.start);
        bytes.put_if_wanted(region.bytes as usize);
        Ok(())
    }
}
