//! Managed memory. There is one memory, so moving and advising change nothing but the answers to questions.

use std::ffi::c_uint;

use crate::abi::{DeviceOrdinal, DevicePtr, Handle, In, Location, Out};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::regions::Kind;
use crate::stream::Target;

/// `CU_MEM_ATTACH_*`.
const ATTACH_GLOBAL: u32 = 1;
const ATTACH_HOST: u32 = 2;
const ATTACH_SINGLE: u32 = 4;
/// `CU_MEM_ADVISE_*` are 1 to 6.
const ADVICE_MAX: u32 = 6;
/// `CU_DEVICE_CPU` and `CU_DEVICE_INVALID`.
const CPU: DeviceOrdinal = -1;
const NO_DEVICE: i32 = -2;
/// `CU_MEM_LOCATION_TYPE_*`: device, and three kinds of host.
const LOCATION_DEVICE: u32 = 1;
const LOCATION_HOST_LAST: u32 = 4;

/// A range of managed memory.
fn managed(address: DevicePtr, bytes: usize) -> Done {
    let driver = Driver::get()?;
    context::current()?;
    let region = driver.regions.find(address).filter(|region| region.kind == Kind::Managed);
    if bytes == 0 || region.is_none() {
        return Err(Code::INVALID_VALUE);
    }
    driver.regions.device(address, bytes as u64).map(|_| ())
}

fn place(location: Location) -> Done {
    match location.kind {
        LOCATION_DEVICE if location.id == 0 => Ok(()),
        LOCATION_DEVICE => Err(Code::INVALID_DEVICE),
        kind if kind > LOCATION_DEVICE && kind <= LOCATION_HOST_LAST => Ok(()),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn advise(address: DevicePtr, bytes: usize, advice: c_uint) -> Done {
    managed(address, bytes)?;
    if (1..=ADVICE_MAX).contains(&advice) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

api! {
    fn cuMemAllocManaged(address: Out<DevicePtr>, bytes: usize, flags: c_uint) {
        let driver = Driver::get()?;
        let context = context::current()?;
        address.required()?;
        if bytes == 0 || ![ATTACH_GLOBAL, ATTACH_HOST].contains(&flags) {
            return Err(Code::INVALID_VALUE);
        }
        super::host_memory::require_shared_addresses(driver)?;
        address.put(driver.allocate(&context, bytes as u64, Kind::Managed, flags)?)
    }

    fn cuMemPrefetchAsync(address: DevicePtr, bytes: usize, device: DeviceOrdinal, stream: Handle) {
        managed(address, bytes)?;
        Target::of(Driver::get()?, stream)?;
        if device == CPU || device == 0 { Ok(()) } else { Err(Code::INVALID_DEVICE) }
    }

    fn cuMemPrefetchAsync_v2(address: DevicePtr, bytes: usize, location: Location, flags: c_uint, stream: Handle) {
        managed(address, bytes)?;
        Target::of(Driver::get()?, stream)?;
        if flags != 0 { Err(Code::INVALID_VALUE) } else { place(location) }
    }

    fn cuMemAdvise(address: DevicePtr, bytes: usize, advice: c_uint, _device: DeviceOrdinal) {
        advise(address, bytes, advice)
    }

    fn cuMemAdvise_v2(address: DevicePtr, bytes: usize, advice: c_uint, _location: Location) {
        advise(address, bytes, advice)
    }

    /// Nothing is kept of advice: not read-mostly, no preferred location, never prefetched.
    fn cuMemRangeGetAttribute(data: Out<i32>, data_bytes: usize, attribute: c_uint, address: DevicePtr, bytes: usize) {
        managed(address, bytes)?;
        if data_bytes == 0 || !data_bytes.is_multiple_of(4) {
            return Err(Code::INVALID_VALUE);
        }
        match attribute {
            1 => data.put(0),
            2 | 4 => data.put(NO_DEVICE),
            3 => (0..data_bytes / 4).try_for_each(|index| data.element(index).put(NO_DEVICE)),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn cuStreamAttachMemAsync(stream: Handle, address: DevicePtr, _bytes: usize, flags: c_uint) {
        let driver = Driver::get()?;
        Target::of(driver, stream)?;
        let region = driver.regions.find(address).filter(|region| region.kind.is_host_visible());
        match region.is_some() && [ATTACH_GLOBAL, ATTACH_HOST, ATTACH_SINGLE].contains(&flags) {
            true => Ok(()),
            false => Err(Code::INVALID_VALUE),
        }
    }

    fn cuMemRangeGetAttributes(
        data: In<u64>,
        data_bytes: In<usize>,
        attributes: In<c_uint>,
        count: usize,
        address: DevicePtr,
        bytes: usize,
    ) {
        (0..count).try_for_each(|index| {
            let (out, size) = (Out::at(data.element(index).get()?), data_bytes.element(index).get()?);
            match cuMemRangeGetAttribute(out, size, attributes.element(index).get()?, address, bytes) {
                0 => Ok(()),
                number => Err(Code::from_number(number).unwrap_or(Code::UNKNOWN)),
            }
        })
    }
}
