//! `life`: what is the life of one thread?
//!
//! The launch as a whole is here: who the thread is, where its block lands, how many waves there are. What its warp did from cycle
//! to cycle is watched by a [`recording`] and told by a [`story`].

#[cfg(feature = "book")]
pub(crate) mod film;
pub(super) mod recording;
mod story;

use cuda_std::host::DevicePtr;
use warpwise_kernels::maths;
use warpwise_kernels::mix::mix;
use warpwise_simt::device::{self, Device};
use warpwise_simt::timing::Placement;

use super::census::Census;
use super::counters::{LOAD_REQUESTS, LOAD_SECTORS, ratio, record};
use super::input::{differences, noise};
use crate::backend::{BackendKind, DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::format::integer;
use crate::claim::{Claim, between, equal, holds, near};
use crate::lab::{Axis, Lab, LabContext, LabError, Mark, Plot};
use recording::{Recording, Shared};

pub static LAB: Lab = Lab {
    id: "life",
    chapter: 1,
    sections: "ch1 §10",
    question: "what is the life of one thread?",
    kernels: &["mix"],
    text: include_str!("../../../../docs/labs/life.md"),
    claims: || [claims(), story::claims()].concat(),
    run,
};

const SECTION: &str = "ch1 §10";

/// The film's launch, and the element it follows.
const BLOCKS: u32 = 1024;
pub(crate) const BLOCK: u32 = 256;
pub(crate) const N: u32 = BLOCKS * BLOCK;
pub(crate) const ELEMENT: u32 = 2690;

fn claims() -> Vec<Claim> {
    let here = |id, statement, relation| Claim::new(id, SECTION, statement, relation);
    let on_5070 = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_device("RTX 5070");
    vec![
        here("block", "the block that element 2,690 is in", equal(10)),
        here("warp", "its warp there", equal(4)),
        here("lane", "its lane", equal(2)),
        here("blocks_per_sm", "blocks of 256 that live on an SM of the RTX 5070", equal(6)).recorded(),
        here("slots", "slots of its 48 SMs", equal(288)).recorded(),
        here("waves", "waves that 1,024 blocks need", near(3.56, 0.002)).recorded(),
        on_5070("at_once", "blocks that start before the first one ends", equal(288)).on_machine(),
        on_5070(
            "ragged",
            "the last wave is ragged: slots that are empty when the last block starts",
            between(1.0, 287.0),
        )
        .on_machine(),
        here("slots_h200", "slots of an H200", equal(1056)).recorded(),
        here("waves_h200", "waves there", near(0.97, 0.002)).recorded(),
        on_5070("microseconds", "the whole launch takes about ten microseconds", between(5.0, 15.0)),
        here("one_sm", "SMs that the threads of block 10 name", equal(1)),
        here("next_block", "when block 10 has ended, a waiting block moves in", holds("one does")).on_machine(),
        here("sectors", "sectors of a warp's load", equal(4)).on_machine(),
        here("results", "mix equals the shared host function, bit for bit", holds("no element differs")),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let shape = LaunchShape::linear(N, BLOCK);
    identity(cx, &gpu, shape)?;
    slots(cx, Device::default_device(), shape, ["blocks_per_sm", "slots", "waves"])?;
    slots(cx, device::find("H200")?, shape, ["", "slots_h200", "waves_h200"])?;
    results(cx, &gpu, shape)?;
    let cold = Arrays::never_written(&cx.gpu()?, N)?;
    let report = cx.measure(&cold.gpu, &mix, "", shape, cold.args())?;
    record(cx, "sectors", ratio(&report, LOAD_SECTORS, LOAD_REQUESTS));
    record(cx, "microseconds", report.time().map(|time| time.us()).ok_or_else(|| "there is no time".to_owned()));
    if gpu.kind() == BackendKind::Sim {
        watched(cx)?;
    }
    Ok(())
}

fn results(cx: &mut LabContext<'_>, gpu: &Gpu, shape: LaunchShape) -> Result<(), LabError> {
    let (a, b) = (noise(N, 10), noise(N, 11));
    let arrays = Arrays { gpu: gpu.clone(), a: gpu.upload(&a)?, b: gpu.upload(&b)?, c: gpu.zeros(a.len())?, n: N };
    gpu.launch_shaped(&mix, shape, arrays.args())?;
    let expected = (0..N).zip(a.iter().zip(&b)).map(|(i, (&a, &b))| maths::mix(i, a, b));
    let wrong = differences(&arrays.c.download()?, expected);
    cx.holds("results", wrong.none(), wrong.to_string());
    Ok(())
}

/// Who the thread of the element is, by its own account.
fn identity(cx: &mut LabContext<'_>, gpu: &Gpu, shape: LaunchShape) -> Result<(), LabError> {
    let census = Census::take(gpu, shape)?;
    let thread = census.identities.iter().find(|thread| thread.index_1d == ELEMENT);
    let thread = *thread.ok_or_else(|| LabError::Other(format!("no thread has element {ELEMENT}")))?;
    cx.found("block", thread.block_idx[0]);
    cx.found("warp", thread.warp);
    cx.found("lane", thread.lane);
    let of_block = census.identities.iter().filter(|other| other.block_idx == thread.block_idx);
    let mut sms: Vec<u32> = of_block.map(|thread| thread.sm).collect();
    sms.dedup();
    cx.found("one_sm", sms.len());
    Ok(())
}

/// Blocks that fit an SM, slots of the device, waves of the launch; under these names, empty for none.
fn slots(cx: &mut LabContext<'_>, device: &Device, shape: LaunchShape, claims: [&str; 3]) -> Result<(), LabError> {
    let blocks_per_sm = blocks_per_sm(cx, device)?;
    let slots = blocks_per_sm * i64::from(device.sm_count);
    let [blocks, all, waves] = claims;
    if !blocks.is_empty() {
        cx.found(blocks, blocks_per_sm);
    }
    cx.found(all, slots);
    cx.found(waves, shape.blocks() as f64 / slots as f64);
    Ok(())
}

fn blocks_per_sm(cx: &LabContext<'_>, device: &Device) -> Result<i64, LabError> {
    let shape = LaunchShape::linear(BLOCK, BLOCK);
    Ok(cx.resources(mix.name, &device.arch())?.occupancy(&device.limits, shape)?.blocks_per_sm)
}

/// Blocks of the watched launch: the film's, or so many that two fill each slot, where the device has room for the film at once
/// or nearly so (an RTX 5090 has 1,020 slots: four blocks wait, and whose place they get is chance).
fn watched_blocks(slots: i64) -> u32 {
    u32::try_from(2 * slots).unwrap_or(u32::MAX / BLOCK).max(BLOCKS)
}

/// The launch again, watched: where every block lived, and what the warp of the element did.
fn watched(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let device = cx.device();
    let n = BLOCK * watched_blocks(blocks_per_sm(cx, device)? * i64::from(device.sm_count));
    let arrays = Arrays::never_written(&cx.machine(device, cx.options())?, n)?;
    let shared = Shared::new(Recording::of(u64::from(ELEMENT / BLOCK), ELEMENT % BLOCK / 32));
    let known = registers(cx, device)?;
    let shape = LaunchShape::linear(n, BLOCK);
    let report = arrays.gpu.watch(&mix, shape, known, arrays.args(), Box::new(shared.clone()))?;
    let here = lived(&report);
    placements(cx, here);
    story::tell(cx, &shared.take(), here)
}

fn registers(cx: &LabContext<'_>, device: &Device) -> Result<Option<u32>, LabError> {
    Ok(Some(cx.resources(mix.name, &device.arch())?.registers.value()))
}

/// Where and when each block lived, in the order in which they started.
fn lived(report: &LaunchReport) -> &[Placement] {
    report.timing.as_ref().map_or(&[], |timing| &timing.placements)
}

fn placements(cx: &mut LabContext<'_>, placements: &[Placement]) {
    cx.found("at_once", started_at_once(placements));
    let last_start = placements.iter().map(|placement| placement.start_cycle).max().unwrap_or(0);
    let living = placements.iter().filter(|placement| placement.end_cycle > last_start).count();
    cx.found("ragged", started_at_once(placements) as i64 - living as i64);
    let block = u64::from(ELEMENT / BLOCK);
    if let Some(home) = placements.iter().find(|placement| placement.block == block) {
        cx.note(format!(
            "The machine placed block {block} on SM {} (the film: on SM 10; no document promises either).",
            home.sm
        ));
        let next = placements.iter().find(|next| next.sm == home.sm && next.start_cycle >= home.end_cycle);
        let otherwise = format!("none starts on SM {} after cycle {}", home.sm, home.end_cycle);
        cx.holds("next_block", next.is_some(), otherwise);
    }
    let (x, y) = (Axis::linear("cycle"), Axis::linear("resident blocks"));
    let title = format!("{} blocks pass through the slots", integer(placements.len() as i128));
    cx.plot(Plot::new(title, x, y).series("mix", Mark::Steps, residents(placements)));
}

/// Blocks that started before any had ended.
fn started_at_once(placements: &[Placement]) -> usize {
    let first_end = placements.iter().map(|placement| placement.end_cycle).min().unwrap_or(0);
    placements.iter().filter(|placement| placement.start_cycle < first_end).count()
}

/// How many blocks were resident from each cycle on at which that changed.
fn residents(placements: &[Placement]) -> Vec<(f64, f64)> {
    let starts = placements.iter().map(|placement| (placement.start_cycle, 1));
    let ends = placements.iter().map(|placement| (placement.end_cycle, -1));
    let mut changes: Vec<(u64, i64)> = starts.chain(ends).collect();
    changes.sort_unstable();
    let mut resident = 0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for same_cycle in changes.chunk_by(|(cycle, _), (next, _)| cycle == next) {
        resident += same_cycle.iter().map(|(_, change)| change).sum::<i64>();
        points.extend(same_cycle.first().map(|(cycle, _)| (*cycle as f64, resident as f64)));
    }
    points
}

/// What `mix` reads and writes.
struct Arrays {
    gpu: Gpu,
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    n: u32,
}

impl Arrays {
    /// In a new context, with nothing of them in L2: what the host copies to a device passes through L2 and stays there.
    fn never_written(gpu: &Gpu, n: u32) -> Result<Self, LabError> {
        let array = || gpu.uninitialised(n as usize);
        Ok(Self { gpu: gpu.clone(), a: array()?, b: array()?, c: array()?, n })
    }

    fn args(&self) -> (DevicePtr<f32>, DevicePtr<f32>, DevicePtr<f32>, u32) {
        (self.a.ptr(), self.b.ptr(), self.c.ptr(), self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_film_is_watched_as_it_is_where_every_slot_gets_a_second_block_and_is_longer_elsewhere() {
        assert_eq!(watched_blocks(288), 1024);
        assert_eq!(watched_blocks(1020), 2040);
    }

    fn placement(block: u64, start_cycle: u64, end_cycle: u64) -> Placement {
        Placement { block, sm: 0, start_cycle, end_cycle }
    }

    #[test]
    fn a_block_that_starts_when_one_has_ended_was_not_in_the_first_wave() {
        let placements = [placement(0, 0, 10), placement(1, 2, 9), placement(2, 9, 20), placement(3, 12, 20)];
        assert_eq!(started_at_once(&placements), 2);
        let points = residents(&placements);
        assert_eq!(points, [(0.0, 1.0), (2.0, 2.0), (9.0, 2.0), (10.0, 1.0), (12.0, 2.0), (20.0, 0.0)]);
    }
}
