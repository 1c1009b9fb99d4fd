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
use super::memory::uncore::Uncore;
use super::report::{Placement, Schedulers, Timing, Traffic, ratio};
use super::run::Run;
use super::sm::{Launch, Sm};
use super::stall::StallCycles;
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

/// More threads than this wait for each other more than they work.
const THREADS_MAX: usize = 8;
/// Older writes than this many are forgotten; only the last ones can still be in L2.
const HOST_WRITES_MAX: usize = 1 << 12;

impl System {
    pub fn new(device: &Device) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        Self { device: device.clone(), config: Config::new(device), uncore: None, host_writes: Vec::new(), threads }
    }

    /// Threads that simulate SMs; at least 1. The result is the same with any number.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
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

    pub(crate) fn launch(
        &mut self,
        request: &Request<'_>,
        memory: &mut Memory,
        observer: Option<&mut dyn Observer>,
    ) -> Outcome {
        let Self { device, config, uncore, host_writes, threads } = self;
        let uncore = uncore.get_or_insert_with(|| Box::new(Uncore::new(device)));
        host_writes.drain(..).for_each(|(address, bytes)| uncore.host_wrote(address, bytes));
        let code = TimedCode::new(request.grid.kernel().program(), device, config);
        let launch =
            Launch { config, code: &code, grid: request.grid, original: request.original, traced: observer.is_some() };
        let run = Run {
            launch,
            quantum_cycles: quantum_cycles(device),
            block_launch_interval: device.parameters.block_launch_interval_cycles,
            block_retire_interval: device.parameters.block_retire_interval_cycles,
            block_launch_latency: device.parameters.block_launch_latency_cycles as u64,
            sm_count: device.sm_count,
            blocks_per_sm: request.occupancy.blocks_per_sm.max(1) as u32,
            shared_bytes: shared_carveout_bytes(device, request.occupancy),
            block_at: request.block_at,
            step_budget: request.step_budget.unwrap_or(u64::MAX),
            watchdog: request.watchdog,
            threads: *threads,
        };
        let outcome = run.run(memory, uncore, observer);
        Outcome {
            timing: timing(device, &outcome.sms, outcome.last_retired, uncore),
            tally: outcome.tally,
            fault: outcome.fault,
        }
    }
}

/// What the driver sets shared memory to: the smallest carve-out that holds the blocks that fit otherwise.
fn shared_carveout_bytes(device: &Device, occupancy: &Occupancy) -> u64 {
    let needed = (occupancy.blocks_per_sm * occupancy.allocated_shared_bytes_per_block).max(0) as u64;
    let carveouts = device.limits.shared_carveouts_bytes.iter().map(|bytes| u64::from(*bytes));
    carveouts.clone().find(|bytes| *bytes >= needed).or(carveouts.max()).unwrap_or(0)
}

fn timing(device: &Device, sms: &[Sm], last_retired: u64, uncore: &Uncore) -> Timing {
    let launch_cycles = (device.parameters.launch_overhead_ns * f64::from(device.boost_clock_mhz) / 1e3).round() as u64;
    let mut stalls = StallCycles::default();
    let mut placements = Vec::new();
    let mut schedulers = Schedulers::default();
    let mut traffic = Traffic {
        l2: uncore.counters,
        dram_read_sectors: uncore.dram.sectors_read,
        dram_write_sectors: uncore.dram.sectors_written,
        ..Traffic::default()
    };
    let mut execution_cycles = last_retired;
    let mut sm_active_cycles = 0;
    for sm in sms {
        stalls.merge(&sm.report.stalls);
        let active = active_cycles(&sm.report.placements);
        sm_active_cycles += active;
        sm.count_schedulers(&mut schedulers, active);
        let (hits, misses) = sm.l1_sectors();
        traffic.l1_hit_sectors += hits;
        traffic.l1_miss_sectors += misses;
        placements.extend_from_slice(&sm.report.placements);
        execution_cycles = execution_cycles.max(sm.last_store_answer());
    }
    placements.sort_unstable_by_key(|placement| (placement.start_cycle, placement.sm, placement.block));
    let last_end = placements.iter().map(|placement| placement.end_cycle).max().unwrap_or(0);
    let execution_cycles = execution_cycles.max(last_end);
    let cycles = launch_cycles + execution_cycles;
    let most_warps = sm_active_cycles * u64::from(device.limits.max_warps_per_sm);
    Timing {
        cycles,
        us: cycles as f64 / f64::from(device.boost_clock_mhz),
        launch_cycles,
        execution_cycles,
        schedulers,
        achieved_occupancy: ratio(stalls.total(), most_warps),
        stalls,
        traffic,
        sm_active_cycles,
        placements,
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
