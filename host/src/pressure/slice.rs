//! A slice of a GPU: some of its SMs with their share of the bandwidth of L2 and memory, and of a launch's blocks.
//!
//! Where many versions of a kernel are timed, or one while somebody waits, the whole GPU takes too long to model. What decides between
//! versions is what an SM does with them and how much of the shared parts it gets, and both are as they were; L2 keeps its size, since
//! what the host has written there is of all blocks. Times of a slice are compared with each other only, and name their device as
//! one: `RTX 5070 (2 of 48 SMs)`. docs/listings.md has them beside those of the whole GPU.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use warpwise_simt::device::Device;
use warpwise_simt::rewrite::RewriteError;

use super::Launch;
use crate::backend::LaunchShape;
use crate::workbench::Workbench;

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
    /// The slice that suits a kernel. One that asks for the number of blocks may spread all work over those that there are: fewer
    /// blocks would do as much, so it gets the whole device.
    ///
    /// # Errors
    /// There is no such kernel.
    pub fn for_kernel(bench: &Workbench, kernel: &str) -> Result<Self, RewriteError> {
        let asks = bench.excerpt(kernel)?.mentions("%nctaid");
        Ok(if asks { Self { device: bench.device, parts: 1 } } else { Self::of(bench.device) })
    }

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

    /// The slice's share of a launch's blocks, rounded up: so its SMs take them in as many waves as those of the whole GPU take all, and
    /// as many blocks at a time. Of a grid of several dimensions it is the smallest that holds the share, its x as long as can be.
    pub fn launch(&self, launch: &Launch) -> Launch {
        if self.parts == 1 {
            return launch.clone();
        }
        let share = launch.shape.blocks().div_ceil(self.parts.into());
        let [x, y, z] = launch.shape.grid.map(u64::from);
        let mut best = launch.shape.grid.map(u64::from);
        let blocks = |grid: [u64; 3]| grid.iter().product::<u64>();
        for depth in 1..=z.min(share) {
            for height in 1..=y.min(share.div_ceil(depth)) {
                let width = share.div_ceil(depth * height);
                if width <= x && blocks([width, height, depth]) < blocks(best) {
                    best = [width, height, depth];
                }
            }
        }
        self.with_grid(launch, best)
    }

    /// As many threads in blocks of any size, where the size is a power of two and the launch is one-dimensional: so the results of
    /// launches in other blocks can be compared.
    pub fn launch_of_as_many_threads(&self, launch: &Launch) -> Launch {
        let LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], .. } = launch.shape else {
            return self.launch(launch);
        };
        let (blocks, threads) = (u64::from(blocks), u64::from(threads).max(1));
        let share = (blocks * threads).div_ceil(self.parts.into()).next_multiple_of(THREADS_A_BLOCK_MAX);
        self.with_grid(launch, [share.div_ceil(threads).min(blocks), 1, 1])
    }

    fn with_grid(&self, launch: &Launch, grid: [u64; 3]) -> Launch {
        let grid = grid.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
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
    fn a_share_of_the_blocks_is_rounded_up_so_that_it_takes_as_many_waves() {
        let slice = Slice::of(Device::default_device());
        let standard = |kernel: &str| Launch::standard(kernel).expect("its words are read").expect("it has a launch");
        let heavy = standard("heavy");
        assert_eq!(heavy.shape.grid, [391, 1, 1]);
        assert_eq!(slice.launch(&heavy).shape.grid, [17, 1, 1]);
        for blocks_an_sm in 1..=24_u64 {
            for block in [32, 64, 128, 256, 512] {
                let whole = heavy.with_block(block).expect("one-dimensional");
                let waves = |launch: &Launch, sms: u64| launch.shape.blocks().div_ceil(sms * blocks_an_sm);
                assert_eq!(waves(&slice.launch(&whole), 2), waves(&whole, 48), "{block}: {blocks_an_sm} an SM");
            }
        }
        // 88 rows of 32 blocks are 2,816, a 24th of them 118: 59 rows of 2.
        assert_eq!(slice.launch(&standard("blur")).shape.grid, [2, 59, 1]);
    }

    #[test]
    fn for_comparing_results_there_are_as_many_threads_in_blocks_of_any_size() {
        let slice = Slice::of(Device::default_device());
        let heavy = Launch::standard("heavy").expect("its words are read").expect("it has a launch");
        // 391 blocks of 256 are 100,096 threads, a 24th of them 4,171: five times 1,024 hold them.
        for block in [32, 128, 256, 512, 1024] {
            let launch = heavy.with_block(block).expect("one-dimensional");
            let shape = slice.launch_of_as_many_threads(&launch).shape;
            assert_eq!(shape.blocks() * shape.block_threads(), 5 * 1024, "{block}");
        }
    }
}
