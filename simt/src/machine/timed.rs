//! Running a grid through the cycle model.

use std::sync::Arc;

use super::describe::describe;
use super::launch::{Launch, Residency, watchdog};
use super::order::block_at;
use super::report::Report;
use crate::device::Device;
use crate::exec::{self, CpuLevel, Grid, PrepareError};
use crate::isa::{Pc, Program};
use crate::memory::Memory;
use crate::timing::{Observer, Reordered, Request, System, reorder};

/// A kernel in the order in which the cycle model runs it.
#[derive(Debug)]
pub(super) struct Scheduled {
    pub kernel: Arc<exec::Kernel>,
    /// Where each of its instructions stands in the program as written.
    original: Vec<Pc>,
}

impl Scheduled {
    pub fn prepare(
        program: &Program,
        device: &Device,
        level: CpuLevel,
        address_of: impl Fn(&str) -> Option<u64>,
    ) -> Result<Self, PrepareError> {
        let Reordered { program, original } = reorder(program, device);
        Ok(Self { kernel: Arc::new(exec::Kernel::prepare(&program, level, address_of)?), original })
    }
}

/// Runs the launch. A fault ends it.
pub(super) fn run(
    grid: &Grid,
    scheduled: &Scheduled,
    launch: &Launch,
    residency: Residency,
    memory: &mut Memory,
    system: &mut System,
    observer: Option<&mut dyn Observer>,
) -> Report {
    let count = grid.block_count();
    let warps = residency.blocks().min(count) * u64::from(grid.warps_per_block());
    let request = Request {
        grid,
        occupancy: &residency.occupancy,
        block_at: &|position| block_at(launch.block_order, position, count),
        step_budget: launch.step_budget,
        watchdog: watchdog(launch, warps),
        original: &scheduled.original,
    };
    let outcome = system.launch(&request, memory, observer);
    let fault = outcome.fault.map(|(block, violation)| describe(grid, memory, block, &violation));
    let mut timing = outcome.timing;
    let waited = timing.instruction_stalls.clone();
    for (stalls, place) in waited.into_iter().zip(&scheduled.original) {
        timing.instruction_stalls[*place as usize] = stalls;
    }
    let mut instructions = outcome.tally.by_instruction();
    let counted = instructions.clone();
    for (count, place) in counted.into_iter().zip(&scheduled.original) {
        instructions[*place as usize] = count;
    }
    Report {
        isa: grid.kernel().program().isa,
        counters: outcome.tally.counters(grid.kernel()),
        instructions,
        residency,
        timing: Some(timing),
        fault,
        findings: Vec::new(),
    }
}
