//! Memory instructions: passes through the shared stage, cache lookups, requests to L2.

use crate::exec::{AccessKind, AccessNote};
use crate::isa::{Access, AtomicKind, Cache, Op, Order, WARP_SIZE};

use super::{AtomicNote, BOUNDARY_TOKEN, InFlight, L2Request, Launch, RequestKind, Sm};
use crate::timing::memory::lines::LinePart;
use crate::timing::memory::uncore::AtomicCycles;
use crate::timing::stall::{ATOMIC_TOKEN, Moment, Stall};

/// Local memory of warps lies from this line number on, far from all addresses: SM after SM, warp after warp, word after word.
const LOCAL_LINES: u64 = 1 << 50;
const WARPS_PER_SM: u64 = 64;

/// An access that is being timed.
#[derive(Clone, Copy)]
pub(super) struct Timed<'a> {
    pub index: usize,
    pub pc: crate::isa::Pc,
    pub now: u64,
    pub note: &'a AccessNote,
    pub addresses: &'a [u64; WARP_SIZE],
}

impl Sm {
    /// Times an executed access; the moment is that of its result. The lines of its global part are in `self.lines`.
    pub(super) fn access(&mut self, timed: &Timed<'_>, launch: &Launch<'_>) -> Moment {
        let note = timed.note;
        let mut ready = Moment::at(timed.now + 1, Stall::Wait);
        if note.global != 0 {
            ready = ready.max(self.through_l1(timed, false, launch));
        }
        if note.local != 0 {
            self.find_local_lines(timed, launch);
            ready = ready.max(self.through_l1(timed, true, launch));
        }
        if note.shared != 0 {
            ready = ready.max(self.shared(timed, launch));
        }
        if note.param != 0 {
            ready = ready.max(Moment::at(timed.now + launch.config.constant_cycles, Stall::ShortScoreboard));
        }
        ready
    }

    fn shared(&mut self, timed: &Timed<'_>, launch: &Launch<'_>) -> Moment {
        let (note, config) = (timed.note, launch.config);
        let mut passes = u64::from(note.wavefronts.actual);
        let extra = u64::from(note.wavefronts.actual.saturating_sub(note.wavefronts.ideal));
        let mut cycles = config.shared_cycles + config.shared_pass_cycles * extra;
        if matches!(note.kind, AccessKind::Atomic | AccessKind::Reduction) {
            self.lines.gather(timed.addresses, note.shared, note.bytes);
            self.lines.count_turns(timed.addresses, note.shared);
            let most = self.lines.as_slice().iter().map(|part| u64::from(part.turns.most)).max().unwrap_or(1);
            passes = passes.max(most);
            cycles += config.shared_atomic_cycles * most;
        }
        let scheduler = self.warps[timed.index].scheduler;
        let delay = self.lsu.pass(scheduler, timed.now, passes.div_ceil(config.lines_per_cycle));
        self.queue_delay = delay;
        let cycles = cycles + wide(note.bytes, launch) + delay;
        Moment::at(timed.now + cycles, Stall::ShortScoreboard)
    }

    /// A global or local access through the lines in `self.lines`.
    fn through_l1(&mut self, timed: &Timed<'_>, is_local: bool, launch: &Launch<'_>) -> Moment {
        let config = launch.config;
        let passes = (self.lines.len() as u64).div_ceil(config.lines_per_cycle);
        let scheduler = self.warps[timed.index].scheduler;
        self.queue_delay = self.lsu.pass(scheduler, timed.now, passes);
        let start = timed.now + self.queue_delay;
        match timed.note.kind {
            AccessKind::Load => self.load(timed, start, launch),
            AccessKind::Store => self.store(timed, start, is_local, launch),
            // A thread's own memory has nobody to be ordered against: the value was read and written at once.
            AccessKind::Atomic | AccessKind::Reduction if is_local => self.load(timed, start, launch),
            AccessKind::Atomic | AccessKind::Reduction => self.atomic(timed, start, launch),
        }
    }

