//! Names of the counters that labs read, as Nsight Compute spells them.

use crate::backend::LaunchReport;
use crate::claim::Value;
use crate::lab::LabContext;

/// Instructions that warps executed, each once whatever its lanes.
pub const INSTRUCTIONS: &str = "smsp__inst_executed.sum";
/// Lanes that took part, summed over those instructions.
pub const THREAD_INSTRUCTIONS: &str = "smsp__thread_inst_executed.sum";
/// Branches, calls and returns among them.
pub const BRANCHES: &str = "smsp__sass_inst_executed_op_branch.sum";
/// Executions of a branch at which the lanes of a warp went different ways.
pub const DIVERGENT_BRANCHES: &str = "smsp__sass_branch_targets_threads_divergent.sum";
/// Lanes that did a fused multiply-add.
pub const FFMA_LANES: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
pub const WARPS: &str = "sm__warps_launched.sum";
pub const LOAD_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
pub const LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
pub const STORE_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
/// Passes that loads from shared memory took.
pub const SHARED_LOAD_PASSES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
pub const STORE_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
pub const BLOCKS: &str = "sm__ctas_launched.sum";
/// Passes through shared memory: an access that meets no bank twice is one.
pub const SHARED_ACCESSES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
pub const LOCAL_LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
pub const LOCAL_STORE_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
/// Multiply-adds, additions and multiplications of 32 bits, in lanes whose guard was true.
pub const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
pub const FADD: &str = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
pub const FMUL: &str = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
/// Sectors that all global accesses touch, and the fewest that hold as many bytes as their lanes ask for.
pub const SECTORS: &str = "memory_l2_theoretical_sectors_global";
pub const SECTORS_IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
pub const DRAM_READ_BYTES: &str = "dram__bytes_read.sum";
pub const DRAM_WRITE_BYTES: &str = "dram__bytes_write.sum";

/// Why a claim on a counter is not run where nothing counts.
pub const NOT_COUNTED: &str = "needs counters, which this backend does not give";

/// Why a claim on time is not run where a launch has none.
const NO_TIME: &str = "there is no time";

/// The counter, or the reason why there is none.
pub fn counter(report: &LaunchReport, name: &str) -> Result<f64, String> {
    report.counter(name).ok_or_else(|| NOT_COUNTED.to_owned())
}

/// One counter over another.
pub fn ratio(report: &LaunchReport, numerator: &str, denominator: &str) -> Result<f64, String> {
    Ok(counter(report, numerator)? / counter(report, denominator)?)
}

/// The time of one launch over that of another, or the reason why there is none.
pub fn time_ratio(numerator: &LaunchReport, denominator: &LaunchReport) -> Result<f64, String> {
    let times = numerator.time().zip(denominator.time());
    times.map(|(numerator, denominator)| numerator.us() / denominator.us()).ok_or_else(|| NO_TIME.to_owned())
}

/// A launch's time in microseconds.
pub fn us(report: &LaunchReport) -> Result<f64, String> {
    report.time().map(|time| time.us()).ok_or_else(|| NO_TIME.to_owned())
}

/// Records what was found for a claim, or why it was not.
pub fn record(cx: &mut LabContext<'_>, id: &str, result: Result<impl Into<Value>, String>) {
    match result {
        Ok(value) => cx.found(id, value),
        Err(reason) => cx.not_run(id, reason),
    }
}
