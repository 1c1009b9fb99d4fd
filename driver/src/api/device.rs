//! Devices: there is one, and its name says that it is modelled.

use std::ffi::{c_char, c_int, c_uint};

use warpwise_simt::isa::WARP_SIZE;

use crate::abi::{DeviceOrdinal, DeviceProperties, Out, Text};
use crate::attributes;
use crate::code::Code;
use crate::driver::Driver;
use crate::guard::api;

/// What follows every device's name.
const MODELLED: &str = "(modelled)";
/// Where the device is on a bus that it is not on; attributes agree with it.
const PCI_BUS_ID: &str = "0000:01:00.0";

/// The same for a device in every run, and different between devices: FNV-1a of its name.
fn uuid(name: &str) -> [u8; 16] {
    let fnv =
        |start: u64| name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let (low, high) = (fnv(0xcbf2_9ce4_8422_2325), fnv(0x9ae1_6a3b_2f90_404f));
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&low.to_le_bytes());
    uuid[8..].copy_from_slice(&high.to_le_bytes());
    uuid
}

api! {
    fn cuDeviceGetCount(count: Out<c_int>) {
        Driver::get()?;
        count.put(1)
    }

    fn cuDeviceGet(device: Out<DeviceOrdinal>, ordinal: c_int) {
        Driver::get()?.device(ordinal)?;
        device.put(ordinal)
    }

    fn cuDeviceGetName(name: Out<c_char>, capacity: c_int, device: DeviceOrdinal) {
        let device = Driver::get()?.device(device)?;
        name.put_text(&format!("{} {MODELLED}", device.name), usize::try_from(capacity).unwrap_or(0))
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: DeviceOrdinal) {
        bytes.put(Driver::get()?.device(device)?.dram_bytes as usize)
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, device: DeviceOrdinal) {
        value.required()?;
        value.put(attributes::value(Driver::get()?.device(device)?, attribute)?)
    }

    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: DeviceOrdinal) {
        let version = Driver::get()?.device(device)?.compute_capability;
        minor.required()?;
        major.put(version.major as c_int)?;
        minor.put(version.minor as c_int)
    }

    fn cuDeviceGetProperties(properties: Out<DeviceProperties>, device: DeviceOrdinal) {
        let device = Driver::get()?.device(device)?;
        let limits = &device.limits;
        properties.put(DeviceProperties {
            max_threads_per_block: limits.max_threads_per_block as c_int,
            max_threads_dim: limits.max_block_dim.map(|size| size as c_int),
            max_grid_size: limits.max_grid_dim.map(|size| size as c_int),
            shared_per_block: limits.shared_per_block_bytes as c_int,
            constant_memory: attributes::CONSTANT_BYTES,
            warp_size: WARP_SIZE as c_int,
            max_pitch: attributes::PITCH_MAX_BYTES,
            registers_per_block: limits.registers_per_block as c_int,
            clock_khz: attributes::clock_khz(device),
            texture_alignment: attributes::TEXTURE_ALIGNMENT_BYTES,
        })
    }

    fn cuDeviceGetUuid(id: Out<[u8; 16]>, device: DeviceOrdinal) {
        id.put(uuid(&Driver::get()?.device(device)?.name))
    }

    fn cuDeviceGetUuid_v2(id: Out<[u8; 16]>, device: DeviceOrdinal) {
        id.put(uuid(&Driver::get()?.device(device)?.name))
    }

    fn cuDeviceGetPCIBusId(id: Out<c_char>, capacity: c_int, device: DeviceOrdinal) {
        Driver::get()?.device(device)?;
        id.put_text(PCI_BUS_ID, usize::try_from(capacity).unwrap_or(0))
    }

    fn cuDeviceGetByPCIBusId(device: Out<DeviceOrdinal>, id: Text) {
        Driver::get()?;
        let id = id.get()?.to_ascii_lowercase();
        let known = [PCI_BUS_ID, "0000:01:00", "01:00.0", "1:0.0", "0:1:0.0"].contains(&id.as_str());
        if known { device.put(0) } else { Err(Code::INVALID_DEVICE) }
    }

    fn cuDeviceCanAccessPeer(can: Out<c_int>, device: DeviceOrdinal, peer: DeviceOrdinal) {
        let driver = Driver::get()?;
        driver.device(device)?;
        driver.device(peer)?;
        can.put(0)
    }

    fn cuDeviceGetExecAffinitySupport(supported: Out<c_int>, _kind: c_uint, device: DeviceOrdinal) {
        Driver::get()?.device(device)?;
        supported.put(0)
    }
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn devices_have_different_identifiers_that_stay() {
        assert_ne!(uuid("RTX 5070"), uuid("RTX 5090"));
        assert_eq!(uuid("RTX 5070"), uuid("RTX 5070"));
    }
}
