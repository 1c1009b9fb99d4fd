//! The issue of one instruction: who, what it occupies, when its result is there.

use std::ops::Range;

use crate::exec::{Effect, Executor, Step, Stride};
use crate::isa::Scope;
use crate::memory::Memory;

use super::hold::{Held, port_reads};
use super::memory::Timed;
use super::port::SmPort;
use super::{Launch, Sm, SmFault, TraceKey};
use crate::device::Pipe;
use crate::timing::code::{Kind, TimedInstr};
use crate::timing::control::{Counters, NO_COUNTER};
use crate::timing::stall::{Moment, Stall};
use crate::timing::trace::TraceEvent;

impl Sm {
    /// Lets a scheduler issue in cycle `now`, if one of its warps can.
    pub(super) fn issue_one(
        &mut self,
        scheduler: usize,
        now: u64,
        launch: &Launch<'_>,
        executor: &mut Executor<'_>,
        memory: &Memory,
    ) {
        while let Some(place) = self.schedulers[scheduler].pick(now) {
            let index = self.schedulers[scheduler].warp_at(place);
            let instr = launch.code.at(self.warps[index].pc);
            if instr.kind == Kind::Free {
                self.account(index, now, false, launch);
                if !self.go_on(index, now, launch, executor, memory) {
                    return;
                }
                continue;
            }
            let held = self.held(scheduler, index, instr, now, launch);
            self.account(index, now, held.is_none(), launch);
            match held {
                Some(Held::Until(until)) => {
                    self.warps[index].waits_for_boundary = until.cycle().is_none();
                    self.schedulers[scheduler].set_ready(place, until);
                }
                Some(Held::Before(pipe, stall)) => self.schedulers[scheduler].queue(place, pipe, stall, now),
                None => return self.issue(scheduler, index, now, launch, executor, memory),
            }
        }
    }

    fn issue(
        &mut self,
        scheduler: usize,
        index: usize,
        now: u64,
        launch: &Launch<'_>,
        executor: &mut Executor<'_>,
        memory: &Memory,
    ) {
        let (warp, way_out) = (&mut self.warps[index], &mut self.schedulers[scheduler]);
        let pc = warp.pc;
        let instr = launch.code.at(pc);
        // The stalls of SASS hold back the warp, the sequences of PTX the issue slot.
        let slot_cycles = if launch.code.by_control { 1 } else { instr.issue_cycles.max(1) };
        let reads = port_reads(instr, way_out.issued_last(warp.place));
        for (free_at, reads) in way_out.bank_free_at.iter_mut().zip(reads) {
            *free_at = (*free_at).max(now) + u64::from(reads);
        }
        way_out.close(instr.pipe, now, now + instr.pipe_cycles);
        way_out.issued(warp.place, now, slot_cycles);
        warp.floor = Moment::at(now + instr.issue_cycles.max(1), Stall::Wait);
        self.queue_delay = 0;
        let mut stride = self.stride(index, instr, launch);
        if !self.step(index, now, launch, executor, memory, &mut stride) {
            return;
        }
        let Some(step) = &stride.step else {
            // The lanes that wait for others gave way to them, or nobody can go on.
            return self.refresh(index, launch);
        };
        self.report.instructions += 1;
        let slot = self.warps[index].block_slot;
        self.blocks[slot].instructions += 1;
        // Before it is timed: with the exit of its last warp, the block is gone.
        let key = launch.traced.then(|| self.trace_key(index, now, pc, launch));
        let result = self.time(index, instr, step, executor, now, launch);
        if instr.pipe == Pipe::Lsu {
            let until = self.lsu.free_at(scheduler);
            self.schedulers[scheduler].fill(Pipe::Lsu, until);
        }
        if let Some(key) = key {
            self.outbox.trace.push(TraceEvent::issued(self.index, scheduler as u32, key, step.active, step.on, result));
        }
        if launch.code.by_control {
            self.raise_counters(index, instr, result, now);
        } else {
            self.write_back(index, instr, result, launch);
        }
        if !self.warps[index].alive {
            return;
        }
        self.go_on(index, now, launch, executor, memory);
    }

