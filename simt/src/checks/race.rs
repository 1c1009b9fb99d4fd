//! Races in shared and global memory: two threads, at least one write, and nothing that orders the two.
//!
//! Each word remembers its last write and up to three reads, chosen to differ in block and warp; so a race between a write and
//! a fourth reader of the same warp may go unseen, and a reported one is always there.
//!
//! Strong accesses (atomics, `.relaxed` and stronger, `.volatile`) do not race with each other, with one exception: `.volatile`
//! accesses of one warp to shared memory, the old way to let lanes talk without a barrier, since nothing orders lanes since Volta.
//! Lanes that store to one word in one instruction race where they store different values.

use std::collections::HashMap;

use super::finding::{Doing, Finding, Findings, Place};
use super::order::{Clocks, Knowledge, Thread};
use crate::exec::{AccessKind, Effect, Event};
use crate::fault::{Action, Detail, FaultKind, Violation};
use crate::isa::{Access, BarrierKind, Mask, Op, Order, Pc, Space, WARP_SIZE};
use crate::memory::sectors::lanes;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Strength {
    #[default]
    Weak,
    Volatile,
    Strong,
    Atomic,
}

/// One access to a word.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Its thread, apart so that a record takes 16 bytes.
    block: u32,
    thread: u16,
    /// Which bytes of the word; 0: there is no record.
    bytes: u8,
    strength: Strength,
    stamp: u32,
    pc: Pc,
}

const EMPTY: Record = Record { block: 0, thread: 0, bytes: 0, strength: Strength::Weak, stamp: 0, pc: 0 };

impl Record {
    fn by(&self) -> Thread {
        Thread { block: self.block, thread: self.thread }
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Record,
    reads: [Record; 3],
}

const WORDS: usize = 256;
type Page = Box<[Cell; WORDS]>;

/// Words by number, in pages.
#[derive(Debug, Default)]
struct Shadow {
    pages: Vec<Page>,
    by_number: HashMap<u64, usize>,
    recent: Option<(u64, usize)>,
}

impl Shadow {
    fn cell(&mut self, word: u64) -> &mut Cell {
        let number = word / WORDS as u64;
        let index = match self.recent {
            Some((recent, index)) if recent == number => index,
            _ => {
                let index = *self.by_number.entry(number).or_insert_with(|| {
                    self.pages.push(Box::new([Cell { write: EMPTY, reads: [EMPTY; 3] }; WORDS]));
                    self.pages.len() - 1
                });
                self.recent = Some((number, index));
                index
            }
        };
        &mut self.pages[index][word as usize % WORDS]
    }
}

/// What is kept of a block that runs.
#[derive(Debug)]
struct BlockState {
    number: u32,
    clocks: Clocks,
    shared: Shadow,
    /// Barriers by number: who has arrived, and whether it waits there.
    arrivals: HashMap<u8, Vec<(usize, Mask, bool)>>,
    published: HashMap<u64, Knowledge>,
}

#[derive(Debug, Default)]
pub(super) struct Race {
    global: Shadow,
    published: HashMap<u64, Knowledge>,
    blocks: HashMap<[u32; 3], BlockState>,
}

/// The part of an access that lies in one space.
struct Part<'e, 'g> {
    event: &'e Event<'g>,
    space: Space,
    mask: Mask,
    access: Access,
}

impl Race {
    pub fn ended(&mut self, block: [u32; 3]) {
        self.blocks.remove(&block);
    }

    pub fn access(&mut self, event: &Event<'_>, found: &mut Findings) {
        let access = match event.grid.kernel().instr(event.step.pc).op {
            Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => access,
            _ => return,
        };
        let read_only = access.space == Space::Const;
        for (space, mask) in [(Space::Global, event.note.global), (Space::Shared, event.note.shared)] {
            if mask != 0 && !read_only {
                let part = Part { event, space, mask, access };
                let state = state(&mut self.blocks, event);
                match space {
                    Space::Shared => {
                        let BlockState { number, clocks, shared, published, .. } = state;
                        part.check(*number, clocks, shared, published, found);
                    }
                    _ => part.check(state.number, &mut state.clocks, &mut self.global, &mut self.published, found),
                }
            }
        }
    }

