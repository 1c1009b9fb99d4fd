//! Device attributes: what the modelled GPU is, by the numbers of `CUdevice_attribute`.
//!
//! What the machine lacks (textures, graphs of GPUs, mapped files) is 0, as on a device that lacks it.

use warpwise_simt::device::Device;
use warpwise_simt::isa::WARP_SIZE;

use crate::code::{Code, Done};

/// `CU_DEVICE_ATTRIBUTE_*`: those whose answer is neither yes nor no.
mod attribute {
    pub const MAX_THREADS_PER_BLOCK: u32 = 1;
    pub const MAX_BLOCK_DIM_X: u32 = 2;
    pub const MAX_BLOCK_DIM_Z: u32 = 4;
    pub const MAX_GRID_DIM_X: u32 = 5;
    pub const MAX_GRID_DIM_Z: u32 = 7;
    pub const SHARED_MEMORY_PER_BLOCK: u32 = 8;
    pub const TOTAL_CONSTANT_MEMORY: u32 = 9;
    pub const WARP_SIZE: u32 = 10;
    pub const MAX_PITCH: u32 = 11;
    pub const REGISTERS_PER_BLOCK: u32 = 12;
    pub const CLOCK_RATE: u32 = 13;
    pub const TEXTURE_ALIGNMENT: u32 = 14;
    pub const MULTIPROCESSOR_COUNT: u32 = 16;
    pub const SURFACE_ALIGNMENT: u32 = 30;
    pub const MEMORY_CLOCK_RATE: u32 = 36;
    pub const MEMORY_BUS_WIDTH: u32 = 37;
    pub const L2_CACHE_SIZE: u32 = 38;
    pub const MAX_THREADS_PER_MULTIPROCESSOR: u32 = 39;
    pub const ASYNC_ENGINE_COUNT: u32 = 40;
    pub const TEXTURE_PITCH_ALIGNMENT: u32 = 51;
    pub const COMPUTE_CAPABILITY_MAJOR: u32 = 75;
    pub const COMPUTE_CAPABILITY_MINOR: u32 = 76;
    pub const SHARED_MEMORY_PER_MULTIPROCESSOR: u32 = 81;
    pub const REGISTERS_PER_MULTIPROCESSOR: u32 = 82;
    pub const SINGLE_TO_DOUBLE_RATIO: u32 = 87;
    pub const SHARED_MEMORY_PER_BLOCK_OPTIN: u32 = 97;
    pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 106;
    pub const RESERVED_SHARED_MEMORY_PER_BLOCK: u32 = 111;
    /// Numbers beyond this are of later versions of CUDA than any that is known here.
    pub const LAST: u32 = 162;
}

/// Constant memory that a kernel can declare, bytes (CUDA C++ Programming Guide, technical specifications).
pub const CONSTANT_BYTES: i32 = 64 << 10;
/// Largest pitch of a copy, bytes, as drivers report it.
pub const PITCH_MAX_BYTES: i32 = i32::MAX;
/// Alignment of textures, bytes: no texture can be made, but programs align pitches to it.
pub const TEXTURE_ALIGNMENT_BYTES: i32 = 512;
/// Alignment of rows that a texture would read, bytes.
const TEXTURE_PITCH_ALIGNMENT_BYTES: i32 = 32;
/// Width of the memory bus, bits. Nominal: only its product with the memory clock, the bandwidth, is of the device.
const BUS_WIDTH_BITS: i32 = 256;

