//! What is compared, under Nsight Compute's names, and how equal it has to be.

use warpwise_simt::isa::Isa;

/// How far a counter of the machine can be the hardware's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Follows from the launch and the kernel's accesses alone: must be equal.
    Exact,
    /// Counts instructions: the hardware runs SASS, the machine may run PTX.
    Isa,
    /// Depends on caches and timing, which the machine models.
    Model,
    /// Accesses to local memory, most of which ptxas adds.
    Spills,
}

impl Kind {
    /// Why the two may differ, where the machine executed this.
    pub fn reason(self, isa: Isa) -> Option<&'static str> {
        match (self, isa) {
            (Kind::Exact, _) | (Kind::Isa | Kind::Spills, Isa::Sass) => None,
            (Kind::Isa, Isa::Ptx) => Some("the hardware counts SASS, the machine executed PTX"),
            (Kind::Spills, Isa::Ptx) => Some("spills are in SASS, PTX has none"),
            (Kind::Model, _) => Some("depends on caches and timing, which are modelled"),
        }
    }
}

pub const REGISTERS: &str = "launch__registers_per_thread";
pub const LIMIT_REGISTERS: &str = "launch__occupancy_limit_registers";
/// ncu reckons with no fewer registers a thread, whatever ptxas and the driver say. Measured on an H200 with ncu 2025.3.1: it says 16
/// for each of 18 kernels with 8 to 14 registers, and the number of ptxas for all others (docs/measurements).
pub const REGISTERS_LEAST: u32 = 16;
/// Blocks that shared memory alone would allow: decided by the split of L1 that the driver chose.
pub const LIMIT_SHARED: &str = "launch__occupancy_limit_shared_mem";
/// Bytes of that split, asked of the hardware so that both reckon with the same.
pub const SHARED_CONFIG: &str = "launch__shared_mem_config_size";

/// Every metric that is compared. Source of the names: Nsight Compute's documentation, "Kernel Profiling Guide".
pub static METRICS: &[(&str, Kind)] = &[
    ("launch__grid_size", Kind::Exact),
    ("launch__block_size", Kind::Exact),
    (REGISTERS, Kind::Exact),
    ("launch__waves_per_multiprocessor", Kind::Exact),
    ("launch__occupancy_limit_warps", Kind::Exact),
    ("launch__occupancy_limit_blocks", Kind::Exact),
    (LIMIT_REGISTERS, Kind::Exact),
    (LIMIT_SHARED, Kind::Exact),
    ("sm__maximum_warps_per_active_cycle_pct", Kind::Exact),
    ("sm__ctas_launched.sum", Kind::Exact),
    ("sm__warps_launched.sum", Kind::Exact),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", Kind::Exact),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Kind::Exact),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", Kind::Exact),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", Kind::Exact),
    ("smsp__inst_executed.sum", Kind::Isa),
    ("smsp__thread_inst_executed.sum", Kind::Isa),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", Kind::Isa),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", Kind::Isa),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", Kind::Isa),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", Kind::Spills),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", Kind::Spills),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", Kind::Model),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", Kind::Model),
    ("dram__bytes_read.sum", Kind::Model),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", Kind::Model),
];

/// The names to ask ncu for.
pub fn names() -> Vec<&'static str> {
    METRICS.iter().map(|(name, _)| *name).chain([SHARED_CONFIG]).collect()
}
