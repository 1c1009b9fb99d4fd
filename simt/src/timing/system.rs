//! One device's cycle model between launches, and a launch on it.

use crate::counters::Tally;
use crate::device::Device;
use crate::exec::Grid;
use crate::fault::Violation;
use crate::isa::Pc;
use crate::memory::Memory;
use crate::occupancy::Occupancy;

use super::code::TimedCode;
use super::config::{Config, quantum_cycles};
use super::extent::Extent;
use super::memory::uncore::Uncore;
use super::report::{Placement, Schedulers, Timing, ratio};
use super::run::{self, Run};
use super::sampling::{Rules, Sampled};
use super::sm::{Launch, Sm};
use super::trace::Observer;

/// What of a device outlives a launch: its parameters and the contents of its L2.
#[derive(Debug)]
pub struct System {
    device: Device,
    config: Config,
    /// Made with the first launch: it is large.
    uncore: Option<Box<Uncore>>,
    /// Ranges that the host wrote since the last launch, address and bytes.
    host_writes: Vec<(u64, u64)>,
    threads: usize,
    unsampled_instructions: u64,
    /// The next launch has to fetch its code first.
    code_is_cold: bool,
}

/// A launch for the cycle model.
pub(crate) struct Request<'a> {
    pub grid: &'a Grid,
    pub occupancy: &'a Occupancy,
    /// Number of the block that starts as the n-th.
    pub block_at: &'a (dyn Fn(u64) -> u64 + Sync),
    pub step_budget: Option<u64>,
    pub watchdog: u64,
    /// For an observer: the program counter, in the program as written, of each instruction of the grid's kernel.
    pub original: &'a [Pc],
}

/// What became of it.
pub(crate) struct Outcome {
    pub timing: Timing,
    pub tally: Tally,
    /// Index of the block, and what it did.
    pub fault: Option<([u32; 3], Violation)>,
}

/// Warp instructions that a launch may have and still be timed as a whole: a few seconds.
pub const UNSAMPLED_INSTRUCTIONS: u64 = 20_000_000;

/// More threads than this wait for each other more than they work.
const THREADS_MAX: usize = 8;
/// Older writes than this many are forgotten; only the last ones can still be in L2.
const HOST_WRITES_MAX: usize = 1 << 12;

impl System {
    pub fn new(device: &Device) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        Self {
            device: device.clone(),
            config: Config::new(device),
            uncore: None,
            host_writes: Vec::new(),
            threads,
            unsampled_instructions: UNSAMPLED_INSTRUCTIONS,
            code_is_cold: false,
        }
    }

    /// Threads that simulate SMs; at least 1. The result is the same with any number.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Launches with more warp instructions than this are timed by samples, once they have settled ([`Sampled`]); `u64::MAX` for
    /// none. [`UNSAMPLED_INSTRUCTIONS`] where nothing else is said. A launch that is traced or has a step budget is never sampled.
    pub fn set_unsampled_instructions(&mut self, instructions: u64) {
        self.unsampled_instructions = instructions;
    }

    /// Tells the model that the host wrote to a range of device memory: what it copies lands in L2.
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        if self.host_writes.len() == HOST_WRITES_MAX {
            self.host_writes.drain(..HOST_WRITES_MAX / 2);
        }
        self.host_writes.push((address, bytes));
    }

    /// Empties L2, for measurements from cold.
    pub fn flush_l2(&mut self) {
        self.host_writes.clear();
        if let Some(uncore) = &mut self.uncore {
            uncore.flush();
        }
    }

    /// Empties the instruction caches: the next launch has to fetch its code. Otherwise a launch finds in them what fits, as one
    /// does that was warmed up before it is measured.
    pub fn flush_code(&mut self) {
        self.code_is_cold = true;
    }

    pub(crate) fn launch(
        &mut self,
        request: &Request<'_>,
        memory: &mut Memory,
        observer: Option<&mut dyn Observer>,
    ) -> Outcome {
        let Self { device, config, uncore, host_writes, threads, unsampled_instructions, code_is_cold } = self;
        let uncore = uncore.get_or_insert_with(|| Box::new(Uncore::new(device)));
        host_writes.drain(..).for_each(|(address, bytes)| uncore.host_wrote(address, bytes));
        let code = TimedCode::new(request.grid.kernel().program(), device, config);
        let launch = Launch {
            config,
            code: &code,
            grid: request.grid,
            original: request.original,
            code_is_warm: !std::mem::take(code_is_cold),
            traced: observer.is_some(),
            waits_of: observer.as_ref().and_then(|observer| observer.waits_of()),
            runs_ahead: observer.is_none() && request.grid.divergence.is_deterministic(),
        };
        let blocks_per_sm = request.occupancy.blocks_per_sm.max(1) as u32;
        let is_whole = launch.traced || request.step_budget.is_some();
        let rules = Rules {
            unsampled_instructions: if is_whole { u64::MAX } else { *unsampled_instructions },
            wave_blocks: u64::from(device.sm_count) * u64::from(blocks_per_sm),
            blocks: request.grid.block_count(),
            l2_sectors: (device.l2_bytes as f64 * device.parameters.l2_usable_share) as u64
                / u64::from(super::memory::SECTOR_BYTES),
        };
        let run = Run {
            launch,
            rules,
            quantum_cycles: quantum_cycles(device),
            block_launch_interval: device.parameters.block_launch_interval_cycles,
            block_retire_interval: device.parameters.block_retire_interval_cycles,
            block_launch_latency: device.parameters.block_launch_latency_cycles as u64,
            sm_count: device.sm_count,
            blocks_per_sm,
            shared_bytes: shared_carveout_bytes(device, request.occupancy),
            block_at: request.block_at,
            step_budget: request.step_budget.unwrap_or(u64::MAX),
            watchdog: request.watchdog,
            threads: *threads,
        };
        let outcome = run.run(memory, uncore, observer);
        Outcome { timing: timing(device, &outcome, rules.blocks, uncore), tally: outcome.tally, fault: outcome.fault }
    }
}

