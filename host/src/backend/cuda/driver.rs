//! GPUs as the driver shows them.

use cust::device::{Device, DeviceAttribute};
use cust::sys;
use warpwise_simt::device::{ComputeCapability, limits_of};

use super::error::{check, failed};
use super::library::{self, Driver};
use super::{DeviceFacts, GpuError, handles};
use crate::backend::gpus::{GpuInfo, MODELLED};

/// The GPUs of this computer.
///
/// # Errors
/// [`GpuError::NoDriver`] without a driver; [`GpuError::Unusable`] if it is too old or lists no GPU.
pub fn gpus() -> Result<Vec<GpuInfo>, GpuError> {
    let driver = library::load().map_err(|error| GpuError::NoDriver(error.to_string()))?;
    require(OLDEST_PTX)?;
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
    handles::start().map_err(|error| failed("starting the CUDA driver", error))
}

fn info(ordinal: u32, driver: Driver) -> Result<(Device, GpuInfo), GpuError> {
    let count = Device::num_devices().map_err(|error| failed("counting GPUs", error))?;
    if ordinal >= count {
        let message =
            format!("there is no GPU {ordinal}; the driver lists {count}, numbered from 0: choose with --gpu N");
        return Err(GpuError::Unusable(message));
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
    Ok((device, GpuInfo { ordinal, name, compute_capability, memory_bytes, cuda_version: version()? }))
}

/// Newest CUDA version that the driver supports, as 1000 · major + 10 · minor. May be asked before the driver is started.
fn version() -> Result<i32, GpuError> {
    let mut version = 0;
    // SAFETY: `version` is a place for one int.
    check("reading the driver's version", unsafe { sys::cuDriverGetVersion(&raw mut version) })?;
    Ok(version)
}

/// PTX of the oldest driver that has every function called here (`cuDevicePrimaryCtxRelease_v2` is of CUDA 11.0).
const OLDEST_PTX: (u32, u32) = (7, 0);

/// Refuses a driver that is too old to compile PTX of this version.
///
/// # Errors
/// [`GpuError::Unusable`] with both versions.
pub fn require(ptx: (u32, u32)) -> Result<(), GpuError> {
    let found = version()?;
    match too_old(ptx, found) {
        Some(message) => Err(GpuError::Unusable(message)),
        None => Ok(()),
    }
}

/// What is to be said of a driver of CUDA version `found` (1000 · major + 10 · minor), if it does not know this PTX.
fn too_old(ptx: (u32, u32), found: i32) -> Option<String> {
    let needed = cuda_of_ptx(ptx);
    let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
    (found < needed).then(|| {
        format!(
            "the CUDA driver is too old: it is of CUDA {}, and PTX {}.{} needs {}\nupdate NVIDIA's driver, or run with --backend sim",
            text(found),
            ptx.0,
            ptx.1,
            text(needed)
        )
    })
}

/// The CUDA version that introduced a version of PTX, as a driver tells its own. Source: PTX ISA, "Release Notes".
fn cuda_of_ptx((major, minor): (u32, u32)) -> i32 {
    let minor = minor as i32;
    match major {
        ..7 => 10_000,
        7 => 11_000 + 10 * minor,
        // There was no PTX for CUDA 12.6: 8.5 is of 12.5, 8.6 of 12.7.
        8 if minor >= 6 => 12_010 + 10 * minor,
        8 => 12_000 + 10 * minor,
        newer => 1000 * (newer as i32 + 4) + 10 * minor,
    }
}

fn attribute(device: Device, attribute: DeviceAttribute) -> Result<u32, GpuError> {
    let value = device.get_attribute(attribute).map_err(|error| failed("reading a property of the GPU", error))?;
    u32::try_from(value).map_err(|_| GpuError::Load(format!("the driver reports {value} for {attribute:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_older_than_the_ptx_is_refused_with_both_versions() {
        let text = too_old((7, 8), 11_040).expect("11.4 does not know PTX 7.8");
        assert_eq!(
            text,
            "the CUDA driver is too old: it is of CUDA 11.4, and PTX 7.8 needs 11.8\n\
             update NVIDIA's driver, or run with --backend sim"
        );
        assert_eq!(too_old((7, 8), 11_080), None);
        assert_eq!(too_old((7, 8), 13_000), None);
    }

    #[test]
    fn each_ptx_has_the_cuda_version_that_brought_it() {
        let known = [((7, 0), 11_000), ((8, 0), 12_000), ((8, 5), 12_050), ((8, 6), 12_070), ((8, 8), 12_090)];
        for (ptx, cuda) in known.into_iter().chain([((9, 0), 13_000), ((9, 2), 13_020)]) {
            assert_eq!(cuda_of_ptx(ptx), cuda, "{ptx:?}");
        }
    }
}
