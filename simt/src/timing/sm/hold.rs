//! What of an SM's shared parts keeps a warp from issuing.

use super::fetch::Fetch;
use super::residents::{BlockSlot, WarpSlot};
use super::{BOUNDARY_TOKEN, Launch, Sm};
use crate::device::Pipe;
use crate::timing::code::{Kind, TimedInstr};
use crate::timing::stall::{Moment, Stall, StallCycles};
use crate::timing::trace::{TraceEvent, Waited};

/// A warp that has to wait.
pub(super) struct Held {
    pub until: Moment,
    /// If it is for room on the way of memory instructions alone: what it is said to wait for.
    pub queues_for: Option<Stall>,
}

impl Sm {
    /// Until when something that warps share holds the instruction back.
    pub(super) fn held_until(
        &mut self,
        scheduler: usize,
        index: usize,
        instr: &TimedInstr,
        now: u64,
        launch: &Launch<'_>,
    ) -> Option<Held> {
        let until = |until| Held { until, queues_for: None };
        if launch.code.by_control
            && let Some(moment) = self.held_by_code(scheduler, index, instr, now, launch)
        {
            return Some(until(moment));
        }
        if instr.pipe != Pipe::Lsu {
            let free_at = self.schedulers[scheduler].pipe_free_at[instr.pipe as usize];
            return (free_at > now).then(|| until(Moment::at(free_at, Stall::MathPipeThrottle)));
        }
        let memory = matches!(instr.kind, Kind::Load | Kind::Store | Kind::Atomic);
        let throttle = if memory { Stall::LgThrottle } else { Stall::MioThrottle };
        if let Some(until) = self.room_at(scheduler, throttle, now) {
            return Some(Held { until, queues_for: Some(throttle) });
        }
        match instr.kind {
            Kind::Load if self.blocks[self.warps[index].block_slot].atomics_pending > 0 => {
                Some(until(Moment::unknown(BOUNDARY_TOKEN, Stall::LongScoreboard)))
            }
            Kind::Store | Kind::Atomic => self.store_room_at(now, launch.config.store_sectors_max).map(until),
            _ => None,
        }
    }

    /// When the way of memory instructions takes the next one of a scheduler, if it does not now.
    #[inline]
    fn room_at(&self, scheduler: usize, throttle: Stall, now: u64) -> Option<Moment> {
        let pipe_free_at = self.schedulers[scheduler].pipe_free_at[Pipe::Lsu as usize];
        if pipe_free_at > now {
            return Some(Moment::at(pipe_free_at, Stall::MathPipeThrottle));
        }
        let queue_free_at = self.lsu.free_at(scheduler);
        (queue_free_at > now).then(|| Moment::at(queue_free_at, throttle))
    }

    /// Holds back, as long as it is their turn, warps that need nothing but room where there is none: there can be many.
    #[inline]
    pub(super) fn hold_queue(&mut self, scheduler: usize, now: u64, launch: &Launch<'_>) {
        let Some(until) = self.room_at(scheduler, Stall::Wait, now) else { return };
        let Self { index, schedulers, warps, blocks, stalls_by_pc, outbox, .. } = self;
        let scheduler = &mut schedulers[scheduler];
        while let Some(place) = scheduler.pick(now) {
            let Some(throttle) = scheduler.queues_for(place) else { return };
            let warp = &mut warps[scheduler.warp_at(place)];
            let waits = warp.account(scheduler.ready(place), now, stalls_by_pc);
            if launch.waits_of == Some(*index) {
                waits.tell(*index, warp, blocks, launch, &mut outbox.trace);
            }
            let until = if until.stall() == Stall::Wait { until.waiting_for(throttle) } else { until };
            scheduler.hold(place, until, Some(throttle));
        }
    }

    /// Books a warp's time up to `now` on what it was doing.
    #[inline]
    pub(super) fn account(&mut self, index: usize, now: u64, launch: &Launch<'_>) {
        let warp = &mut self.warps[index];
        let waits = warp.account(self.schedulers[warp.scheduler].ready(warp.place), now, &mut self.stalls_by_pc);
        if launch.waits_of == Some(self.index) {
            waits.tell(self.index, warp, &self.blocks, launch, &mut self.outbox.trace);
        }
    }

    /// Until when an instruction of SASS has to be fetched, or its sources have no port.
    fn held_by_code(
        &mut self,
        scheduler: usize,
        index: usize,
        instr: &TimedInstr,
        now: u64,
        launch: &Launch<'_>,
    ) -> Option<Moment> {
        let warp = &mut self.warps[index];
        let line = Fetch::line(warp.pc);
        if warp.line != line {
            warp.line = line;
            let ready = self.fetch.enter(scheduler, line, now);
            if ready > now {
                return Some(Moment::at(ready, Stall::NoInstruction));
            }
        }
        let scheduler = &self.schedulers[scheduler];
        let reads = port_reads(instr, scheduler.issued_last(warp.place));
        if reads == [0, 0] {
            return None;
        }
        // All reads of a bank have to fit in the cycles that an instruction has for them.
        let last_start = |bank: usize| {
            (scheduler.bank_free_at[bank] + u64::from(reads[bank])).saturating_sub(launch.config.read_cycles)
        };
        let cycle = last_start(0).max(last_start(1));
        (cycle > now).then(|| Moment::at(cycle, Stall::Dispatch))
    }
}

/// What was booked of a warp's time: until `ready` on what it waited for, from then on as not selected.
struct Waits {
    from: u64,
    ready: u64,
    until: u64,
    stall: Stall,
}

impl Waits {
    /// Writes them down for an observer.
    #[cold]
    fn tell(&self, sm: u32, warp: &WarpSlot, blocks: &[BlockSlot], launch: &Launch<'_>, trace: &mut Vec<TraceEvent>) {
        let block = blocks[warp.block_slot].resident.map_or(u64::MAX, |resident| resident.linear);
        let pc = launch.original.get(warp.pc as usize).copied().unwrap_or(warp.pc);
        for (from_cycle, until_cycle, stall) in
            [(self.from, self.ready, self.stall), (self.ready, self.until, Stall::NotSelected)]
        {
            if from_cycle < until_cycle {
                let warp_in_block = warp.warp_in_block as u32;
                trace.push(TraceEvent::Waited(Waited { sm, block, warp_in_block, pc, from_cycle, until_cycle, stall }));
            }
        }
    }
}

impl WarpSlot {
    /// Books its time up to `now`: until it was `ready` on what it waited for, from then on as not selected.
    #[inline]
    fn account(&mut self, ready: Moment, now: u64, stalls_by_pc: &mut [StallCycles]) -> Waits {
        let from = self.accounted_to;
        self.accounted_to = now.max(from);
        let until = ready.cycle().unwrap_or(now).clamp(from, self.accounted_to);
        if let Some(stalls) = stalls_by_pc.get_mut(self.pc as usize) {
            stalls.add(ready.stall(), until - from);
            stalls.add(Stall::NotSelected, self.accounted_to - until);
        }
        Waits { from, ready: until, until: self.accounted_to, stall: ready.stall() }
    }
}

/// Reads of the register file's banks; what the warp kept from its instruction before is lost if another warp came in between.
pub(super) fn port_reads(instr: &TimedInstr, issued_last: bool) -> [u8; 2] {
    if issued_last { instr.ports.warm } else { instr.ports.cold }
}
