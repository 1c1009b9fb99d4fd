//! What of an SM's shared parts keeps a warp from issuing.

use super::door::{Closing, Door};
use super::fetch::Fetch;
use super::residents::WarpSlot;
use super::scheduler::Queued;
use super::{BOUNDARY_TOKEN, Launch, Sm};
use crate::device::Pipe;
use crate::timing::code::{Kind, TimedInstr};
use crate::timing::stall::{Moment, Stall, StallCycles};
use crate::timing::trace::{TraceEvent, Waited};

/// What keeps a warp from issuing.
pub(super) enum Held {
    /// It can issue from then on, as far as is known.
    Until(Moment),
    /// The door of its pipe is closed, that aside it can; what it is said to wait for.
    Before(Pipe, Stall),
}

impl Sm {
    /// What that warps share holds the instruction back.
    pub(super) fn held(
        &mut self,
        scheduler: usize,
        index: usize,
        instr: &TimedInstr,
        now: u64,
        launch: &Launch<'_>,
    ) -> Option<Held> {
        if launch.code.by_control
            && let Some(moment) = self.held_by_code(scheduler, index, instr, now, launch)
        {
            return Some(Held::Until(moment));
        }
        if self.schedulers[scheduler].door(instr.pipe).opens_at() > now {
            let stall = match instr.kind {
                _ if instr.pipe != Pipe::Lsu => Stall::MathPipeThrottle,
                Kind::Load | Kind::Store | Kind::Atomic => Stall::LgThrottle,
                _ => Stall::MioThrottle,
            };
            return Some(Held::Before(instr.pipe, stall));
        }
        match instr.kind {
            Kind::Load if instr.pipe == Pipe::Lsu && self.blocks[self.warps[index].block_slot].atomics_pending > 0 => {
                Some(Held::Until(Moment::unknown(BOUNDARY_TOKEN, Stall::LongScoreboard)))
            }
            Kind::Store | Kind::Atomic if instr.pipe == Pipe::Lsu => {
                self.store_room_at(now, launch.config.store_sectors_max).map(Held::Until)
            }
            _ => None,
        }
    }

    /// Books a warp's time up to `now` on what it was doing, and this cycle if it issues.
    #[inline]
    pub(super) fn account(&mut self, index: usize, now: u64, issues: bool, launch: &Launch<'_>) {
        let Self { schedulers, warps, stalls_by_pc, .. } = self;
        let warp = &mut warps[index];
        let scheduler = &mut schedulers[warp.scheduler];
        let (ready, queued) = (scheduler.ready(warp.place), scheduler.take_queued(warp.place));
        let queued_at = queued.map(|queued| (queued, scheduler.door(queued.pipe)));
        let waits = warp.account(ready, queued_at, now, issues, stalls_by_pc);
        if launch.waits_of == Some(self.index) {
            self.tell(index, &waits, queued, launch);
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

/// What was booked of a warp's time: until `ready` on what it waited for, from then on as queued or not selected.
struct Waits {
    from: u64,
    ready: u64,
    until: u64,
    stall: Stall,
}

impl Sm {
    /// Writes them down for an observer.
    #[cold]
    fn tell(&mut self, index: usize, waits: &Waits, queued: Option<Queued>, launch: &Launch<'_>) {
        let warp = &self.warps[index];
        let block = self.blocks[warp.block_slot].resident.map_or(u64::MAX, |resident| resident.linear);
        let pc = launch.original.get(warp.pc as usize).copied().unwrap_or(warp.pc);
        let scheduler = &self.schedulers[warp.scheduler];
        let closings = queued.iter().flat_map(|queued| scheduler.closings_since(queued));
        let closed = queued.map_or(Stall::NotSelected, |queued| queued.stall);
        let first = [(waits.from, waits.ready, waits.stall)];
        let all = first.into_iter().chain(Closing::waits(closings, waits.ready, waits.until, closed));
        for (from_cycle, until_cycle, stall) in all.filter(|(from, until, _)| from < until) {
            let (sm, warp_in_block) = (self.index, warp.warp_in_block as u32);
            let waited = Waited { sm, block, warp_in_block, pc, from_cycle, until_cycle, stall };
            self.outbox.trace.push(TraceEvent::Waited(waited));
        }
    }
}

impl WarpSlot {
    /// Books its time up to `now`: until it was `ready` on what it waited for, from then on as not selected, less the time for
    /// which the door was closed before which it stood.
    #[inline]
    fn account(
        &mut self,
        ready: Moment,
        queued: Option<(Queued, &Door)>,
        now: u64,
        issues: bool,
        stalls_by_pc: &mut [StallCycles],
    ) -> Waits {
        let from = self.accounted_to;
        self.accounted_to = now.max(from);
        let until = ready.cycle().unwrap_or(now).clamp(from, self.accounted_to);
        if let Some(stalls) = stalls_by_pc.get_mut(self.pc as usize) {
            stalls.add(ready.stall(), until - from);
            let mut idle = self.accounted_to - until;
            if let Some((queued, door)) = queued {
                let closed = door.closed(self.accounted_to) - queued.closed;
                stalls.add(queued.stall, closed);
                idle -= closed;
            }
            stalls.add(Stall::NotSelected, idle);
            stalls.add(Stall::Selected, u64::from(issues));
        }
        self.accounted_to += u64::from(issues);
        Waits { from, ready: until, until: now.max(from), stall: ready.stall() }
    }
}

/// Reads of the register file's banks; what the warp kept from its instruction before is lost if another warp came in between.
pub(super) fn port_reads(instr: &TimedInstr, issued_last: bool) -> [u8; 2] {
    if issued_last { instr.ports.warm } else { instr.ports.cold }
}
