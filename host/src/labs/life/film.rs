//! The watched launch as a whole, for the lab book's film: where every block lived, and every issue of every warp.

use std::sync::{Arc, Mutex, PoisonError};

use warpwise_kernels::mix::mix;
use warpwise_simt::device::Device;
use warpwise_simt::isa::Program;
use warpwise_simt::timing::{Completed, Issued, Observer, Placement};

use super::recording::Recording;
use super::story::{Row, Story};
use super::{Arrays, BLOCKS, started_at_once};
use crate::backend::LaunchShape;
use crate::lab::LabError;
use crate::workbench::Workbench;

pub(crate) use super::{BLOCK, ELEMENT, N};

/// One recorded launch.
pub struct Film {
    pub device: &'static Device,
    pub blocks_per_sm: i64,
    /// In the order in which they started.
    pub placements: Vec<Placement>,
    /// The whole launch, microseconds, modelled.
    pub us: f64,
    program: Arc<Program>,
    events: Events,
}

/// The linear number of an element's block, and its warp there.
pub fn home(element: u32) -> (u64, u32) {
    (u64::from(element / BLOCK), element % BLOCK / 32)
}

impl Film {
    /// Runs the launch and watches all of it.
    pub fn record(bench: &Workbench) -> Result<Self, LabError> {
        let device = bench.device;
        let arrays = Arrays::never_written(&bench.machine(device, bench.options)?, N)?;
        let resources = bench.resources(mix.name, &device.arch(), None)?;
        let shape = LaunchShape::linear(N, BLOCK);
        let events = Shared::default();
        let registers = Some(resources.registers.value());
        let report = arrays.gpu.watch(&mix, shape, registers, arrays.args(), Box::new(events.clone()))?;
        let timing = report.timing.ok_or_else(|| LabError::Other("the launch was not timed".to_owned()))?;
        Ok(Self {
            device,
            blocks_per_sm: resources.occupancy(&device.limits, shape)?.blocks_per_sm,
            placements: timing.placements,
            us: timing.us,
            program: bench.executed(mix.name)?,
            events: events.take(),
        })
    }

    /// Places for blocks on the chip.
    pub fn slots(&self) -> i64 {
        self.blocks_per_sm * i64::from(self.device.sm_count)
    }

    pub fn waves(&self) -> f64 {
        f64::from(BLOCKS) / self.slots() as f64
    }

    /// Blocks that started before the first one ended.
    pub fn at_once(&self) -> usize {
        started_at_once(&self.placements)
    }

    /// Until the last block has ended.
    pub fn cycles(&self) -> u64 {
        self.placements.iter().map(|placement| placement.end_cycle).max().unwrap_or(0)
    }

    /// Resident blocks from each cycle on at which that changed.
    pub fn residents(&self) -> Vec<(f64, f64)> {
        super::residents(&self.placements)
    }

    /// What the lab would have recorded of this warp.
    pub fn recording(&self, block: u64, warp: u32) -> Recording {
        let mut recording = Recording::of(block, warp);
        self.events.issued.iter().for_each(|event| recording.issued(event));
        self.events.arrived.iter().for_each(|event| recording.completed(event));
        recording
    }

    /// The story of an element's thread, by cycle; empty where the run shows none.
    pub fn story(&self, recording: &Recording, element: u32) -> Vec<Row> {
        let (block, _) = home(element);
        let home = self.placements.iter().find(|placement| placement.block == block);
        let story = home.and_then(|home| Story::of(recording, &self.program, home, element));
        story.map(|story| story.rows()).unwrap_or_default()
    }
}

/// Everything that was shown.
#[derive(Default)]
struct Events {
    issued: Vec<Issued>,
    arrived: Vec<Completed>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Events>>);

impl Shared {
    fn take(&self) -> Events {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Shared {
    fn issued(&mut self, event: &Issued) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).issued.push(*event);
    }

    fn completed(&mut self, event: &Completed) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).arrived.push(*event);
    }

    fn ended(&mut self, _: &Placement) {}
}
