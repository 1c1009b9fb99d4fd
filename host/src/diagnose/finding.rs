//! What stands out in a launch: the first of these that its numbers show, in the order in which they hide the others.
//!
//! The thresholds are rules of thumb, chosen so that what is named is worth more than a tenth of the time.

use super::Facts;
use crate::claim::format::{integer, percent};

/// One thing to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    BlocksCommunicate,
    TooFewBlocks,
    Spills,
    Divergence,
    Coalescing,
    BankConflicts,
    Reuse,
    MemoryBound,
    ComputeBound,
    Latency,
}

/// Of the sectors that lanes touch, local memory's, from which on spilling is the matter.
const SPILL_SECTOR_SHARE: f64 = 0.2;
/// Active lanes of an instruction on average, below which divergence is the matter: a quarter of the lanes idle.
const ACTIVE_LANES_MIN: f64 = 24.0;
/// Sectors touched over the fewest for as many bytes, from which on the pattern is the matter.
const SECTORS_EXCESS: f64 = 1.5;
/// Passes of shared memory over the fewest, likewise.
const PASSES_EXCESS: f64 = 1.5;
/// Bytes from DRAM over the least bytes, from which on data comes more than once.
const DRAM_EXCESS: f64 = 1.5;
/// Share of the copy's bandwidth, or of the issue slots, at which a launch is as fast as that resource lets it be.
const BUSY: f64 = 0.6;

impl Finding {
    /// A word or two, for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::BlocksCommunicate => "blocks communicate",
            Self::TooFewBlocks => "too few blocks",
            Self::Spills => "spills",
            Self::Divergence => "divergence",
            Self::Coalescing => "coalescing",
            Self::BankConflicts => "bank conflicts",
            Self::Reuse => "reuse",
            Self::MemoryBound => "memory bound",
            Self::ComputeBound => "compute bound",
            Self::Latency => "latency",
        }
    }

    /// The one thing to try next.
    pub fn next(self) -> &'static str {
        match self {
            Self::BlocksCommunicate => {
                "make blocks independent, or order them by atomics and fences, or by two launches"
            }
            Self::TooFewBlocks => {
                "give every SM at least one block: smaller blocks, less work a thread, or a larger problem"
            }
            Self::Spills => {
                "let the kernel have more registers, or keep fewer values alive; then look at occupancy again"
            }
            Self::Divergence => "let threads of one warp take the same path: regroup the work by warp, or sort it",
            Self::Coalescing => {
                "let neighbouring lanes read neighbouring addresses: change the layout, or go through shared memory"
            }
            Self::BankConflicts => "pad the shared array by one element a row, or permute its columns",
            Self::Reuse => "keep what is used again in shared memory or registers: a tile",
            Self::MemoryBound => "move fewer bytes: smaller types, fused kernels; the memory itself is busy",
            Self::ComputeBound => {
                "compute less or cheaper: fewer instructions, wider accesses, tensor cores where they fit"
            }
            Self::Latency => {
                "have more in flight: several independent loads a thread, 16-byte accesses, or more resident warps"
            }
        }
    }
}

/// The finding and the number that decided it.
pub(super) fn find(facts: &Facts) -> (Finding, String) {
    let blocks = facts.shape.blocks();
    let local = facts.count("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum")
        + facts.count("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum");
    let touched = facts.count("memory_l2_theoretical_sectors_global");
    let ideal = facts.count("memory_l2_theoretical_sectors_global_ideal");
    let lanes = facts.count("smsp__average_thread_inst_executed_per_inst_executed.ratio");
    let full = facts.count("smsp__average_threads_launched_per_warp.ratio").min(32.0);
    let passes = facts.count("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    let fewest = facts.count("memory_l1_wavefronts_shared_ideal");
    let busy = share_of_copy(facts);
    let issue = facts.timing.issue_utilisation();
    let spill_share = local / (local + touched).max(1.0);
    let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
    let again = over(facts.dram_bytes().max(facts.l2_bytes()), facts.least_bytes() as f64);
    if let Some(race) = &facts.blocks_race {
        return (Finding::BlocksCommunicate, race.clone());
    }
    if blocks < u64::from(facts.device.sm_count) {
        let (blocks, sms) = (integer(blocks.into()), facts.device.sm_count);
        let s = if facts.shape.blocks() == 1 { "" } else { "s" };
        return (Finding::TooFewBlocks, format!("{blocks} block{s} for {sms} SMs"));
    }
    if facts.resources.spills() && (spill_share >= SPILL_SECTOR_SHARE || local == 0.0) {
        let bytes = facts.resources.spill_store_bytes + facts.resources.spill_load_bytes;
        return (Finding::Spills, format!("{bytes} bytes of spills a thread, {} of the sectors", percent(spill_share)));
    }
    if lanes < ACTIVE_LANES_MIN * full / 32.0 {
        return (Finding::Divergence, format!("{lanes:.1} of 32 lanes active on average"));
    }
    if over(touched, ideal) >= SECTORS_EXCESS {
        return (Finding::Coalescing, format!("{:.1} times the fewest sectors", over(touched, ideal)));
    }
    if over(passes, fewest) >= PASSES_EXCESS {
        return (Finding::BankConflicts, format!("{:.1} times the fewest passes", over(passes, fewest)));
    }
    if issue >= BUSY {
        return (Finding::ComputeBound, format!("{} of the issue slots used", percent(issue)));
    }
    if again >= DRAM_EXCESS {
        return (Finding::Reuse, format!("{again:.1} times the least bytes come from L2 or DRAM"));
    }
    if busy >= BUSY {
        return (Finding::MemoryBound, format!("{} of the copy's bandwidth", percent(busy)));
    }
    (Finding::Latency, format!("{} of the copy's bandwidth, {} of the issue slots", percent(busy), percent(issue)))
}

/// The share of a copy's bandwidth that the DRAM traffic of the launch makes.
pub(super) fn share_of_copy(facts: &Facts) -> f64 {
    let us = facts.execution_us();
    if us > 0.0 { facts.dram_bytes() / us / 1e3 / facts.ceilings.copy.giga_per_second() } else { 0.0 }
}