    /// Takes in what orders threads: fences, barriers, warp-wide barriers, and exits that complete a barrier.
    pub fn synchronise(&mut self, event: &Event<'_>) {
        let step = event.step;
        let op = event.grid.kernel().instr(step.pc).op;
        let state = match (step.effect, op) {
            (Effect::None, Op::WarpSync) | (Effect::Fence(_) | Effect::Barrier { .. } | Effect::Exit { .. }, _) => {
                state(&mut self.blocks, event)
            }
            _ => return,
        };
        match (step.effect, op) {
            (Effect::Fence(_), _) => state.clocks.fence(event.warp, step.on),
            (Effect::None, Op::WarpSync) => {
                let live = event.block.warps()[event.warp].live();
                state.clocks.warp_met(event.warp, step.on, live & !step.on == 0);
            }
            (Effect::Barrier { number, .. }, Op::Barrier(kind)) => {
                let waits = kind != BarrierKind::Arrive;
                state.arrivals.entry(number).or_default().push((event.warp, step.on, waits));
            }
            _ => {}
        }
        if !state.arrivals.is_empty() {
            state.complete(event);
        }
    }
}

fn state<'r>(blocks: &'r mut HashMap<[u32; 3], BlockState>, event: &Event<'_>) -> &'r mut BlockState {
    let index = event.block.index();
    blocks.entry(index).or_insert_with(|| {
        let [x, y, z] = index.map(u64::from);
        let number = (x + u64::from(event.grid.dim[0]) * (y + u64::from(event.grid.dim[1]) * z)) as u32;
        BlockState {
            number,
            clocks: Clocks::new(number, event.block.warps().len()),
            shared: Shadow::default(),
            arrivals: HashMap::new(),
            published: HashMap::new(),
        }
    })
}

impl BlockState {
    /// Barriers that nobody waits at any more are complete.
    fn complete(&mut self, event: &Event<'_>) {
        let waiting = event.block.arrivals;
        let done: Vec<u8> = self.arrivals.keys().copied().filter(|number| waiting >> number & 1 == 0).collect();
        for number in done {
            let Some(arrivals) = self.arrivals.remove(&number) else { continue };
            let arrived: Vec<(usize, Mask)> = arrivals.iter().map(|(warp, mask, _)| (*warp, *mask)).collect();
            let waited: Vec<(usize, Mask)> =
                arrivals.iter().filter(|(.., waits)| *waits).map(|(warp, mask, _)| (*warp, *mask)).collect();
            let come =
                |warp: usize| waited.iter().filter(|(index, _)| *index == warp).fold(0, |all, (_, mask)| all | mask);
            let all = event.block.warps().iter().enumerate().all(|(index, warp)| warp.live() & !come(index) == 0);
            self.clocks.block_met(&arrived, &waited, all);
        }
    }
}

impl Part<'_, '_> {
    fn strength(&self) -> Strength {
        match (self.event.note.kind, self.access.order) {
            (AccessKind::Atomic | AccessKind::Reduction, _) => Strength::Atomic,
            (_, Order::Weak) => Strength::Weak,
            (_, Order::Volatile) => Strength::Volatile,
            _ => Strength::Strong,
        }
    }

    fn check(
        &self,
        block: u32,
        clocks: &mut Clocks,
        shadow: &mut Shadow,
        published: &mut HashMap<u64, Knowledge>,
        found: &mut Findings,
    ) {
        let strength = self.strength();
        let warp = self.event.warp;
        if strength != Strength::Weak {
            self.order(block, clocks, published);
        }
        let record = |lane: usize, bytes: u8| Record {
            block,
            thread: Thread::new(block, warp, lane).thread,
            bytes,
            strength,
            stamp: clocks.stamp(warp),
            pc: self.event.step.pc,
        };
        let writes = self.event.note.kind != AccessKind::Load;
        for lane in lanes(self.mask) {
            for (word, bytes) in words(self.event.addresses[lane], self.event.note.bytes) {
                let (mine, cell) = (record(lane, bytes), shadow.cell(word));
                let races =
                    |other: &Record| self.conflicts(&mine, other) && !clocks.knows(mine.by(), other.by(), other.stamp);
                if races(&cell.write) {
                    let action = if cell.write.strength == Strength::Atomic { Action::Atomic } else { Action::Write };
                    found.add(self.finding(lane, &cell.write, action));
                } else if let Some(read) = cell.reads.iter().find(|read| writes && races(read)) {
                    found.add(self.finding(lane, read, Action::Read));
                }
            }
        }
        if self.event.note.kind == AccessKind::Store && strength == Strength::Weak {
            self.same_word_in_one_instruction(block, clocks, found);
        }
        for lane in lanes(self.mask) {
            for (word, bytes) in words(self.event.addresses[lane], self.event.note.bytes) {
                let (mine, cell) = (record(lane, bytes), shadow.cell(word));
                match writes {
                    true => cell.write = mine,
                    false => keep_read(&mut cell.reads, mine, clocks),
                }
            }
        }
    }

