//! `warpwise.diff/1`: what `diff A B --json FILE` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Real;
use super::sweep::TimeJson;
use crate::pressure::Snapshot;
use crate::pressure::aligned::{Kind, Section};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// The two sides, in the order in which they were given.
    rows: [RowJson<'a>; 2],
    /// The source lines at which instructions differ, registers aside.
    changed: Vec<SectionJson<'a>>,
    /// Source lines in all.
    source_lines: usize,
}

#[derive(Serialize)]
struct RowJson<'a> {
    side: &'a str,
    kernel: &'a str,
    arch: &'a str,
    registers: u32,
    registers_source: &'static str,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    block: u64,
    occupancy: Real,
    blocks_per_sm: i64,
    warps_per_sm: i64,
    limiters: Vec<&'static str>,
    instructions: Option<usize>,
    /// By kind.
    groups: Option<BTreeMap<&'static str, usize>>,
    /// By opcode.
    mix: Option<BTreeMap<&'a str, usize>>,
    time: Option<TimeJson<'a>>,
    /// On a GPU of the architecture, where there is one.
    measured: Option<TimeJson<'a>>,
}

#[derive(Serialize)]
struct SectionJson<'a> {
    source: &'a str,
    gone: Vec<&'a str>,
    come: Vec<&'a str>,
}

/// The document of a comparison.
pub fn diff<'a>(sides: [(&'a str, &'a Snapshot); 2], sections: &'a [Section]) -> impl Serialize + 'a {
    let row = |(side, snapshot): (&'a str, &'a Snapshot)| {
        let Snapshot { kernel, arch, launch, resources, occupancy, code, .. } = snapshot;
        RowJson {
            side,
            kernel,
            arch,
            registers: resources.registers.value(),
            registers_source: resources.registers.source(),
            spill_store_bytes: resources.spill_store_bytes,
            spill_load_bytes: resources.spill_load_bytes,
            stack_bytes: resources.stack_bytes,
            shared_bytes: resources.static_shared_bytes,
            block: launch.shape.block_threads(),
            occupancy: Real(occupancy.theoretical()),
            blocks_per_sm: occupancy.blocks_per_sm,
            warps_per_sm: occupancy.warps_per_sm(),
            limiters: occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
            instructions: code.as_ref().map(|code| code.mix.total()),
            groups: code.as_ref().map(|code| code.mix.by_group().into_iter().collect()),
            mix: code.as_ref().map(|code| code.mix.iter().collect()),
            time: code.as_ref().and_then(|code| code.time.as_ref()).map(TimeJson::from),
            measured: code.as_ref().and_then(|code| code.measured.as_ref()).map(TimeJson::from),
        }
    };
    let section = |section: &'a Section| {
        let of = |kind| section.lines.iter().filter(|line| line.kind == kind).map(|line| line.text.as_str()).collect();
        SectionJson { source: &section.place, gone: of(Kind::Gone), come: of(Kind::Come) }
    };
    Document {
        schema: "warpwise.diff/1",
        rows: sides.map(row),
        changed: sections.iter().filter(|section| section.is_changed()).map(section).collect(),
        source_lines: sections.len(),
    }
}
