//! What one thread does between quanta: effects in order, blocks handed out, the end and the failures of a launch.

use std::collections::VecDeque;
use std::sync::PoisonError;

use crate::exec::Executor;
use crate::fault::{FaultKind, Violation};

use super::boundary::{Boundary, Quantum};
use super::extent::Extent;
use super::memory::uncore::Uncore;
use super::run::{LeftOut, Parts, Run, in_order};
use super::sampling::{Plan, Sampler};
use super::skip::{Begun, Skip};
use super::sm::Sm;
use super::trace::{Observer, TraceEvent};

/// A fault with the index of its block.
pub(super) type Fault = ([u32; 3], Violation);

pub(super) struct Conductor<'c, 'm> {
    run: Run<'c>,
    parts: &'c Parts<'m>,
    uncore: &'c mut Uncore,
    observer: Option<&'c mut dyn Observer>,
    boundary: Boundary,
    blocks_started: u64,
    sampler: Sampler,
    left_out: Option<LeftOut>,
    /// Blocks that were begun and have no slot yet.
    begun: VecDeque<Begun>,
    /// Instructions of blocks that were left out of the timing.
    instructions_left_out: u64,
    /// When the next block can start, the whole GPU counted.
    launcher_free_at: f64,
    /// When the next block can be taken off its SM.
    retired_at: f64,
    /// Instructions when memory last changed, and its changes then.
    progress: (u64, u64),
    /// Instructions up to the last quantum, and how many quanta in a row have executed none.
    executed: u64,
    idle_quanta: u64,
}

/// A quantum begins with a warp that can issue, so few in a row go by without an instruction: warps that wait for a pipe or a queue.
/// Many are a defect of this model, which is to show as a fault and not as silence.
const IDLE_QUANTA_MAX: u64 = 100_000;

/// A block that takes so many times the instructions of those before it is not left out: it may wait for another.
const BLOCK_INSTRUCTIONS_FACTOR: u64 = 16;

/// Blocks that are left out are compared with those before them so often a wave.
const STRETCHES_PER_WAVE: u64 = 8;

/// How a launch came to its end.
pub(super) struct Ended {
    /// When the last block was taken off its SM.
    pub last_retired: u64,
    pub left_out: Option<LeftOut>,
    pub fault: Option<Fault>,
}

/// What happens after a boundary.
enum Next {
    Quantum(Quantum),
    Done,
    Fault(Fault),
}

impl<'c, 'm> Conductor<'c, 'm> {
    pub fn new(
        run: Run<'c>,
        parts: &'c Parts<'m>,
        uncore: &'c mut Uncore,
        observer: Option<&'c mut dyn Observer>,
    ) -> Self {
        Self {
            run,
            parts,
            uncore,
            observer,
            boundary: Boundary::default(),
            blocks_started: 0,
            sampler: Sampler::new(run.rules),
            left_out: None,
            begun: VecDeque::new(),
            instructions_left_out: 0,
            launcher_free_at: 0.0,
            retired_at: 0.0,
            progress: (0, 0),
            executed: 0,
            idle_quanta: 0,
        }
    }

    /// Runs the launch to its end or its first fault.
    pub fn conduct(mut self, executor: &mut Executor<'_>) -> Ended {
        let mut next = self.first_wave(executor);
        let fault = loop {
            match next {
                Next::Done => break None,
                Next::Fault(fault) => break Some(fault),
                Next::Quantum(quantum) => {
                    self.parts.run_quantum(quantum.end, &self.run.launch, executor);
                    next = self.bound(quantum, executor);
                }
            }
        };
        Ended { last_retired: self.retired_at as u64, left_out: self.left_out, fault }
    }

    /// Fills the SMs, one block each before any gets a second.
    fn first_wave(&mut self, executor: &mut Executor<'_>) -> Next {
        let mut guards = self.parts.lock();
        let mut sms = in_order(&mut guards);
        let slots = sms.first().map_or(0, |sm| sm.blocks.len());
        for slot in 0..slots {
            for sm in &mut sms {
                self.start_block(sm, slot, 0, executor);
            }
        }
        self.next(&mut sms, 0)
    }

