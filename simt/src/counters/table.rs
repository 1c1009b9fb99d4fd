//! Name and formula of each counter.

use super::class::Class;
use super::{Counters, Kind, Value};

fn ratio(top: u64, bottom: u64) -> Value {
    Value::Ratio(top as f64 / bottom as f64)
}

/// A counter's name and formula.
pub(super) type Named = (&'static str, fn(&Counters) -> Value);

/// Global traffic of one kind, under Nsight Compute's three names.
macro_rules! global {
    ($op:literal, $kind:ident) => {
        [
            (concat!("l1tex__t_requests_pipe_lsu_mem_global_op_", $op, ".sum"), |c: &Counters| {
                Value::Count(c.access(Kind::$kind).global_requests)
            }),
            (concat!("l1tex__t_sectors_pipe_lsu_mem_global_op_", $op, ".sum"), |c: &Counters| {
                Value::Count(c.access(Kind::$kind).global_sectors)
            }),
        ]
    };
}
const GLOBAL: [[Named; 2]; 4] =
    [global!("ld", Load), global!("st", Store), global!("atom", Atomic), global!("red", Reduction)];

/// Name and formula of each counter.
pub(super) const TABLE: &[Named] = &[
    ("smsp__inst_executed.sum", |c| Value::Count(c.instructions())),
    ("smsp__thread_inst_executed.sum", |c| Value::Count(c.thread_instructions())),
    ("smsp__thread_inst_executed_pred_on.sum", |c| Value::Count(c.on_lanes)),
    ("smsp__thread_inst_executed_pred_off.sum", |c| Value::Count(c.thread_instructions() - c.on_lanes)),
    ("smsp__average_thread_inst_executed_per_inst_executed.ratio", |c| {
        ratio(c.thread_instructions(), c.instructions())
    }),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", |c| ratio(c.thread_instructions(), c.instructions())),
    ("smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio", |c| ratio(c.on_lanes, c.instructions())),
    ("smsp__sass_inst_executed_op_branch.sum", |c| Value::Count(c.branches)),
    ("smsp__sass_branch_targets_threads_divergent.sum", |c| Value::Count(c.divergent_branches)),
    ("smsp__sass_branch_targets_threads_uniform.sum", |c| Value::Count(c.branches - c.divergent_branches)),
    ("smsp__sass_average_branch_targets_threads_uniform.pct", |c| match c.branches {
        0 => Value::Ratio(f64::NAN),
        branches => Value::Ratio(100.0 * (branches - c.divergent_branches) as f64 / branches as f64),
    }),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", |c| Value::Count(c.classes[Class::Fadd as usize])),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", |c| Value::Count(c.classes[Class::Fmul as usize])),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", |c| Value::Count(c.classes[Class::Ffma as usize])),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", |c| Value::Count(c.classes[Class::Dadd as usize])),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", |c| Value::Count(c.classes[Class::Dmul as usize])),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", |c| Value::Count(c.classes[Class::Dfma as usize])),
    ("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", |c| Value::Count(c.classes[Class::Hadd as usize])),
    ("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", |c| Value::Count(c.classes[Class::Hmul as usize])),
    ("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", |c| Value::Count(c.classes[Class::Hfma as usize])),
    ("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", |c| Value::Count(c.classes[Class::Integer as usize])),
    ("smsp__sass_thread_inst_executed_op_bit_pred_on.sum", |c| Value::Count(c.classes[Class::Bit as usize])),
    ("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", |c| {
        Value::Count(c.classes[Class::Conversion as usize])
    }),
    ("smsp__sass_thread_inst_executed_op_control_pred_on.sum", |c| Value::Count(c.classes[Class::Control as usize])),
    ("smsp__sass_thread_inst_executed_op_memory_pred_on.sum", |c| Value::Count(c.classes[Class::Memory as usize])),
    ("smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum", |c| {
        Value::Count(c.classes[Class::Communication as usize])
    }),
    GLOBAL[0][0],
    GLOBAL[0][1],
    GLOBAL[1][0],
    GLOBAL[1][1],
    GLOBAL[2][0],
    GLOBAL[2][1],
    GLOBAL[3][0],
    GLOBAL[3][1],
    ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", |c| {
        ratio(c.access(Kind::Load).global_sectors, c.access(Kind::Load).global_requests)
    }),
    ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", |c| {
        ratio(c.access(Kind::Store).global_sectors, c.access(Kind::Store).global_requests)
    }),
    ("memory_l2_theoretical_sectors_global", |c| Value::Count(c.all(|a| a.global_sectors))),
    ("memory_l2_theoretical_sectors_global_ideal", |c| Value::Count(c.all(|a| a.global_sectors_ideal))),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", |c| Value::Count(c.access(Kind::Load).local_sectors)),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", |c| Value::Count(c.access(Kind::Store).local_sectors)),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", |c| Value::Count(c.all(|a| a.shared_wavefronts))),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", |c| Value::Count(c.access(Kind::Load).shared_wavefronts)),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", |c| Value::Count(c.access(Kind::Store).shared_wavefronts)),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", |c| {
        Value::Count(c.all(|a| a.shared_wavefronts - a.shared_wavefronts_ideal))
    }),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", |c| {
        let load = c.access(Kind::Load);
        Value::Count(load.shared_wavefronts - load.shared_wavefronts_ideal)
    }),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", |c| {
        let store = c.access(Kind::Store);
        Value::Count(store.shared_wavefronts - store.shared_wavefronts_ideal)
    }),
    ("memory_l1_wavefronts_shared_ideal", |c| Value::Count(c.all(|a| a.shared_wavefronts_ideal))),
    ("sm__ctas_launched.sum", |c| Value::Count(c.blocks_launched)),
    ("sm__warps_launched.sum", |c| Value::Count(c.warps_launched)),
    ("sm__threads_launched.sum", |c| Value::Count(c.threads_launched)),
    ("smsp__average_threads_launched_per_warp.ratio", |c| ratio(c.threads_launched, c.warps_launched)),
];
