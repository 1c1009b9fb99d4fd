//! One SM, simulated on its own for the length of a quantum.
//!
//! [`Sm::run`] goes from one issue to the next and skips the cycles in which no scheduler has anything to do. What an instruction
//! means is [`crate::exec`]'s business; here it is decided when it issues and when its result is there. What leaves the SM
//! (requests to L2, stores, atomics, blocks that ended) is collected in an [`Outbox`]; at the boundary [`Sm::settle`] takes the
//! answers in.

mod dependence;
mod door;
mod fetch;
mod hold;
mod issue;
mod lsu;
mod memory;
mod port;
mod residents;
mod scheduler;

pub(crate) use fetch::FetchRates;
pub(crate) use lsu::LsuRates;
pub(crate) use port::{AtomicWrite, Write, Writes};

use crate::exec::{Block, Executor, Grid};
use crate::fault::Violation;
use crate::memory::{Memory, Words};

use super::code::TimedCode;
use super::config::Config;
use super::memory::l1::L1;
use super::memory::lines::Lines;
use super::memory::uncore::AtomicCycles;
use super::report::SmReport;
use super::stall::{Moment, StallCycles};
use super::trace::TraceEvent;
use fetch::Fetch;
use lsu::Lsu;
use residents::{BlockSlot, WarpSlot};
use scheduler::Scheduler;

/// Marks what waits for the boundary for want of anything better known.
const BOUNDARY_TOKEN: u32 = u32::MAX - 1;

/// What is the same for all SMs and the whole launch.
#[derive(Clone, Copy)]
pub(crate) struct Launch<'a> {
    pub config: &'a Config,
    pub code: &'a TimedCode,
    pub grid: &'a Grid,
    /// Program counters, in the program as written, of the kernel's instructions.
    pub original: &'a [crate::isa::Pc],
    /// Schedulers have of its code what fits.
    pub code_is_warm: bool,
    /// Whether instructions are written down for an observer.
    pub traced: bool,
    /// The SM whose warps' waits are written down too.
    pub waits_of: Option<u32>,
    /// Instructions that concern their warp alone are executed with the one before them, and only timed when they issue.
    pub runs_ahead: bool,
}

/// A request to L2 that leaves an SM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L2Request {
    /// Cycle of the instruction's issue: requests are served in this order.
    pub cycle: u64,
    /// Cycle from which the latencies count.
    pub start: f64,
    pub line: u64,
    pub kind: RequestKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestKind {
    /// Sectors, and the place in L1 that they go to, if any.
    Read {
        sectors: u8,
        place: Option<u32>,
    },
    Write {
        granules: u32,
    },
    Atomic {
        sectors: u8,
        cycles: AtomicCycles,
    },
}

/// A load or atomic whose end the boundary decides.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    warp: u16,
    /// The dependence counter that it keeps up, of SASS.
    counter: u8,
    token: u32,
    /// The latest cycle known so far.
    ready_cycle: u64,
    issue: TraceKey,
}

/// Names an issued instruction, for an observer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TraceKey {
    pub cycle: u64,
    pub pc: crate::isa::Pc,
    pub block: u64,
    pub warp: u32,
}

/// What one quantum of an SM leaves for the boundary.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub requests: Vec<L2Request>,
    pub writes: Writes,
    /// Old values of this quantum's atomics, in their order, when the boundary has applied them.
    pub old_values: Vec<Words>,
    /// When each request is answered.
    pub answers: Vec<u64>,
    pub finished: Vec<Finished>,
    pub trace: Vec<TraceEvent>,
    pub fault: Option<SmFault>,
    in_flight: Vec<InFlight>,
    /// Which request each load in flight waits for.
    waits: Vec<(u32, u32)>,
    atomics: Vec<AtomicNote>,
}

/// A block that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub slot: usize,
    pub cycle: u64,
    /// What its warps executed here.
    pub instructions: u64,
}

/// An atomic of this quantum: whose registers its old value goes to.
#[derive(Clone, Copy, Debug)]
struct AtomicNote {
    block: u16,
    warp_in_block: u16,
}