    /// Gives the next block, if there is one, to a free slot.
    fn start_block(&mut self, sm: &mut Sm, slot: usize, earliest: u64, executor: &mut Executor<'_>) {
        let grid = self.run.launch.grid;
        if let Some(Begun { mut block, linear }) = self.begun.pop_front() {
            let start = self.start_at(earliest);
            (block.sm, block.first_warp) = (sm.index, slot as u32 * grid.warps_per_block());
            return sm.resume_block(slot, block, linear, start, &self.run.launch);
        }
        if self.blocks_started == grid.block_count() {
            return;
        }
        let linear = (self.run.block_at)(self.blocks_started);
        self.blocks_started += 1;
        let start = self.start_at(earliest);
        sm.start_block(slot, linear, start, &self.run.launch);
        executor.tally_mut().launched(grid.warps_per_block(), grid.threads_per_block());
    }

    /// When the next block can start.
    fn start_at(&mut self, earliest: u64) -> u64 {
        let start = self.launcher_free_at.max(earliest as f64);
        self.launcher_free_at = start + self.run.block_launch_interval;
        start.ceil() as u64
    }

    /// At the end of a wave, leaves out the middle of the launch if it is time for that.
    fn sample(&mut self, now: u64, sms: &[&mut Sm], executor: &mut Executor<'_>) -> Result<(), Fault> {
        if !self.sampler.is_due() {
            return Ok(());
        }
        let extent = Extent::now(sms.iter().map(|sm| &**sm), &self.parts.stalls_by_pc(), self.uncore);
        match self.sampler.consider(self.blocks_started, extent) {
            Some(plan) => {
                self.leave_out(&plan, now, executor)?;
                if self.blocks_started < self.run.launch.grid.block_count() {
                    self.sampler.resume(now, extent);
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Executes blocks for their results, and puts the pace of those before them in the place of their time.
    fn leave_out(&mut self, plan: &Plan, now: u64, executor: &mut Executor<'_>) -> Result<(), Fault> {
        let before = executor.tally().instructions();
        let skip = Skip {
            grid: self.run.launch.grid,
            positions: self.blocks_started..self.blocks_started + plan.blocks,
            block_at: self.run.block_at,
            begun_max: self.run.rules.wave_blocks as usize,
            sm_count: self.run.sm_count,
            instructions_per_block: plan.instructions_per_block,
            stretch: (self.run.rules.wave_blocks / STRETCHES_PER_WAVE).max(1),
            block_instructions_max: BLOCK_INSTRUCTIONS_FACTOR * plan.instructions_per_block as u64,
            cycle: now,
        };
        let mut memory = self.parts.memory.write().unwrap_or_else(PoisonError::into_inner);
        let skipped = skip.run(executor, &mut memory)?;
        self.boundary.count_changes(skipped.changes);
        let instructions = executor.tally().instructions() - before;
        self.instructions_left_out += instructions;
        // They count as progress whether or not they wrote.
        self.progress.0 += instructions;
        self.blocks_started += skipped.ended + skipped.begun.len() as u64;
        self.begun.extend(skipped.begun);
        let share = skipped.instructions as f64 / plan.window.all_instructions().max(1) as f64;
        let cycles = (plan.cycles_per_block / plan.instructions_per_block * skipped.instructions as f64).round() as u64;
        let mut extent = plan.window.times(share);
        extent.sm_active_cycles = cycles * u64::from(self.run.sm_count);
        let left_out = LeftOut { blocks: skipped.ended, cycles, extent, spread: plan.spread, waves: plan.waves };
        self.left_out = Some(self.left_out.map_or(left_out, |before| before.and(&left_out)));
        Ok(())
    }

    fn bound(&mut self, quantum: Quantum, executor: &mut Executor<'_>) -> Next {
        let mut guards = self.parts.lock();
        let mut sms = in_order(&mut guards);
        if let Some(fault) = first_fault(&sms) {
            return Next::Fault(fault);
        }
        self.boundary.answer_requests(quantum, &mut sms, self.uncore);
        {
            let mut memory = self.parts.memory.write().unwrap_or_else(PoisonError::into_inner);
            self.boundary.apply_writes(quantum, &mut sms, &mut memory);
        }
        let mut ended: Vec<(u64, usize, usize, u64)> = Vec::new();
        for (number, sm) in sms.iter_mut().enumerate() {
            ended.extend(sm.outbox.finished.iter().map(|block| (block.cycle, number, block.slot, block.instructions)));
            sm.settle(&self.run.launch, quantum.end, self.boundary.changes());
            self.show(sm);
        }
        ended.sort_unstable();
        let mut free = Vec::with_capacity(ended.len());
        for (cycle, sm, slot, instructions) in ended {
            self.retired_at = self.retired_at.max(cycle as f64) + self.run.block_retire_interval;
            let retired_at = self.retired_at as u64;
            self.sampler.retire(retired_at, instructions);
            free.push((sm, slot, (retired_at + self.run.block_launch_latency).max(quantum.end)));
        }
        if let Err(fault) = self.sample(quantum.end, &sms, executor) {
            return Next::Fault(fault);
        }
        for (sm, slot, earliest) in free {
            self.start_block(sms[sm], slot, earliest, executor);
        }
        if let Some(fault) = self.over_limit(&sms) {
            return Next::Fault(fault);
        }
        self.next(&mut sms, quantum.end)
    }

    /// The quantum that begins with the next event.
    fn next(&mut self, sms: &mut [&mut Sm], now: u64) -> Next {
        let earliest = |sms: &mut [&mut Sm]| sms.iter_mut().map(|sm| sm.next_event()).min().unwrap_or(u64::MAX);
        let mut begin = earliest(sms);
        if begin == u64::MAX {
            if sms.iter().all(|sm| !sm.is_busy()) {
                return Next::Done;
            }
            let helped = sms
                .iter_mut()
                .filter(|sm| sm.is_busy())
                .fold(false, |any, sm| sm.release_waiting(now, &self.run.launch) | any);
            begin = earliest(sms);
            if !helped || begin == u64::MAX {
                return stuck(sms, FaultKind::Deadlock).map_or(Next::Done, Next::Fault);
            }
        }
        let begin = begin.max(now);
        Next::Quantum(Quantum { begin, end: begin + self.run.quantum_cycles })
    }

    fn over_limit(&mut self, sms: &[&mut Sm]) -> Option<Fault> {
        let timed = sms.iter().map(|sm| sm.report.instructions + sm.report.free_instructions).sum::<u64>();
        let executed = timed + self.instructions_left_out;
        if self.progress.1 != self.boundary.changes() {
            self.progress = (executed, self.boundary.changes());
        }
        if executed >= self.run.step_budget {
            return stuck(sms, FaultKind::StepBudget);
        }
        self.idle_quanta = if executed == self.executed { self.idle_quanta + 1 } else { 0 };
        self.executed = executed;
        if executed - self.progress.0 > self.run.watchdog || self.idle_quanta > IDLE_QUANTA_MAX {
            return stuck(sms, FaultKind::NoProgress);
        }
        None
    }

    fn show(&mut self, sm: &mut Sm) {
        let Some(observer) = &mut self.observer else { return };
        for event in sm.outbox.trace.drain(..) {
            match event {
                TraceEvent::Issued(issued) => observer.issued(&issued),
                TraceEvent::Completed(completed) => observer.completed(&completed),
                TraceEvent::Waited(waited) => observer.waited(&waited),
            }
        }
        let shown = sm.placements_shown;
        sm.report.placements[shown..].iter().for_each(|placement| observer.ended(placement));
        sm.placements_shown = sm.report.placements.len();
    }
}

/// The fault that was met first, by cycle and SM.
fn first_fault(sms: &[&mut Sm]) -> Option<Fault> {
    let met = sms.iter().filter_map(|sm| Some((sm, sm.outbox.fault?)));
    let (sm, fault) = met.min_by_key(|(sm, fault)| (fault.cycle, sm.index))?;
    Some((sm.block(fault.block).index(), fault.violation))
}

/// A fault of the first warp that lives.
fn stuck(sms: &[&mut Sm], kind: FaultKind) -> Option<Fault> {
    let sm = sms.iter().find(|sm| sm.is_busy())?;
    let slot = sm.blocks.iter().find(|slot| slot.resident.is_some())?;
    let warp = slot.block.warps().iter().position(|warp| !warp.is_done()).unwrap_or(0);
    Some((slot.block.index(), slot.block.standing(warp, kind)))
}
