//! GPUs as the driver shows them.

use cust::CudaFlags;
use cust::device::{Device, DeviceAttribute};
use cust::sys;
use warpwise_simt::device::{ComputeCapability, limits_of};

use super::error::failed;
use super::library::{self, Driver};
use super::{DeviceFacts, GpuError};
use crate::backend::gpus::{GpuInfo, MODELLED};

/// The GPUs of this computer.
///
/// # Errors
/// [`GpuError::Load`] without a driver.
pub fn gpus() -> Result<Vec<GpuInfo>, GpuError> {
    let driver = library::load().map_err(|error| GpuError::Load(error.to_string()))?;
    start()?;
    let count = Device::num_devices().map_err(|error| failed("counting GPUs", error))?;
    (0..count).map(|ordinal| info(ordinal, driver).map(|(_, info)| info)).collect()
}

/// The device with what reports need to know of it.
pub fn facts(ordinal: u32, driver: Driver) -> Result<(Device, DeviceFacts), GpuError> {
    start()?;
    let (device, info) = info(ordinal, driver)?;
    let limits = limits_of(info.compute_capability).map_err(|error| GpuError::Load(error.to_string()))?;
    let facts = DeviceFacts {
        name: info.name,
        arch: info.compute_capability.arch(),
        sm_count: attribute(device, DeviceAttribute::MultiprocessorCount)?,
        limits,
    };
    Ok((device, facts))
}

/// Size of the L2 cache in bytes, and the SMs' top clock in MHz.
pub fn cache_and_clock(device: Device) -> Result<(u64, u32), GpuError> {
    let l2_bytes = u64::from(attribute(device, DeviceAttribute::L2CacheSize)?);
    let clock_khz = attribute(device, DeviceAttribute::ClockRate)?;
    Ok((l2_bytes, clock_khz / 1000))
}

/// A number of bytes as the driver takes it.
pub fn length(bytes: u64) -> Result<usize, GpuError> {
    usize::try_from(bytes).map_err(|_| super::error::no_memory(bytes))
}

fn start() -> Result<(), GpuError> {
    cust::init(CudaFlags::empty()).map_err(|error| failed("starting the CUDA driver", error))
}

fn info(ordinal: u32, driver: Driver) -> Result<(Device, GpuInfo), GpuError> {
    let count = Device::num_devices().map_err(|error| failed("counting GPUs", error))?;
    if ordinal >= count {
        let message =
            format!("there is no GPU {ordinal}; the driver lists {count}, numbered from 0: choose with --gpu N");
        return Err(GpuError::Load(message));
    }
    let open = |error| failed("opening the GPU", error);
    let device = Device::get_device(ordinal).map_err(open)?;
    let name = device.name().map_err(open)?;
    let compute_capability = ComputeCapability {
        major: attribute(device, DeviceAttribute::ComputeCapabilityMajor)?,
        minor: attribute(device, DeviceAttribute::ComputeCapabilityMinor)?,
    };
    let name = match driver {
        Driver::Warpwise if !name.ends_with(MODELLED) => name + MODELLED,
        _ => name,
    };
    let memory_bytes = device.total_memory().map_err(open)? as u64;
    let mut cuda_version = 0;
    // SAFETY: `cuda_version` is a place for one int.
    super::error::check("reading the driver's version", unsafe { sys::cuDriverGetVersion(&raw mut cuda_version) })?;
    Ok((device, GpuInfo { ordinal, name, compute_capability, memory_bytes, cuda_version }))
}

fn attribute(device: Device, attribute: DeviceAttribute) -> Result<u32, GpuError> {
    let value = device.get_attribute(attribute).map_err(|error| failed("reading a property of the GPU", error))?;
    u32::try_from(value).map_err(|_| GpuError::Load(format!("the driver reports {value} for {attribute:?}")))
}