/// A fault, with when it was met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmFault {
    pub cycle: u64,
    pub block: usize,
    pub violation: Violation,
}

/// One SM with its resident blocks.
#[derive(Debug)]
pub(crate) struct Sm {
    pub index: u32,
    schedulers: Vec<Scheduler>,
    /// When each of them can issue next, as [`Sm::next_event`] found it.
    next_at: Vec<u64>,
    warps: Vec<WarpSlot>,
    pub blocks: Vec<BlockSlot>,
    lsu: Lsu,
    l1: L1,
    /// Of SASS.
    fetch: Fetch,
    lines: Lines,
    /// How much later than in an idle SM the instruction that was issued last had its turn with the LSU.
    queue_delay: u64,
    /// First cycle at which the next arrival at a barrier can pass.
    barrier_free_at: u64,
    /// Sectors written that L2 has not accepted yet, and when it will have.
    store_answers: std::collections::VecDeque<(u64, u32)>,
    stores_waiting: u64,
    stores_last_answer: u64,
    /// When the way out of L1 will have carried all that was given to it.
    write_port_free_at: f64,
    blocks_started: usize,
    /// Changes of memory that other SMs made, as far as this one sees them.
    changes: u64,
    pub outbox: Outbox,
    pub report: SmReport,
    /// Warp-cycles by the instruction that the warp stood before; lent for the time of a quantum.
    pub stalls_by_pc: Vec<StallCycles>,
    /// Placements that an observer has been shown.
    pub placements_shown: usize,
}

impl Sm {
    /// An SM without blocks, for `block_slots` of them; `shared_bytes` of its memory are not L1's.
    pub fn new(index: u32, launch: &Launch<'_>, block_slots: usize, shared_bytes: u64) -> Self {
        let config = launch.config;
        let warps = block_slots * launch.grid.warps_per_block() as usize;
        Self {
            index,
            schedulers: vec![
                Scheduler::new(config.warps_per_scheduler, launch.waits_of == Some(index));
                config.schedulers
            ],
            next_at: vec![u64::MAX; config.schedulers],
            warps: (0..warps).map(|_| WarpSlot::new(launch.code)).collect(),
            blocks: (0..block_slots).map(|_| BlockSlot::new(launch.grid)).collect(),
            lsu: Lsu::new(config.lsu, config.schedulers),
            l1: L1::new(config.l1_and_shared_bytes.saturating_sub(shared_bytes), config.l1_ways),
            fetch: Fetch::new(config.fetch, config.schedulers, launch.code.fetched_len(), launch.code_is_warm),
            lines: Lines::default(),
            queue_delay: 0,
            barrier_free_at: 0,
            store_answers: Default::default(),
            stores_waiting: 0,
            stores_last_answer: 0,
            write_port_free_at: 0.0,
            blocks_started: 0,
            changes: 0,
            outbox: Outbox::default(),
            report: SmReport::default(),
            stalls_by_pc: Vec::new(),
            placements_shown: 0,
        }
    }

    /// The next cycle at which a warp can issue; `u64::MAX` where none can before something happens outside.
    pub fn next_event(&mut self) -> u64 {
        let mut first = u64::MAX;
        for (scheduler, next_at) in self.schedulers.iter_mut().zip(&mut self.next_at) {
            *next_at = scheduler.next();
            first = first.min(*next_at);
        }
        first
    }

    /// Issues all that can issue before `end`. A fault stops it and is in the outbox.
    pub fn run(&mut self, end: u64, launch: &Launch<'_>, executor: &mut Executor<'_>, memory: &Memory) {
        loop {
            let now = self.next_event();
            if now >= end || self.outbox.fault.is_some() {
                return;
            }
            for scheduler in 0..self.schedulers.len() {
                if self.next_at[scheduler] <= now {
                    self.issue_one(scheduler, now, launch, executor, memory);
                }
            }
        }
    }