/// What the driver sets shared memory to: the smallest carve-out that holds the blocks that fit otherwise.
fn shared_carveout_bytes(device: &Device, occupancy: &Occupancy) -> u64 {
    let needed = (occupancy.blocks_per_sm * occupancy.allocated_shared_bytes_per_block).max(0) as u64;
    let carveouts = device.limits.shared_carveouts_bytes.iter().map(|bytes| u64::from(*bytes));
    carveouts.clone().find(|bytes| *bytes >= needed).or(carveouts.max()).unwrap_or(0)
}

fn timing(device: &Device, outcome: &run::Outcome, blocks: u64, uncore: &Uncore) -> Timing {
    let launch_cycles = (device.parameters.launch_overhead_ns * f64::from(device.boost_clock_mhz) / 1e3).round() as u64;
    let sms = &outcome.sms;
    let mut extent = Extent::now(sms.iter(), &outcome.stalls_by_pc, uncore);
    let mut placements = Vec::new();
    let mut execution_cycles = outcome.last_retired;
    for sm in sms {
        extent.sm_active_cycles += active_cycles(&sm.report.placements);
        placements.extend_from_slice(&sm.report.placements);
        execution_cycles = execution_cycles.max(sm.last_store_answer());
    }
    placements.sort_unstable_by_key(|placement| (placement.start_cycle, placement.sm, placement.block));
    let last_end = placements.iter().map(|placement| placement.end_cycle).max().unwrap_or(0);
    let mut execution_cycles = execution_cycles.max(last_end);
    let mut instruction_stalls = outcome.stalls_by_pc.clone();
    let mut sampled = None;
    if let Some(left_out) = &outcome.left_out {
        let simulated = extent.stalls.total().max(1) as f64;
        extent = extent.plus(&left_out.extent);
        let factor = extent.stalls.total() as f64 / simulated;
        instruction_stalls.iter_mut().for_each(|stalls| *stalls = stalls.times(factor));
        execution_cycles += left_out.cycles;
        let share = left_out.cycles as f64 / execution_cycles as f64;
        let (timed_blocks, waves) = (blocks - left_out.blocks, left_out.waves);
        sampled = Some(Sampled { timed_blocks, blocks, waves, error: left_out.spread * share });
    }
    let cycles = launch_cycles + execution_cycles;
    let most_warps = extent.sm_active_cycles * u64::from(device.limits.max_warps_per_sm);
    let per_sm = sms.first().map_or(0, Sm::scheduler_count);
    Timing {
        cycles,
        us: cycles as f64 / f64::from(device.boost_clock_mhz),
        launch_cycles,
        execution_cycles,
        schedulers: Schedulers {
            count: per_sm * sms.len() as u64,
            instructions: extent.instructions,
            free_instructions: extent.free_instructions,
            issued_cycles: extent.issued_cycles,
            idle_cycles: (per_sm * extent.sm_active_cycles).saturating_sub(extent.issued_cycles),
        },
        achieved_occupancy: ratio(extent.stalls.total(), most_warps),
        stalls: extent.stalls,
        instruction_stalls,
        traffic: extent.traffic,
        sm_active_cycles: extent.sm_active_cycles,
        placements,
        sampled,
    }
}

/// Cycles in which at least one of an SM's blocks lived.
fn active_cycles(placements: &[Placement]) -> u64 {
    let mut spans: Vec<(u64, u64)> = placements.iter().map(|block| (block.start_cycle, block.end_cycle)).collect();
    spans.sort_unstable();
    let mut covered_to = 0;
    let mut active = 0;
    for (start, end) in spans {
        let from = start.max(covered_to);
        active += end.saturating_sub(from);
        covered_to = covered_to.max(end);
    }
    active
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::find;
    use crate::occupancy::{Request, calculate};

    #[test]
    fn overlapping_blocks_make_an_sm_active_once() {
        let block = |start_cycle, end_cycle| Placement { block: 0, sm: 0, start_cycle, end_cycle };
        assert_eq!(active_cycles(&[block(0, 10), block(5, 20), block(30, 40), block(31, 32)]), 30);
        assert_eq!(active_cycles(&[]), 0);
    }

    #[test]
    fn shared_memory_takes_no_more_of_l1_than_blocks_need() {
        let device = find("RTX 5070").unwrap();
        let carveout = |bytes| {
            let request = Request { static_shared_bytes: bytes, ..Request::new(256, 32) };
            shared_carveout_bytes(device, &calculate(&device.limits, &request).unwrap())
        };
        assert_eq!(carveout(0), 8 << 10, "six blocks with 1 KiB each of the system's");
        assert_eq!(carveout(4096), 32 << 10);
        assert_eq!(carveout(40_000), 100 << 10);
    }
}