    /// What strong accesses publish and learn.
    fn order(&self, block: u32, clocks: &mut Clocks, published: &mut HashMap<u64, Knowledge>) {
        let (warp, kind, order) = (self.event.warp, self.event.note.kind, self.access.order);
        let (acquires, releases) = match order {
            Order::Acquire => (true, false),
            Order::Release => (false, true),
            Order::AcquireRelease | Order::SequentiallyConsistent => (true, true),
            _ => (false, false),
        };
        if releases {
            clocks.fence(warp, self.mask);
        }
        let mut learned = false;
        for lane in lanes(self.mask) {
            let (me, place) = (Thread::new(block, warp, lane), self.event.addresses[lane]);
            if kind != AccessKind::Store
                && let Some(known) = published.get(&place)
            {
                clocks.read(me, known);
                learned = true;
            }
            if kind != AccessKind::Load
                && let Some(known) = clocks.published(me)
            {
                published.entry(place).or_default().join(known);
            }
        }
        if acquires && learned {
            clocks.fence(warp, self.mask);
        }
    }

    /// Whether two accesses of different threads touch the same byte in a way that needs an order. One of them writes.
    fn conflicts(&self, mine: &Record, other: &Record) -> bool {
        if mine.bytes & other.bytes == 0 || mine.by() == other.by() {
            return false;
        }
        let same_warp = mine.block == other.block && mine.thread / 32 == other.thread / 32;
        match (mine.strength, other.strength) {
            (Strength::Volatile, Strength::Volatile) => self.space == Space::Shared && same_warp,
            (Strength::Weak, _) | (_, Strength::Weak) => true,
            _ => false,
        }
    }

    /// Two lanes that store different values to one word at once: one of the two stays, and nothing says which.
    fn same_word_in_one_instruction(&self, block: u32, clocks: &Clocks, found: &mut Findings) {
        let kernel = self.event.grid.kernel();
        let instr = kernel.instr(self.event.step.pc);
        let (slots, _) = self.event.block.registers(self.event.warp);
        let value = |lane: usize| {
            let elements = instr.src.iter().take(self.access.count.into());
            let file = |src: crate::isa::Src| {
                let file = if src.is_constant() { &self.event.grid.constants[..] } else { slots };
                (0..self.access.ty.slots()).map(move |word| file.get(src.word(word).index()).map(|lanes| lanes.0[lane]))
            };
            elements.filter(|src| !src.is_none()).flat_map(|src| file(*src)).collect::<Vec<_>>()
        };
        let mut first: HashMap<u64, usize> = HashMap::new();
        for lane in lanes(self.mask) {
            let earlier = *first.entry(self.event.addresses[lane]).or_insert(lane);
            if earlier != lane && value(earlier) != value(lane) {
                let other = Record {
                    block,
                    thread: Thread::new(block, self.event.warp, earlier).thread,
                    bytes: 15,
                    strength: Strength::Weak,
                    stamp: clocks.stamp(self.event.warp),
                    pc: self.event.step.pc,
                };
                found.add(self.finding(lane, &other, Action::Write));
                return;
            }
        }
    }

    fn finding(&self, lane: usize, other: &Record, did: Action) -> Finding {
        let action = match self.event.note.kind {
            AccessKind::Load => Action::Read,
            AccessKind::Store => Action::Write,
            AccessKind::Atomic | AccessKind::Reduction => Action::Atomic,
        };
        let limit = (self.space == Space::Shared).then(|| self.event.block.shared().len() as u64);
        let (space, address, bytes) = (self.space, self.event.addresses[lane], self.event.note.bytes);
        Finding {
            block: self.event.block.index(),
            violation: Violation {
                kind: FaultKind::Race,
                pc: self.event.step.pc,
                warp: self.event.warp as u32,
                lane: lane as u32,
                detail: Detail::Access { space, address, bytes, action, limit },
            },
            other: Some(Place {
                block: self.event.grid.block_index(other.block.into()),
                pc: other.pc,
                warp: u32::from(other.thread) / WARP_SIZE as u32,
                lane: other.by().lane() as u32,
                doing: Doing::Access(did),
            }),
        }
    }
}

/// Words that an access touches, with the bytes of each as a mask.
fn words(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let end = address + u64::from(bytes);
    (address >> 2..=(end - 1) >> 2).map(move |word| {
        let (first, last) = (address.max(4 * word) - 4 * word, end.min(4 * word + 4) - 4 * word);
        (word, ((1u8 << last) - 1) & !((1u8 << first) - 1))
    })
}

/// Keeps a read among those of a word: in place of one that it makes needless, else so that warps and blocks differ.
fn keep_read(reads: &mut [Record; 3], mine: Record, clocks: &Clocks) {
    let needless = |old: &Record| {
        old.bytes == 0
            || old.bytes & !mine.bytes == 0
                && old.strength == mine.strength
                && clocks.knows(mine.by(), old.by(), old.stamp)
    };
    if let Some(place) = reads.iter_mut().find(|old| needless(old)) {
        *place = mine;
        return;
    }
    let first = reads[0];
    let place = match (mine.block == first.block, mine.thread / 32 == first.thread / 32) {
        (true, true) => return,
        (true, false) => 1,
        (false, _) => 2,
    };
    reads[place] = mine;
}