    /// Takes in what the boundary at cycle `now` decided: answers to requests, old values of atomics.
    pub fn settle(&mut self, launch: &Launch<'_>, now: u64, changes: u64) {
        self.changes = changes;
        self.deliver_atomics(launch);
        self.take_answers();
        self.resolve_in_flight(launch, now);
        self.outbox.requests.clear();
        self.outbox.answers.clear();
        self.outbox.waits.clear();
        self.outbox.writes.clear();
        self.outbox.old_values.clear();
        self.outbox.atomics.clear();
        self.outbox.finished.clear();
    }

    fn take_answers(&mut self) {
        let outbox = &mut self.outbox;
        for (number, (request, answer)) in outbox.requests.iter().zip(&outbox.answers).enumerate() {
            match request.kind {
                RequestKind::Read { place: Some(place), .. } => {
                    self.l1.arrived(place as usize, number as u32, *answer);
                }
                RequestKind::Read { .. } => {}
                RequestKind::Write { granules } => {
                    self.store_answers.push_back((*answer, super::memory::lines::sectors_of(granules).count_ones()));
                    self.stores_last_answer = self.stores_last_answer.max(*answer);
                }
                RequestKind::Atomic { sectors, .. } => {
                    self.store_answers.push_back((*answer, sectors.count_ones()));
                    self.stores_last_answer = self.stores_last_answer.max(*answer);
                }
            }
        }
        for (load, request) in &outbox.waits {
            let ready = &mut outbox.in_flight[*load as usize].ready_cycle;
            *ready = (*ready).max(outbox.answers[*request as usize]);
        }
    }

    /// Gives every load in flight its cycle, and wakes the warps that waited for it.
    fn resolve_in_flight(&mut self, launch: &Launch<'_>, now: u64) {
        let in_flight = std::mem::take(&mut self.outbox.in_flight);
        for load in &in_flight {
            let stall = super::stall::Stall::LongScoreboard;
            let warp = &mut self.warps[usize::from(load.warp)];
            let (unknown, known) = (Moment::unknown(load.token, stall), Moment::at(load.ready_cycle, stall));
            warp.scoreboard.iter_mut().filter(|moment| **moment == unknown).for_each(|moment| *moment = known);
            warp.dependence.decide(load.counter, unknown, known);
            if launch.traced {
                self.outbox.trace.push(TraceEvent::completed(self.index, load.issue, load.ready_cycle));
            }
        }
        self.outbox.in_flight = in_flight;
        self.outbox.in_flight.clear();
        for index in 0..self.warps.len() {
            let warp = &mut self.warps[index];
            warp.dependence.all_decided();
            if warp.waits_for_boundary {
                let stall = self.schedulers[warp.scheduler].ready(warp.place).stall();
                warp.floor = warp.floor.max(Moment::at(now, stall));
                self.refresh(index, launch);
            }
        }
    }

    fn deliver_atomics(&mut self, launch: &Launch<'_>) {
        let kernel = launch.grid.kernel();
        let records = self.outbox.writes.records().iter().filter_map(|record| Some((record, record.atomic?)));
        for (((record, atomic), note), old) in records.zip(&self.outbox.atomics).zip(&self.outbox.old_values) {
            let slot = &mut self.blocks[usize::from(note.block)];
            slot.atomics_pending = 0;
            if atomic.returns {
                slot.block.complete_atomic(kernel, note.warp_in_block.into(), atomic.pc, record.mask, old);
            }
        }
    }

    /// The last cycle at which L2 takes in something that this SM wrote.
    pub fn last_store_answer(&self) -> u64 {
        self.stores_last_answer
    }

    /// Sectors that loads found in L1, and that they did not.
    pub fn l1_sectors(&self) -> (u64, u64) {
        (self.l1.sectors_hit, self.l1.sectors_missed)
    }

    /// Cycles in which its schedulers issued.
    pub fn issued_cycles(&self) -> u64 {
        self.schedulers.iter().map(|scheduler| scheduler.issued_cycles).sum()
    }

    pub fn scheduler_count(&self) -> u64 {
        self.schedulers.len() as u64
    }

    /// The block in a slot.
    pub fn block(&self, slot: usize) -> &Block {
        &self.blocks[slot].block
    }
}
