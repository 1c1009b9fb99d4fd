//! Allocation in stream order, and pools.
//!
//! Memory is there when the call returns, earlier than promised; it is given back when the stream gets there.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::abi::{AccessDescription, DeviceOrdinal, DevicePtr, Handle, In, Location, Out, PoolProperties};
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::guard::api;
use crate::pool::Pool;
use crate::regions::Kind;
use crate::stream::Target;

/// `CUmemPool_attribute`.
mod attribute {
    pub const REUSE: std::ops::RangeInclusive<u32> = 1..=3;
    pub const RELEASE_THRESHOLD: u32 = 4;
    pub const RESERVED_NOW: u32 = 5;
    pub const RESERVED_HIGH: u32 = 6;
    pub const USED_NOW: u32 = 7;
    pub const USED_HIGH: u32 = 8;
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`: the pools there are.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;

fn allocate(address: Out<DevicePtr>, bytes: usize, pool: &Pool, stream: Handle) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    address.required()?;
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let new = driver.allocate(&target.context, bytes as u64, Kind::Pool(pool.handle), 0)?;
    pool.took(bytes as u64);
    address.put(new)
}

api! {
    fn cuMemAllocAsync(address: Out<DevicePtr>, bytes: usize, stream: Handle) {
        let pool = Arc::clone(&*Driver::get()?.pool_in_use());
        allocate(address, bytes, &pool, stream)
    }

    fn cuMemAllocFromPoolAsync(address: Out<DevicePtr>, bytes: usize, pool: Handle, stream: Handle) {
        let pool = Driver::get()?.pools.get(pool)?;
        allocate(address, bytes, &pool, stream)
    }

    fn cuMemFreeAsync(address: DevicePtr, stream: Handle) {
        let driver = Driver::get()?;
        let target = Target::of(driver, stream)?;
        let region = driver.regions.remove(address, |kind| matches!(kind, Kind::Device | Kind::Managed | Kind::Pool(_)))?;
        if let Kind::Pool(pool) = region.kind
            && let Ok(pool) = driver.pools.get(pool)
        {
            pool.gave_back(region.bytes);
        }
        target.enqueue(&driver.engine, move |engine| {
            engine.machine().free(region.start).map_err(|error| crate::fault::of_memory(&error))
        });
        Ok(())
    }

    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<PoolProperties>) {
        let driver = Driver::get()?;
        let given = properties.get()?;
        pool.required()?;
        driver.device(given.location.id)?;
        if given.allocation_type != PINNED || given.location.kind != ON_DEVICE {
            return Err(Code::INVALID_VALUE);
        }
        if given.handle_types != 0 {
            crate::notice::say_once("cuMemPoolCreate: pools that are shared between processes are not supported");
            return Err(Code::NOT_SUPPORTED);
        }
        pool.put(driver.pools.insert_with(Pool::new).handle)
    }

    fn cuMemPoolDestroy(pool: Handle) {
        let driver = Driver::get()?;
        if pool == driver.default_pool.handle {
            return Err(Code::INVALID_VALUE);
        }
        driver.pools.remove(pool)?;
        let mut current = driver.pool_in_use();
        if current.handle == pool {
            *current = Arc::clone(&driver.default_pool);
        }
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: Handle, _bytes_to_keep: usize) {
        Driver::get()?.pools.get(pool).map(|_| ())
    }

    fn cuMemPoolSetAttribute(pool: Handle, which: c_uint, value: In<u64>) {
        let pool = Driver::get()?.pools.get(pool)?;
        let mut state = pool.state();
        match which {
            which if attribute::REUSE.contains(&which) => {
                // These are ints; of the eight bytes that the others have only four are the caller's.
                state.reuse[which as usize - 1] = value.cast::<u32>().get()?;
            }
            attribute::RELEASE_THRESHOLD => state.release_threshold_bytes = value.get()?,
            // High-water marks can be reset, to nothing but 0.
            attribute::RESERVED_HIGH | attribute::USED_HIGH if value.get()? == 0 => state.used_high_bytes = state.used_bytes,
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: Handle, which: c_uint, value: Out<u64>) {
        let pool = Driver::get()?.pools.get(pool)?;
        let state = *pool.state();
        match which {
            which if attribute::REUSE.contains(&which) => value.cast::<u32>().put(state.reuse[which as usize - 1]),
            attribute::RELEASE_THRESHOLD => value.put(state.release_threshold_bytes),
            attribute::RESERVED_NOW | attribute::USED_NOW => value.put(state.used_bytes),
            attribute::RESERVED_HIGH | attribute::USED_HIGH => value.put(state.used_high_bytes),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn cuMemPoolSetAccess(pool: Handle, access: In<AccessDescription>, count: usize) {
        let driver = Driver::get()?;
        driver.pools.get(pool)?;
        access.array(count)?.iter().try_for_each(|given| driver.device(given.location.id).map(|_| ()))
    }

    fn cuMemPoolGetAccess(flags: Out<c_uint>, pool: Handle, location: In<Location>) {
        let driver = Driver::get()?;
        driver.pools.get(pool)?;
        driver.device(location.get()?.id)?;
        flags.put(READ_WRITE)
    }

    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: DeviceOrdinal) {
        let driver = Driver::get()?;
        driver.device(device)?;
        pool.put(driver.default_pool.handle)
    }

    fn cuDeviceGetMemPool(pool: Out<Handle>, device: DeviceOrdinal) {
        let driver = Driver::get()?;
        driver.device(device)?;
        pool.put(driver.pool_in_use().handle)
    }

    fn cuDeviceSetMemPool(device: DeviceOrdinal, pool: Handle) {
        let driver = Driver::get()?;
        driver.device(device as c_int)?;
        *driver.pool_in_use() = driver.pools.get(pool)?;
        Ok(())
    }
}
