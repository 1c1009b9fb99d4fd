//! Running a whole grid for its results: block after block, and in turns where blocks wait for each other.
//!
//! As many blocks count as resident as the device would hold at once. One runs until it ends or has had its turn; only when
//! blocks do not end are more of them started, up to the residents, which then take turns. So a block that spins on another
//! resident block sees it progress, as on the device, while ordinary grids run with one block's memory, warm in the cache.

use std::collections::VecDeque;

use super::describe::{describe, describe_party};
use super::launch::{Launch, Residency, watchdog};
use super::order::{block_at, mix};
use super::report::Report;
use crate::checks::written::Written;
use crate::checks::{Checker, Checks};
use crate::exec::{Block, Divergence, End, Executor, Grid, Probe};
use crate::fault::{Fault, FaultKind, Violation};
use crate::isa::Mask;
use crate::memory::{DirectPort, Memory, Port};

/// Instructions a warp runs before the next one of its block has a turn.
const WARP_TURN_INSTRUCTIONS: u64 = 1 << 16;
/// Rounds over a block's warps before the next block has a turn.
const BLOCK_TURN_ROUNDS: u32 = 8;
/// Drawn turns of a block before the next block has one.
const DRAWN_TURNS: u32 = 256;
/// Instructions without a change to memory after which turns are no longer drawn.
const DRAWN_WITHOUT_PROGRESS: u64 = 1 << 20;
/// One drawn turn in so many parts lanes that stand together.
const PARTING: u64 = 16;

/// Runs the launch. A fault ends it.
pub(super) fn run(
    grid: &Grid,
    launch: &Launch,
    residency: Residency,
    memory: &mut Memory,
    probe: Option<&mut dyn Probe>,
) -> Report {
    let mut run = Run::new(grid, launch, &residency, memory, probe);
    let fault = run.drive().err().map(|fault| *fault);
    let tally = run.executor.tally();
    Report {
        isa: grid.kernel().program().isa,
        counters: tally.counters(grid.kernel()),
        instructions: tally.by_instruction(),
        residency,
        timing: None,
        fault,
        findings: Vec::new(),
    }
}

/// As [`run`], with checks. `written` is what is known of global memory, and comes back with the launch's stores.
pub(super) fn run_checked(
    grid: &Grid,
    launch: &Launch,
    residency: Residency,
    memory: &mut Memory,
    probe: Option<&mut dyn Probe>,
    (checks, written): (Checks, Option<Written>),
) -> (Report, Option<Written>) {
    let mut checker = Checker::new(checks, written, probe);
    let mut report = run(grid, launch, residency, memory, Some(&mut checker));
    if let Some(fault) = &mut report.fault {
        let party = checker.party(fault);
        fault.other = party.map(|place| Box::new(describe_party(grid, &place)));
    }
    let (findings, written) = checker.finish();
    report.findings = findings
        .iter()
        .map(|finding| Fault {
            other: finding.other.map(|place| Box::new(describe_party(grid, &place))),
            ..describe(grid, memory, finding.block, &finding.violation)
        })
        .collect();
    report.fault = report.fault.or_else(|| report.findings.first().cloned());
    (report, written)
}

struct Run<'r, 'm, 'p> {
    grid: &'r Grid,
    launch: &'r Launch,
    executor: Executor<'r>,
    port: DirectPort<'m>,
    probe: Option<&'p mut dyn Probe>,
    /// Places for resident blocks: an SM and a place there. Those free now.
    places: VecDeque<Place>,
    /// Started blocks that have not ended, the next one to have a turn first.
    parked: VecDeque<Resident>,
    /// Ended blocks, whose memory the next ones use.
    spare: Vec<Block>,
    started: u64,
    without_progress: u64,
    watchdog: u64,
    /// Numbers drawn so far, for an adversarial order.
    drawn: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    sm: u32,
    number: u32,
}

#[derive(Debug)]
struct Resident {
    block: Block,
    place: Place,
    /// The port's changes when every warp was found waiting or spinning.
    stuck_since: Option<u64>,
}

/// What a turn came to.
enum Turn {
    Ended,
    /// Every warp that lives waits or spins; where one of them stands.
    Stuck(Violation),
    Unfinished,
}

impl<'r, 'm, 'p> Run<'r, 'm, 'p> {
    fn new(
        grid: &'r Grid,
        launch: &'r Launch,
        residency: &Residency,
        memory: &'m mut Memory,
        probe: Option<&'p mut dyn Probe>,
    ) -> Self {
        let wanted = residency.blocks().min(grid.block_count());
        let places = (0..residency.blocks_per_sm)
            .flat_map(|number| (0..residency.sm_count).map(move |sm| Place { sm, number }))
            .take(wanted as usize)
            .collect();
        let warps = wanted * u64::from(grid.warps_per_block());
        Self {
            grid,
            launch,
            executor: Executor::new(grid),
            port: DirectPort::new(memory),
            probe,
            places,
            parked: VecDeque::new(),
            spare: Vec::new(),
            started: 0,
            without_progress: 0,
            watchdog: watchdog(launch, warps),
            drawn: 0,
        }
    }

