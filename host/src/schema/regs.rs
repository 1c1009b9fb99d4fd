//! `warpwise.regs/1`: what `regs --json FILE` writes.

use serde::Serialize;
use warpwise_simt::occupancy::curve::Cliff;

use super::Real;
use crate::kernels::ResourceRow;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    kernel: &'a str,
    variant: &'static str,
    arch: &'a str,
    max_registers: Option<u32>,
    registers: u32,
    registers_source: &'static str,
    /// `null` of a cubin that somebody else compiled.
    spill_store_bytes: Option<u32>,
    spill_load_bytes: Option<u32>,
    stack_bytes: u32,
    shared_bytes: u32,
    barriers: u32,
    block: u32,
    occupancy: Real,
    limiters: Vec<&'static str>,
    blocks_per_sm: i64,
    warps_per_sm: i64,
    /// The next number of registers at which fewer blocks fit.
    next_cliff: Option<StepJson>,
    /// The nearest number below at which more do.
    next_gain: Option<StepJson>,
    remarks: &'a [String],
}

/// A number of registers and what fits an SM with it.
#[derive(Serialize)]
pub(super) struct StepJson {
    registers: i64,
    blocks_per_sm: i64,
    warps_per_sm: i64,
}

impl From<Cliff> for StepJson {
    fn from(Cliff { registers, blocks_per_sm, warps_per_sm }: Cliff) -> Self {
        Self { registers, blocks_per_sm, warps_per_sm }
    }
}

/// The document of some rows.
pub fn regs(rows: &[ResourceRow]) -> impl Serialize + '_ {
    let rows = rows.iter().map(|row| RowJson {
        kernel: &row.kernel,
        variant: "",
        arch: &row.arch,
        max_registers: row.max_registers,
        registers: row.resources.registers.value(),
        registers_source: row.resources.registers.source(),
        spill_store_bytes: row.spills().map(|(out, _)| out),
        spill_load_bytes: row.spills().map(|(_, back)| back),
        stack_bytes: row.resources.stack_bytes,
        shared_bytes: row.resources.static_shared_bytes,
        barriers: row.resources.barriers,
        block: row.block,
        occupancy: Real(row.occupancy.theoretical()),
        limiters: row.occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
        blocks_per_sm: row.occupancy.blocks_per_sm,
        warps_per_sm: row.occupancy.warps_per_sm(),
        next_cliff: row.steps.more.map(StepJson::from),
        next_gain: row.steps.less.map(StepJson::from),
        remarks: &row.remarks,
    });
    Document { schema: "warpwise.regs/1", rows: rows.collect() }
}
