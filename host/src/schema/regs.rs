//! `warpwise.regs/1`: what `regs --json FILE` writes.

use serde::Serialize;

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
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    barriers: u32,
    block: u32,
    occupancy: Real,
    limiters: Vec<&'static str>,
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
        spill_store_bytes: row.resources.spill_store_bytes,
        spill_load_bytes: row.resources.spill_load_bytes,
        stack_bytes: row.resources.stack_bytes,
        shared_bytes: row.resources.static_shared_bytes,
        barriers: row.resources.barriers,
        block: row.block,
        occupancy: Real(row.occupancy.theoretical()),
        limiters: row.occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
    });
    Document { schema: "warpwise.regs/1", rows: rows.collect() }
}