    fn drive(&mut self) -> Result<(), Box<Fault>> {
        while let Some(mut resident) = self.next_resident() {
            let before = (self.executor.tally().instructions(), self.port.changes(), resident.block.changes());
            let turn =
                self.take_turn(&mut resident.block).map_err(|violation| self.fault(&resident.block, &violation))?;
            let instructions = self.executor.tally().instructions() - before.0;
            let changed = (self.port.changes(), resident.block.changes()) != (before.1, before.2);
            self.without_progress = if changed { 0 } else { self.without_progress + instructions };
            match turn {
                Turn::Ended => {
                    self.without_progress = 0;
                    self.places.push_back(resident.place);
                    self.spare.push(resident.block);
                }
                Turn::Stuck(violation) => {
                    resident.stuck_since = Some(self.port.changes());
                    if self.nobody_can_help() {
                        return Err(self.fault(&resident.block, &violation));
                    }
                    self.parked.push_back(resident);
                }
                Turn::Unfinished => {
                    resident.stuck_since = None;
                    self.check_limits(&resident.block)?;
                    self.parked.push_back(resident);
                }
            }
        }
        Ok(())
    }

    /// A new block while there are places and blocks, else the one that has waited longest for a turn.
    fn next_resident(&mut self) -> Option<Resident> {
        if self.started == self.grid.block_count() {
            return self.parked.pop_front();
        }
        let Some(place) = self.places.pop_front() else { return self.parked.pop_front() };
        let linear = block_at(self.launch.block_order, self.started, self.grid.block_count());
        let mut block = self.spare.pop().unwrap_or_else(|| Block::new(self.grid));
        block.start(self.grid, linear, place.sm, place.number * self.grid.warps_per_block());
        self.started += 1;
        self.executor.tally_mut().launched(self.grid.warps_per_block(), self.grid.threads_per_block());
        Some(Resident { block, place, stuck_since: None })
    }

    /// Whether all other residents are stuck too and no new block can start.
    fn nobody_can_help(&self) -> bool {
        let more = self.started < self.grid.block_count() && !self.places.is_empty();
        let now = Some(self.port.changes());
        !more && self.parked.iter().all(|resident| resident.stuck_since == now)
    }

    /// Runs the block's warps in rounds.
    fn take_turn(&mut self, block: &mut Block) -> Result<Turn, Violation> {
        // Where nothing has changed for long, turns are even, so that a warp that spins for good is found out.
        if matches!(self.grid.divergence, Divergence::Adversarial(_)) && self.without_progress < DRAWN_WITHOUT_PROGRESS
        {
            return self.take_drawn_turn(block);
        }
        for _ in 0..BLOCK_TURN_ROUNDS {
            let mut ran = false;
            let mut spinning = None;
            for warp in 0..block.warps().len() {
                if block.warps()[warp].next().is_none() {
                    continue;
                }
                self.port.set_clock(self.executor.tally().instructions());
                match self.run_warp(block, warp, WARP_TURN_INSTRUCTIONS)? {
                    End::Stuck => spinning = spinning.or(Some(warp)),
                    _ => ran = true,
                }
            }
            if block.is_done() {
                return Ok(Turn::Ended);
            }
            if !ran && !block.release_waiting(self.grid) {
                let (kind, warp) = match spinning {
                    Some(warp) => (FaultKind::NoProgress, warp),
                    None => (FaultKind::Deadlock, first_living(block)),
                };
                return Ok(Turn::Stuck(block.standing(warp, kind)));
            }
        }
        Ok(Turn::Unfinished)
    }

    /// As [`Run::take_turn`], with warps, lanes and the length of each turn drawn from the seed.
    fn take_drawn_turn(&mut self, block: &mut Block) -> Result<Turn, Violation> {
        for _ in 0..DRAWN_TURNS {
            let ready: Vec<usize> =
                (0..block.warps().len()).filter(|warp| block.warps()[*warp].next().is_some()).collect();
            let Some(warp) = ready.get((self.draw() % ready.len().max(1) as u64) as usize) else {
                return Ok(match block.is_done() {
                    true => Turn::Ended,
                    false => Turn::Stuck(block.standing(first_living(block), FaultKind::Deadlock)),
                });
            };
            let part = if self.draw().is_multiple_of(PARTING) { self.draw() as Mask } else { 0 };
            block.choose(*warp, self.draw(), part);
            // Short turns find most; a long one now and then lets a loop get far.
            let turn = match self.draw() % 16 {
                0 => 1 << (self.draw() % 12),
                _ => 1 + self.draw() % 24,
            };
            self.port.set_clock(self.executor.tally().instructions());
            self.run_warp(block, *warp, turn)?;
        }
        Ok(Turn::Unfinished)
    }

    fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        let Divergence::Adversarial(seed) = self.grid.divergence else { return 0 };
        mix(mix(seed).wrapping_add(self.drawn))
    }

    fn run_warp(&mut self, block: &mut Block, warp: usize, most: u64) -> Result<End, Violation> {
        let used = self.executor.tally().instructions();
        let left = self.launch.step_budget.map_or(u64::MAX, |budget| budget.saturating_sub(used));
        if left == 0 {
            return Err(block.standing(warp, FaultKind::StepBudget));
        }
        let turn = most.min(left);
        match &mut self.probe {
            None => self.executor.run(block, warp, &mut self.port, turn),
            Some(probe) => self.executor.run_observed(block, warp, &mut self.port, turn, &mut **probe),
        }
    }

    fn check_limits(&self, block: &Block) -> Result<(), Box<Fault>> {
        match self.without_progress > self.watchdog {
            true => Err(self.fault(block, &block.standing(first_living(block), FaultKind::NoProgress))),
            false => Ok(()),
        }
    }

    fn fault(&self, block: &Block, violation: &Violation) -> Box<Fault> {
        Box::new(describe(self.grid, self.port.memory(), block.index(), violation))
    }
}

fn first_living(block: &Block) -> usize {
    block.warps().iter().position(|warp| !warp.is_done()).unwrap_or(0)
}
