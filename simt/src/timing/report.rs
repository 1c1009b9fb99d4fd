//! What the cycle model says about a launch.

use super::memory::uncore::UncoreCounters;
use super::sampling::Sampled;
use super::stall::{Stall, StallCycles};

/// Where and when a block lived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Linear number of the block in its grid, x fastest.
    pub block: u64,
    pub sm: u32,
    /// First cycle of its first warp, counted from the first block's.
    pub start_cycle: u64,
    /// Cycle after its last issue.
    pub end_cycle: u64,
}

/// One SM's part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SmReport {
    pub instructions: u64,
    pub free_instructions: u64,
    pub placements: Vec<Placement>,
}

/// The modelled time of a launch and what it was spent on.
///
/// Cycles count from the start of the first block; [`Timing::cycles`] adds what a launch costs around that, so that it compares
/// with a time measured by events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// All of it, in cycles of the boost clock.
    pub cycles: u64,
    /// The same in microseconds.
    pub us: f64,
    /// Of these, what the launch costs beyond the execution of blocks.
    pub launch_cycles: u64,
    /// From the first block's start to the last store's arrival in L2.
    pub execution_cycles: u64,
    pub schedulers: Schedulers,
    /// Resident warps in each state, summed over cycles and schedulers.
    pub stalls: StallCycles,
    /// The same by the instruction that the warp stood before, in the order of the kernel's code.
    pub instruction_stalls: Vec<StallCycles>,
    pub traffic: Traffic,
    /// Resident warps as a share of the most, averaged over the cycles in which an SM had any.
    pub achieved_occupancy: f64,
    /// Cycles in which an SM had a warp, all SMs together.
    pub sm_active_cycles: u64,
    /// Every block whose time was simulated, in the order in which they started.
    pub placements: Vec<Placement>,
    /// Set where not all of the launch was simulated: then every figure here but `placements` and `launch_cycles` is extrapolated.
    pub sampled: Option<Sampled>,
}

/// What the schedulers of all SMs did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedulers {
    pub count: u64,
    /// Instructions issued; free ones are not.
    pub instructions: u64,
    /// Instructions that took no issue.
    pub free_instructions: u64,
    /// Scheduler-cycles with an issue. Sequences of several machine instructions count as such.
    pub issued_cycles: u64,
    /// Scheduler-cycles without, on SMs that had warps.
    pub idle_cycles: u64,
}

/// Sectors of 32 bytes that moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Loads of global and local memory that found their sector in L1, and that did not.
    pub l1_hit_sectors: u64,
    pub l1_miss_sectors: u64,
    pub l2: UncoreCounters,
    pub dram_read_sectors: u64,
    pub dram_write_sectors: u64,
}

impl Timing {
    /// Share of scheduler-cycles with an issue, on SMs that had warps; 0 to 1.
    pub fn issue_utilisation(&self) -> f64 {
        ratio(self.schedulers.issued_cycles, self.schedulers.issued_cycles + self.schedulers.idle_cycles)
    }

    /// The model's counters under Nsight Compute's names.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let traffic = &self.traffic;
        let mut counters = vec![
            ("smsp__issue_active.sum", self.schedulers.issued_cycles),
            ("smsp__issue_inst0.sum", self.schedulers.idle_cycles),
            ("sm__cycles_active.sum", self.sm_active_cycles),
            ("sm__warps_active.sum", self.stalls.total()),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", traffic.l1_hit_sectors),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", traffic.l1_miss_sectors),
            ("lts__t_requests.sum", traffic.l2.requests),
            ("lts__t_sectors_op_read.sum", traffic.l2.read_sectors),
            ("lts__t_sectors_op_write.sum", traffic.l2.write_sectors),
            ("lts__t_sectors_op_atom.sum", traffic.l2.atomic_sectors),
            ("lts__t_sectors_srcunit_tex_lookup_hit.sum", traffic.l2.hit_sectors),
            ("lts__t_sectors_srcunit_tex_lookup_miss.sum", traffic.l2.miss_sectors),
            ("dram__bytes_read.sum", 32 * traffic.dram_read_sectors),
            ("dram__bytes_write.sum", 32 * traffic.dram_write_sectors),
        ];
        counters.extend(Stall::ALL.into_iter().map(|stall| (stall.metric(), self.stalls.get(stall))));
        counters
    }
}

pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