    /// A stride that begins with this instruction. The register that an atomic's old value goes to is written at the boundary, so
    /// until then nothing runs ahead that may read it.
    fn stride(&self, index: usize, instr: &TimedInstr, launch: &Launch<'_>) -> Stride {
        let waits = instr.kind == Kind::Atomic || self.blocks[self.warps[index].block_slot].atomics_pending > 0;
        Stride { runs_ahead: launch.runs_ahead && !waits, ..Stride::default() }
    }

    /// Executes the warp's next instruction, unless that was done ahead of its time or lanes of its own do not let it, and leaves
    /// it in `stride`, which is empty. False on a fault.
    ///
    /// The stride is written in its place and not returned: a copy would wait for its fields to reach the cache.
    fn step(
        &mut self,
        index: usize,
        now: u64,
        launch: &Launch<'_>,
        executor: &mut Executor<'_>,
        memory: &Memory,
        stride: &mut Stride,
    ) -> bool {
        let warp = &mut self.warps[index];
        if let Some(pc) = warp.ahead.next() {
            stride.step = Some(Step { pc, active: 0, on: 0, effect: Effect::None });
            return true;
        }
        let (slot, warp) = (warp.block_slot, warp.warp_in_block);
        let mut port = SmPort {
            memory,
            writes: &mut self.outbox.writes,
            lines: &mut self.lines,
            cycle: now,
            clock_mhz: launch.config.clock_mhz,
            changes: self.changes,
        };
        if let Err(violation) = executor.stride(&mut self.blocks[slot].block, warp, &mut port, stride) {
            self.outbox.fault = Some(SmFault { cycle: now, block: slot, violation });
            return false;
        }
        if matches!(stride.step, Some(Step { effect: Effect::Waiting, .. })) {
            stride.step = None;
        }
        // Part by part: a copy of the whole would wait for both parts to reach the cache.
        let Range { start, end } = stride.ahead;
        if start < end {
            self.warps[index].ahead = start..end;
        }
        true
    }

    /// Executes instructions that take no issue, as long as the warp stands before one, and works out when it can issue the next
    /// that does. False on a fault.
    fn go_on(
        &mut self,
        index: usize,
        now: u64,
        launch: &Launch<'_>,
        executor: &mut Executor<'_>,
        memory: &Memory,
    ) -> bool {
        while let Some(instr) = self.next_if_free(index, launch) {
            let mut stride = self.stride(index, instr, launch);
            if !self.step(index, now, launch, executor, memory, &mut stride) {
                return false;
            }
            if stride.step.is_none() {
                break;
            }
            self.report.free_instructions += 1;
            let warp = &self.warps[index];
            self.blocks[warp.block_slot].instructions += 1;
            let sources = launch.code.reads(instr).iter().map(|place| warp.scoreboard[usize::from(*place)]);
            let ready = sources.max().unwrap_or(Moment::START);
            self.write_back(index, instr, ready, launch);
        }
        self.refresh(index, launch);
        true
    }

    /// When the result of an executed instruction is there; what else it takes is booked.
    fn time(
        &mut self,
        index: usize,
        instr: &TimedInstr,
        step: &Step,
        executor: &Executor<'_>,
        now: u64,
        launch: &Launch<'_>,
    ) -> Moment {
        let config = launch.config;
        let after = |cycles: u64| Moment::at(now + cycles, instr.result_stall);
        match (instr.kind, step.effect) {
            (Kind::Mio, _) => {
                self.queue_delay = self.lsu.pass(self.warps[index].scheduler, now, 1);
                after(instr.latency_cycles + self.queue_delay)
            }
            (Kind::Load | Kind::Store | Kind::Atomic, Effect::Memory) => {
                let (note, addresses) = (executor.note(), executor.access());
                self.access(&Timed { index, pc: step.pc, now, note, addresses }, launch)
            }
            (Kind::Branch, Effect::Branch { taken }) if launch.code.by_control && taken != 0 => {
                self.hold(index, now + config.taken_branch_cycles, Stall::BranchResolving);
                Moment::START
            }
            (Kind::Branch, _) if launch.code.by_control => Moment::START,
            (Kind::Branch, _) => {
                self.hold(index, now + config.branch_cycles, Stall::BranchResolving);
                Moment::START
            }
            (Kind::Exit, Effect::Exit { .. }) => {
                self.exit(index, now, launch);
                Moment::START
            }
            (Kind::Barrier, Effect::Barrier { completed, .. }) => {
                self.arrive(index, now, completed, launch);
                after(config.barrier_cycles)
            }
            (Kind::WarpSync, _) => {
                self.hold(index, now + config.warp_sync_cycles, Stall::Wait);
                Moment::START
            }
            (Kind::Fence(scope), Effect::Fence(_)) => {
                self.fence(index, scope, now, launch);
                Moment::START
            }
            (Kind::Sleep, Effect::Sleep { nanoseconds }) => {
                let cycles = u64::from(nanoseconds) * config.clock_mhz / 1000;
                self.hold(index, now + cycles.max(1), Stall::Sleeping);
                Moment::START
            }
            _ => after(instr.latency_cycles),
        }
    }

