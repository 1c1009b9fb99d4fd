//! One kernel in one form on one device: what nobody else prints together in one row.

use warpwise_simt::occupancy::Occupancy;

use crate::backend::{ACHIEVED_OCCUPANCY_PERCENT, CounterSet};
use crate::numbers::{Regs, Time};

/// Registers and spills as ptxas reports them, the occupancy that they allow, and the time.
#[derive(Clone, Debug)]
pub struct KernelRow {
    pub kernel: String,
    /// Tells apart rows of one kernel: `n = 1,003`, `block 32×8`. Empty where there is one row only.
    pub variant: String,
    pub device: String,
    pub arch: String,
    pub registers: Regs,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    pub stack_bytes: u32,
    /// Static and dynamic, a block.
    pub shared_bytes: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub occupancy: OccupancyFigures,
    pub times: Vec<Time>,
    /// Why there is no time: `needs SASS`.
    pub no_time: Option<String>,
    pub counters: Option<CounterSet>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyFigures {
    /// Share of the SM's warps that may be resident, 0 to 1.
    pub theoretical: f64,
    /// Share that was, on average over active cycles; needs a timed run.
    pub achieved: Option<f64>,
    pub blocks_per_sm: u32,
    /// What holds it down, as [`warpwise_simt::occupancy::Limiter::name`] says.
    pub limiters: Vec<&'static str>,
}

impl OccupancyFigures {
    pub fn new(occupancy: &Occupancy, counters: Option<&CounterSet>) -> Self {
        Self {
            theoretical: occupancy.theoretical(),
            achieved: counters
                .and_then(|counters| counters.get(ACHIEVED_OCCUPANCY_PERCENT))
                .map(|percent| percent / 100.0),
            blocks_per_sm: u32::try_from(occupancy.blocks_per_sm).unwrap_or(0),
            limiters: occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
        }
    }
}