/// The attribute's value.
///
/// # Errors
/// `INVALID_VALUE` for a number that is no attribute.
pub fn value(device: &Device, which: u32) -> Done<i32> {
    let limits = &device.limits;
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    let axis = |dims: [u32; 3], first: u32| number(dims[(which - first) as usize % 3]);
    Ok(match which {
        attribute::MAX_THREADS_PER_BLOCK => number(limits.max_threads_per_block),
        attribute::MAX_BLOCK_DIM_X..=attribute::MAX_BLOCK_DIM_Z => {
            axis(limits.max_block_dim, attribute::MAX_BLOCK_DIM_X)
        }
        attribute::MAX_GRID_DIM_X..=attribute::MAX_GRID_DIM_Z => axis(limits.max_grid_dim, attribute::MAX_GRID_DIM_X),
        attribute::SHARED_MEMORY_PER_BLOCK => number(limits.shared_per_block_bytes),
        attribute::TOTAL_CONSTANT_MEMORY => CONSTANT_BYTES,
        attribute::WARP_SIZE => WARP_SIZE as i32,
        attribute::MAX_PITCH => PITCH_MAX_BYTES,
        attribute::REGISTERS_PER_BLOCK => number(limits.registers_per_block),
        attribute::CLOCK_RATE => clock_khz(device),
        attribute::TEXTURE_ALIGNMENT | attribute::SURFACE_ALIGNMENT => TEXTURE_ALIGNMENT_BYTES,
        attribute::MULTIPROCESSOR_COUNT => number(device.sm_count),
        attribute::MEMORY_CLOCK_RATE => memory_clock_khz(device),
        attribute::MEMORY_BUS_WIDTH => BUS_WIDTH_BITS,
        attribute::L2_CACHE_SIZE => i32::try_from(device.l2_bytes).unwrap_or(i32::MAX),
        attribute::MAX_THREADS_PER_MULTIPROCESSOR => number(limits.max_threads_per_sm),
        attribute::ASYNC_ENGINE_COUNT => ASYNC_ENGINES,
        attribute::TEXTURE_PITCH_ALIGNMENT => TEXTURE_PITCH_ALIGNMENT_BYTES,
        attribute::COMPUTE_CAPABILITY_MAJOR => number(device.compute_capability.major),
        attribute::COMPUTE_CAPABILITY_MINOR => number(device.compute_capability.minor),
        attribute::SHARED_MEMORY_PER_MULTIPROCESSOR => number(limits.shared_per_sm_bytes),
        attribute::REGISTERS_PER_MULTIPROCESSOR => number(limits.registers_per_sm),
        attribute::SINGLE_TO_DOUBLE_RATIO => number(limits.fp32_lanes.checked_div(limits.fp64_lanes).unwrap_or(0)),
        attribute::SHARED_MEMORY_PER_BLOCK_OPTIN => number(limits.shared_per_block_optin_bytes),
        attribute::BLOCKS_PER_MULTIPROCESSOR => number(limits.max_blocks_per_sm),
        attribute::RESERVED_SHARED_MEMORY_PER_BLOCK => number(limits.shared_reserved_per_block_bytes),
        yes if YES.contains(&yes) => 1,
        0 => return Err(Code::INVALID_VALUE),
        no if no <= attribute::LAST => 0,
        _ => return Err(Code::INVALID_VALUE),
    })
}

/// Copies that run beside kernels; the machine's queue is one, but modelled time overlaps.
const ASYNC_ENGINES: i32 = 2;

/// Attributes that say yes.
const YES: [u32; 15] = [
    15,  // GPU_OVERLAP
    19,  // CAN_MAP_HOST_MEMORY
    31,  // CONCURRENT_KERNELS
    33,  // PCI_BUS_ID
    41,  // UNIFIED_ADDRESSING
    78,  // STREAM_PRIORITIES_SUPPORTED
    79,  // GLOBAL_L1_CACHE_SUPPORTED
    80,  // LOCAL_L1_CACHE_SUPPORTED
    83,  // MANAGED_MEMORY
    89,  // CONCURRENT_MANAGED_ACCESS
    91,  // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    95,  // COOPERATIVE_LAUNCH
    99,  // HOST_REGISTER_SUPPORTED
    113, // READ_ONLY_HOST_REGISTER_SUPPORTED
    115, // MEMORY_POOLS_SUPPORTED
];

pub fn clock_khz(device: &Device) -> i32 {
    i32::try_from(u64::from(device.boost_clock_mhz) * 1000).unwrap_or(i32::MAX)
}

/// The clock at which the nominal bus, two transfers a cycle, has the device's bandwidth: programs compute it that way round.
fn memory_clock_khz(device: &Device) -> i32 {
    let bytes_per_cycle = 2.0 * f64::from(BUS_WIDTH_BITS) / 8.0;
    (device.memory_bandwidth_gbs * 1e6 / bytes_per_cycle).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_the_default_device_are_those_of_its_tables() {
        let device = Device::default_device();
        let expected =
            [(1, 1024), (4, 64), (5, i32::MAX), (7, 65_535), (10, 32), (13, 2_512_000), (16, 48), (75, 12), (76, 0)];
        for (attribute, expected) in expected {
            assert_eq!(value(device, attribute), Ok(expected), "attribute {attribute}");
        }
    }

    #[test]
    fn clock_and_bus_give_the_bandwidth() {
        for device in warpwise_simt::device::devices() {
            let (clock, bus) = (value(device, 36).unwrap(), value(device, 37).unwrap());
            let gbs = 2.0 * f64::from(clock) * 1e3 * f64::from(bus) / 8.0 / 1e9;
            assert!((gbs / device.memory_bandwidth_gbs - 1.0).abs() < 1e-4, "{}: {gbs}", device.name);
        }
    }

    #[test]
    fn a_number_that_is_no_attribute_is_refused_and_a_lack_is_0() {
        let device = Device::default_device();
        assert_eq!(value(device, 0), Err(Code::INVALID_VALUE));
        assert_eq!(value(device, 163), Err(Code::INVALID_VALUE));
        assert_eq!(value(device, 120), Ok(0), "no clusters");
        assert_eq!(value(device, 102), Ok(0), "no virtual memory management");
    }
}
