//! `warpwise.sweep/1`: what `sweep KERNEL --json FILE` writes.

use serde::Serialize;

use super::{Real, SampledJson};
use crate::numbers::{Time, isa_name};
use crate::pressure::sweep::Point;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    device: &'a str,
    arch: String,
    /// Index of the best row; without times, that with the most warps of those that spill nothing.
    best: Option<usize>,
    /// Registers a thread at which one more costs blocks.
    cliffs: &'a [i64],
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    kernel: &'a str,
    constant: Option<u32>,
    max_registers: Option<u32>,
    min_blocks: Option<u32>,
    grid: [u32; 3],
    block: [u32; 3],
    registers: u32,
    registers_source: &'static str,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    occupancy: Real,
    blocks_per_sm: i64,
    warps_per_sm: i64,
    limiters: Vec<&'static str>,
    times: Vec<TimeJson<'a>>,
    best: bool,
    remarks: &'a [String],
}

#[derive(Serialize)]
pub(super) struct TimeJson<'a> {
    source: &'static str,
    isa: Option<&'static str>,
    device: &'a str,
    cycles: Option<u64>,
    us: Real,
    us_min: Option<Real>,
    us_max: Option<Real>,
    samples: Option<u32>,
    sampled: Option<SampledJson>,
}

impl<'a> From<&'a Time> for TimeJson<'a> {
    fn from(time: &'a Time) -> Self {
        let (device, us) = (time.device(), Real(time.us()));
        match time {
            Time::Modelled { cycles, isa, sampled, .. } => Self {
                source: "modelled",
                isa: Some(isa_name(*isa)),
                device,
                cycles: Some(*cycles),
                us,
                us_min: None,
                us_max: None,
                samples: None,
                sampled: sampled.map(SampledJson::from),
            },
            Time::Measured { us_min, us_max, samples, .. } => Self {
                source: "measured",
                isa: None,
                device,
                cycles: None,
                us,
                us_min: Some(Real(*us_min)),
                us_max: Some(Real(*us_max)),
                samples: Some(*samples),
                sampled: None,
            },
        }
    }
}

/// The document of a sweep.
pub fn sweep<'a>(
    device: &'a str,
    arch: String,
    points: &'a [Point],
    best: Option<usize>,
    cliffs: &'a [i64],
) -> impl Serialize + 'a {
    let row = |(index, point): (usize, &'a Point)| {
        let Point { setting, made, occupancy, times, remarks, .. } = point;
        RowJson {
            kernel: &setting.kernel,
            constant: setting.constant,
            max_registers: setting.cap,
            min_blocks: setting.min_blocks,
            grid: setting.launch.shape.grid,
            block: setting.launch.shape.block,
            registers: made.resources.registers.value(),
            registers_source: made.resources.registers.source(),
            spill_store_bytes: made.resources.spill_store_bytes,
            spill_load_bytes: made.resources.spill_load_bytes,
            stack_bytes: made.resources.stack_bytes,
            shared_bytes: made.resources.static_shared_bytes,
            occupancy: Real(occupancy.theoretical()),
            blocks_per_sm: occupancy.blocks_per_sm,
            warps_per_sm: occupancy.warps_per_sm(),
            limiters: occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
            times: times.iter().map(TimeJson::from).collect(),
            best: best == Some(index),
            remarks,
        }
    };
    Document {
        schema: "warpwise.sweep/1",
        device,
        arch,
        best,
        cliffs,
        rows: points.iter().enumerate().map(row).collect(),
    }
}