    fn load(&mut self, timed: &Timed<'_>, start: u64, launch: &Launch<'_>) -> Moment {
        let config = launch.config;
        let keeps = instruction_access(timed, launch).is_none_or(|access| uses_l1(&access));
        let count = self.lines.len() as u64;
        let last_pass = count.saturating_sub(1) / config.lines_per_cycle;
        let hit = start + config.l1_hit_cycles + wide(timed.note.bytes, launch) + last_pass;
        let mut ready_cycle = hit;
        let first_wait = self.outbox.waits.len();
        let flight = self.outbox.in_flight.len() as u32;
        for pass in 0..self.lines.len() {
            let part = &self.lines.part(pass);
            let at = (start + pass as u64 / config.lines_per_cycle) as f64;
            if !keeps {
                let kind = RequestKind::Read { sectors: part.sectors(), place: None };
                let request = self.request(timed.now, at, part, kind);
                self.outbox.waits.push((flight, request));
                continue;
            }
            let found = self.l1.load(part, self.outbox.requests.len() as u32);
            ready_cycle = ready_cycle.max(found.ready_cycle);
            for request in &found.pending[..found.pending_count] {
                self.outbox.waits.push((flight, *request));
            }
            if found.missing != 0 {
                let kind = RequestKind::Read { sectors: found.missing, place: Some(found.place as u32) };
                let request = self.request(timed.now, at, part, kind);
                self.outbox.waits.push((flight, request));
            }
        }
        if self.outbox.waits.len() == first_wait {
            return Moment::at(ready_cycle, Stall::LongScoreboard);
        }
        self.fly(timed, ready_cycle, 0, launch)
    }

    fn store(&mut self, timed: &Timed<'_>, start: u64, is_local: bool, launch: &Launch<'_>) -> Moment {
        for pass in 0..self.lines.len() {
            let part = &self.lines.part(pass);
            self.stores_waiting += u64::from(part.sectors().count_ones());
            let at = self.send(start + pass as u64, part.write_flits(), launch);
            self.request(timed.now, at, part, RequestKind::Write { granules: part.granules });
            if is_local {
                self.l1.keep(part, start);
            }
        }
        Moment::START
    }

    fn atomic(&mut self, timed: &Timed<'_>, start: u64, launch: &Launch<'_>) -> Moment {
        let returns = timed.note.kind == AccessKind::Atomic;
        let flight = self.outbox.in_flight.len() as u32;
        for pass in 0..self.lines.len() {
            let part = &self.lines.part(pass);
            let sectors = part.sectors();
            let cycles = atomic_cycles(timed, part, launch);
            // The value of one lane alone comes with its address, where nobody asks for an answer.
            let is_single = !returns && part.granules.count_ones() == 1;
            let flits = if is_single { 1 } else { sectors.count_ones() + 1 };
            self.l1.drop_sectors(part.line, sectors);
            self.stores_waiting += u64::from(sectors.count_ones());
            let at = self.send(start + pass as u64, flits, launch);
            let request = self.request(timed.now, at, part, RequestKind::Atomic { sectors, cycles });
            if returns {
                self.outbox.waits.push((flight, request));
            }
        }
        let warp = &self.warps[timed.index];
        self.outbox
            .atomics
            .push(AtomicNote { block: warp.block_slot as u16, warp_in_block: warp.warp_in_block as u16 });
        self.blocks[warp.block_slot].atomics_pending += 1;
        match returns {
            true => self.fly(timed, start, ATOMIC_TOKEN, launch),
            false => Moment::START,
        }
    }

    /// When data that is ready at `cycle` leaves on the way to L2, which so many flits keep busy.
    fn send(&mut self, cycle: u64, flits: u32, launch: &Launch<'_>) -> f64 {
        let at = self.write_port_free_at.max(cycle as f64);
        self.write_port_free_at = at + f64::from(flits) * launch.config.write_flit_cycles;
        at
    }

    fn request(&mut self, cycle: u64, start: f64, part: &LinePart, kind: RequestKind) -> u32 {
        self.outbox.requests.push(L2Request { cycle, start, line: part.line, kind });
        (self.outbox.requests.len() - 1) as u32
    }

