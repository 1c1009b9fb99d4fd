//! What one device's L2 and crossbar take, in cycles of the SM's clock.

use super::super::SECTOR_BYTES;
use crate::device::Device;

#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub sm_count: usize,
    pub near_cycles: f64,
    pub far_cycles: f64,
    /// The part that all lines wait, and the mean of the one that differs.
    pub dram_cycles: f64,
    pub dram_spread_cycles: f64,
    pub dram_loaded_cycles: f64,
    pub slice_sector_cycles: f64,
    pub read_port_sector_cycles: f64,
    pub dram_queue_cycles: f64,
    pub slice_flit_cycles: f64,
    pub pass_sector_cycles: f64,
}

impl Timing {
    pub fn new(device: &Device) -> Self {
        let p = &device.parameters;
        let sector = f64::from(SECTOR_BYTES);
        let l2_bytes_per_cycle = p.l2_bytes_per_cycle_per_sm * f64::from(device.sm_count);
        // The latencies include the way through L1, up to the cycle from which `Origin::cycle` counts.
        Self {
            sm_count: device.sm_count as usize,
            near_cycles: p.l2_near_latency_cycles,
            far_cycles: p.l2_far_latency_cycles,
            dram_cycles: p.dram_latency_cycles * (1.0 - p.dram_spread_share),
            dram_spread_cycles: p.dram_latency_cycles * p.dram_spread_share,
            dram_loaded_cycles: p.dram_latency_cycles * p.dram_loaded_share,
            slice_sector_cycles: sector * p.l2_slices.max(1.0) / l2_bytes_per_cycle,
            read_port_sector_cycles: sector / p.sm_read_bytes_per_cycle,
            dram_queue_cycles: p.dram_queue_cycles,
            slice_flit_cycles: sector * p.l2_slices.max(1.0) / (l2_bytes_per_cycle * p.l2_write_share),
            pass_sector_cycles: p.atomic_sector_cycles,
        }
    }
}
