//! A slice of a GPU: some of its SMs with their share of L2, of memory's bandwidth and of a launch's blocks.
//!
//! Where many versions of a kernel are timed, or one while somebody waits, the whole GPU takes too long to model. What decides between
//! versions is what an SM does with them and how much of the shared parts it gets, and both are as they were. Times of a slice are
//! compared with each other only, and name their device as one: `RTX 5070 (2 of 48 SMs)`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use warpwise_simt::device::Device;

use super::Launch;
use crate::backend::LaunchShape;

/// SMs of a slice at most.
const SMS_MAX: u32 = 2;

/// The largest block that any GPU takes.
const THREADS_A_BLOCK_MAX: u64 = 1024;

/// A device that is a part of another.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub device: &'static Device,
    /// How many such parts the whole has.
    parts: u32,
}

impl Slice {
    /// The slice of a device; the device itself where it is no larger.
    pub fn of(whole: &'static Device) -> Self {
        let sms = (1..=SMS_MAX).rev().find(|sms| whole.sm_count.is_multiple_of(*sms)).unwrap_or(1);
        let parts = whole.sm_count / sms;
        if parts == 1 {
            return Self { device: whole, parts };
        }
        // One a device and process: the machine holds devices for as long as it lives.
        static MADE: Mutex<Option<HashMap<String, &'static Device>>> = Mutex::new(None);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made.get_or_insert_default();
        let device = *made.entry(whole.name.clone()).or_insert_with(|| Box::leak(Box::new(part(whole, sms))));
        Self { device, parts }
    }

    /// The slice's share of a launch's blocks: along the grid's longest side, at least one. In one dimension it is a share of the threads, in
    /// blocks of any size as many where the size is a power of two: so their results can be compared.
    pub fn launch(&self, launch: &Launch) -> Launch {
        let LaunchShape { mut grid, block, .. } = launch.shape;
        if let ([blocks, 1, 1], [threads, 1, 1]) = (grid, block) {
            let share = (u64::from(blocks) * u64::from(threads)).div_ceil(self.parts.into());
            let share = share.next_multiple_of(THREADS_A_BLOCK_MAX).div_ceil(threads.max(1).into());
            grid[0] = u32::try_from(share).unwrap_or(u32::MAX).min(blocks);
        } else if let Some(longest) = grid.iter_mut().max_by_key(|size| **size) {
            *longest = longest.div_ceil(self.parts);
        }
        launch.shaped(LaunchShape { grid, ..launch.shape })
    }
}

fn part(whole: &Device, sms: u32) -> Device {
    let mut part = whole.clone();
    let share = f64::from(sms) / f64::from(whole.sm_count);
    part.name = format!("{} ({sms} of {} SMs)", whole.name, whole.sm_count);
    part.sm_count = sms;
    part.validated = false;
    part.memory_bandwidth_gbs *= share;
    part.l2_bytes = (part.l2_bytes as f64 * share) as u64;
    let parameters = &mut part.parameters;
    parameters.l2_slices = (parameters.l2_slices * share).round().max(1.0);
    parameters.dram_channels = (parameters.dram_channels * share).round().max(1.0);
    // Blocks are given out to all SMs in turn: each waits as long for its own as before.
    parameters.block_launch_interval_cycles /= share;
    parameters.block_retire_interval_cycles /= share;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_whole_sms_and_their_share_of_what_all_share() {
        let whole = Device::default_device();
        let slice = Slice::of(whole);
        assert_eq!((slice.device.sm_count, slice.parts), (2, 24));
        assert_eq!(slice.device.name, "RTX 5070 (2 of 48 SMs)");
        assert!((slice.device.memory_bandwidth_gbs * 24.0 - whole.memory_bandwidth_gbs).abs() < 1e-6);
        assert!(!slice.device.validated && slice.device.limits.max_warps_per_sm == whole.limits.max_warps_per_sm);
        assert!(std::ptr::eq(slice.device, Slice::of(whole).device), "made once");
    }

    #[test]
    fn a_launch_keeps_its_blocks_shape_and_loses_blocks_along_its_longest_side() {
        let slice = Slice::of(Device::default_device());
        let grid = |kernel: &str| {
            let launch = Launch::standard(kernel).expect("its words are read").expect("it has a launch");
            slice.launch(&launch).shape.grid
        };
        // 391 blocks of 256 are 100,096 threads, a 24th of them 4,171: five times 1,024 hold them.
        assert_eq!(grid("heavy"), [5 * 1024 / 256, 1, 1]);
        let heavy = Launch::standard("heavy").expect("its words are read").expect("it has a launch");
        for block in [32, 128, 512, 1024] {
            let shape = slice.launch(&heavy.with_block(block).expect("one-dimensional")).shape;
            assert_eq!(shape.blocks() * shape.block_threads(), 5 * 1024, "{block}");
        }
        assert_eq!(grid("blur"), [32, 88_u32.div_ceil(24), 1]);
    }
}