    fn hold(&mut self, index: usize, until: u64, stall: Stall) {
        let warp = &mut self.warps[index];
        warp.floor = warp.floor.max(Moment::at(until, stall));
    }

    fn exit(&mut self, index: usize, now: u64, launch: &Launch<'_>) {
        let warp = &self.warps[index];
        let slot = warp.block_slot;
        let is_done = self.blocks[slot].block.warps()[warp.warp_in_block].is_done();
        // Threads that exit may have been all that a barrier still waited for.
        self.wake_block(slot, now + launch.config.barrier_cycles, launch);
        if is_done {
            self.end_warp(index, now);
        }
    }

    /// A warp's arrival at a barrier; the last one lets everybody go.
    fn arrive(&mut self, index: usize, now: u64, completed: bool, launch: &Launch<'_>) {
        let config = launch.config;
        let arrival = self.barrier_free_at.max(now);
        self.barrier_free_at = arrival + config.barrier_interval;
        if completed {
            let release = arrival + config.barrier_interval + config.barrier_cycles;
            self.hold(index, release, Stall::Barrier);
            self.wake_block(self.warps[index].block_slot, release, launch);
        }
    }

    fn fence(&mut self, index: usize, scope: Scope, now: u64, launch: &Launch<'_>) {
        let [block, gpu, system] = launch.config.fence_cycles;
        let cycles = match scope {
            Scope::Block => block,
            Scope::Cluster | Scope::Gpu => gpu,
            Scope::System => system,
        };
        if scope != Scope::Block {
            self.l1.clear();
        }
        let stores_done = if scope == Scope::Block { 0 } else { self.stores_last_answer };
        self.hold(index, (now + cycles).max(stores_done), Stall::Membar);
    }

    /// Enters a result in the scoreboard. Under a guard the old value may remain in some lanes, so its moment counts too.
    fn write_back(&mut self, index: usize, instr: &TimedInstr, ready: Moment, launch: &Launch<'_>) {
        let warp = &mut self.warps[index];
        let mut ready = ready;
        if instr.guard != 0 && instr.kind == Kind::Free {
            ready = ready.max(warp.scoreboard[usize::from(instr.guard)].later(launch.config.guard_cycles));
        }
        for place in launch.code.writes(instr) {
            let moment = &mut warp.scoreboard[usize::from(*place)];
            *moment = if instr.guard != 0 { ready.max(*moment) } else { ready };
        }
    }

    /// Raises the dependence counters that an executed instruction of SASS names: the one of its result, the one of its sources.
    fn raise_counters(&mut self, index: usize, instr: &TimedInstr, result: Moment, now: u64) {
        let Counters { write, read, read_cycles, .. } = instr.counters;
        let dependence = &mut self.warps[index].dependence;
        if write == NO_COUNTER && result.is_undecided_value() {
            dependence.hold_back();
        }
        dependence.raise(write, result.max(Moment::at(now + 1, instr.result_stall)), now);
        let read_at = now + self.queue_delay + u64::from(read_cycles);
        dependence.raise(read, Moment::at(read_at, instr.result_stall), now);
    }

    pub(super) fn trace_key(&self, index: usize, cycle: u64, pc: crate::isa::Pc, launch: &Launch<'_>) -> TraceKey {
        let warp = &self.warps[index];
        let block = self.blocks[warp.block_slot].resident.map_or(u64::MAX, |resident| resident.linear);
        let pc = launch.original.get(pc as usize).copied().unwrap_or(pc);
        TraceKey { cycle, pc, block, warp: warp.warp_in_block as u32 }
    }
}
