//! One kernel in one form on one device: what nobody else prints together in one row.

use warpwise_simt::occupancy::Occupancy;

use crate::backend::{ACHIEVED_OCCUPANCY_PERCENT, CounterSet};
use crate::ceilings::Work;
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
    /// The least bytes that the launch has to read and write, where the lab says so.
    pub least_bytes: Option<u64>,
    pub times: Vec<Time>,
    /// Why there is no time: `needs SASS`.
    pub no_time: Option<String>,
    pub counters: Option<CounterSet>,
}

impl KernelRow {
    /// What the launch moved and computed: the least bytes if the lab states them, else the sectors counted at L2; operations
    /// as they were counted.
    pub fn work(&self) -> Work {
        let counter = |name: &str| self.counters.as_ref().and_then(|counters| counters.get(name));
        let sum = |names: &[&str]| names.iter().map(|name| counter(name)).sum::<Option<f64>>();
        let counted = sum(&["lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "lts__t_sectors_op_atom.sum"])
            .map(|sectors| SECTOR_BYTES * sectors);
        let flops = sum(&FLOPS).zip(counter(FFMA)).map(|(others, fused)| others + 2.0 * fused);
        Work { bytes: self.least_bytes.map(|bytes| bytes as f64).or(counted), flops }
    }
}

const SECTOR_BYTES: f64 = 32.0;
const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
const FLOPS: [&str; 2] =
    ["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"];

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
