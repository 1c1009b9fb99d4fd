//! One kernel in one form on one device: what nobody else prints together in one row.

use warpwise_simt::occupancy::Occupancy;

use crate::backend::{ACHIEVED_OCCUPANCY_PERCENT, CounterSet, Loaded};
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
    /// What the driver says of the same kernel; `None` on the machine.
    pub loaded: Option<Loaded>,
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
    /// Where the driver, which loaded the cubin that ptxas made, says otherwise than ptxas and the calculator: `12 registers by
    /// ptxas, 14 by the driver`. Nothing where it compiled PTX of its own.
    pub fn disagreement(&self) -> Option<String> {
        let loaded = self.loaded.filter(|loaded| loaded.from_cubin)?;
        let (registers, blocks) = (self.registers.value(), self.occupancy.blocks_per_sm);
        if registers != loaded.registers {
            let source = self.registers.source();
            return Some(format!("{registers} registers by {source}, {} by the driver", loaded.registers));
        }
        let differ = blocks != loaded.blocks_per_sm;
        differ.then(|| format!("{blocks} blocks an SM by the calculator, {} by the driver", loaded.blocks_per_sm))
    }

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

#[cfg(test)]
mod tests {
    use crate::backend::Loaded;
    use crate::lab::fixture;

    #[test]
    fn a_driver_that_counts_otherwise_is_noticed_if_it_loaded_the_cubin() {
        let mut row = fixture::run().labs.remove(0).kernels.remove(0);
        assert_eq!(row.disagreement(), None, "there is no driver");
        let same = Loaded { registers: 12, local_bytes: 0, shared_bytes: 0, blocks_per_sm: 6, from_cubin: true };
        let mut disagreement = |loaded| {
            row.loaded = Some(loaded);
            row.disagreement()
        };
        assert_eq!(disagreement(same), None);
        let more = disagreement(Loaded { registers: 14, ..same });
        assert_eq!(more.as_deref(), Some("12 registers by ptxas, 14 by the driver"));
        let fewer = disagreement(Loaded { blocks_per_sm: 5, ..same });
        assert_eq!(fewer.as_deref(), Some("6 blocks an SM by the calculator, 5 by the driver"));
        assert_eq!(disagreement(Loaded { registers: 14, from_cubin: false, ..same }), None);
    }
}