    /// Enters a load or atomic whose requests are under way.
    fn fly(&mut self, timed: &Timed<'_>, ready_cycle: u64, mark: u32, launch: &Launch<'_>) -> Moment {
        let token = self.outbox.in_flight.len() as u32 | mark;
        let issue = self.trace_key(timed.index, timed.now, timed.pc, launch);
        let counter = launch.code.at(timed.pc).counters.write;
        self.outbox.in_flight.push(InFlight { warp: timed.index as u16, counter, token, ready_cycle, issue });
        Moment::unknown(token, Stall::LongScoreboard)
    }

    /// When the SM may write again, if not now: L2 takes in only so many sectors at a time.
    pub(super) fn store_room_at(&mut self, now: u64, most: u64) -> Option<Moment> {
        while let Some((cycle, sectors)) = self.store_answers.front().copied() {
            if cycle > now {
                break;
            }
            self.stores_waiting -= u64::from(sectors);
            self.store_answers.pop_front();
        }
        if self.stores_waiting < most {
            return None;
        }
        let unknown = Moment::unknown(BOUNDARY_TOKEN, Stall::LgThrottle);
        Some(self.store_answers.front().map_or(unknown, |(cycle, _)| Moment::at(*cycle, Stall::LgThrottle)))
    }

    /// Lines of a local access: a word of the 32 lanes of a warp lies side by side.
    fn find_local_lines(&mut self, timed: &Timed<'_>, launch: &Launch<'_>) {
        let lines_per_warp = u64::from(launch.grid.kernel().program().local_bytes.div_ceil(4));
        let first =
            LOCAL_LINES + (u64::from(self.index) * WARPS_PER_SM + timed.index as u64 % WARPS_PER_SM) * lines_per_warp;
        self.lines.clear();
        let offset = timed.addresses[timed.note.local.trailing_zeros() as usize % WARP_SIZE];
        let is_uniform = timed
            .addresses
            .iter()
            .enumerate()
            .all(|(lane, other)| timed.note.local >> lane & 1 == 0 || *other >> 2 == offset >> 2);
        for word in 0..u64::from(timed.note.bytes.div_ceil(4)) {
            if is_uniform {
                self.lines.push(first + (offset >> 2) + word, timed.note.local);
                continue;
            }
            let place = |lane: usize| ((first + (timed.addresses[lane] >> 2) + word) << 7) + 4 * lane as u64;
            self.lines.add(&std::array::from_fn(place), timed.note.local, 4);
        }
    }
}

/// What an access of 16 bytes or more takes longer.
fn wide(bytes: u32, launch: &Launch<'_>) -> u64 {
    if bytes >= 16 { launch.config.wide_load_cycles } else { 0 }
}

fn instruction_access(timed: &Timed<'_>, launch: &Launch<'_>) -> Option<Access> {
    match launch.grid.kernel().instr(timed.pc).op {
        Op::Load(access) => Some(access),
        _ => None,
    }
}

/// Ordinary loads look in L1; those that must see others' stores, or say so, go to L2.
fn uses_l1(access: &Access) -> bool {
    access.order == Order::Weak && !matches!(access.cache, Cache::L2 | Cache::Volatile)
}

/// How long L2 is busy with a line of an atomic. Integer additions to one address are added up in the warp by ptxas, where it sees that
/// it is one.
fn atomic_cycles(timed: &Timed<'_>, part: &LinePart, launch: &Launch<'_>) -> AtomicCycles {
    let config = launch.config;
    let turns = part.turns;
    let by_turns =
        f64::from(turns.whole) * config.atomic_sector_cycles + f64::from(turns.partial) * config.atomic_part_cycles;
    match launch.grid.kernel().instr(timed.pc).op {
        Op::Atomic(AtomicKind::Cas, _) if part.granules.count_ones() > 1 => {
            AtomicCycles { slice: f64::from(turns.sum()) * config.atomic_compare_cycles, line: 0.0 }
        }
        Op::Atomic(_, access) if access.ty.is_float() => {
            AtomicCycles { slice: by_turns, line: f64::from(turns.most) * config.atomic_float_cycles }
        }
        _ => AtomicCycles { slice: by_turns, line: 0.0 },
    }
}
