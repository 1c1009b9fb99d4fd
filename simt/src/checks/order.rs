//! What happens before what in one launch.
//!
//! Each warp has a clock that ticks whenever its lanes may have ordered themselves with others, so an access is named by its
//! thread and the stamp of that clock. What a thread knows to have happened is kept as coarsely as it came about: a barrier of the
//! whole block tells everybody everything (`base`), a warp-wide barrier of all lanes does so within the warp (`warp_base`), others tell
//! some lanes or warps. Fences and atomics go by the PTX memory model's release and acquire patterns: what a thread had known at
//! its last fence is published by its later strong writes; who reads such a word knows it after a fence or a barrier of its own.

use std::collections::HashMap;
use std::rc::Rc;

use crate::isa::{Mask, WARP_SIZE};
use crate::memory::sectors::lanes;

/// A thread of the launch: its block's linear number, its linear number in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub block: u32,
    pub thread: u16,
}

impl Thread {
    pub fn new(block: u32, warp: usize, lane: usize) -> Self {
        Self { block, thread: (warp * WARP_SIZE + lane) as u16 }
    }

    fn warp(self) -> usize {
        usize::from(self.thread) / WARP_SIZE
    }

    pub fn lane(self) -> usize {
        usize::from(self.thread) % WARP_SIZE
    }
}

/// Accesses known to have happened: all of a warp, or of a thread, up to a stamp.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    warps: HashMap<(u32, u16), u32>,
    threads: HashMap<Thread, u32>,
}

impl Knowledge {
    fn holds(&self, of: Thread, stamp: u32) -> bool {
        self.warps.get(&(of.block, of.warp() as u16)).is_some_and(|known| *known >= stamp)
            || self.threads.get(&of).is_some_and(|known| *known >= stamp)
    }

    pub fn join(&mut self, other: &Self) {
        for (warp, stamp) in &other.warps {
            raise(self.warps.entry(*warp).or_default(), *stamp);
        }
        for (thread, stamp) in &other.threads {
            raise(self.threads.entry(*thread).or_default(), *stamp);
        }
    }
}

fn raise(known: &mut u32, stamp: u32) {
    *known = stamp.max(*known);
}

/// What each lane of a warp knows of each other.
type LaneTable = Box<[[u32; WARP_SIZE]; WARP_SIZE]>;

/// The clocks of one block, and what its threads know.
#[derive(Debug)]
pub(super) struct Clocks {
    block: u32,
    /// By warp.
    clock: Vec<u32>,
    /// By warp: what all threads of the block know of it.
    base: Vec<u32>,
    /// By warp: what its own lanes know of it.
    warp_base: Vec<u32>,
    lanes: Vec<Option<LaneTable>>,
    /// By warp, what its lanes know of other warps.
    known: HashMap<(usize, usize), u32>,
    /// Acquired through atomics: by all threads of the block, and by single ones.
    shared: Knowledge,
    own: HashMap<u16, Knowledge>,
    /// Read by strong reads since the thread's last fence.
    pending: HashMap<u16, Knowledge>,
    /// What a thread had known at its last fence.
    fenced: HashMap<u16, Rc<Knowledge>>,
}

impl Clocks {
    pub fn new(block: u32, warps: usize) -> Self {
        Self {
            block,
            clock: vec![1; warps],
            base: vec![0; warps],
            warp_base: vec![0; warps],
            lanes: (0..warps).map(|_| None).collect(),
            known: HashMap::new(),
            shared: Knowledge::default(),
            own: HashMap::new(),
            pending: HashMap::new(),
            fenced: HashMap::new(),
        }
    }

    /// The stamp of an access that a warp makes now.
    pub fn stamp(&self, warp: usize) -> u32 {
        self.clock[warp]
    }

    /// Whether `me`, a thread of this block, knows that an access happened before.
    pub fn knows(&self, me: Thread, of: Thread, stamp: u32) -> bool {
        if of.block == self.block {
            let (mine, its) = (me.warp(), of.warp());
            if of == me || stamp <= self.base[its] {
                return true;
            }
            if mine == its {
                let table = self.lanes[mine].as_ref();
                if stamp <= self.warp_base[mine] || table.is_some_and(|table| stamp <= table[me.lane()][of.lane()]) {
                    return true;
                }
            } else if self.known.get(&(mine, its)).is_some_and(|known| stamp <= *known) {
                return true;
            }
        }
        self.shared.holds(of, stamp) || self.own.get(&me.thread).is_some_and(|own| own.holds(of, stamp))
    }

    /// Lanes of a warp met at a warp-wide barrier; `all`: they are all that live.
    pub fn warp_met(&mut self, warp: usize, met: Mask, all: bool) {
        let now = self.tick(warp);
        if all {
            self.warp_base[warp] = now;
        } else {
            let table = self.lanes[warp].get_or_insert_with(|| Box::new([[0; WARP_SIZE]; WARP_SIZE]));
            let mut joined = [0; WARP_SIZE];
            for lane in lanes(met) {
                joined.iter_mut().zip(table[lane]).for_each(|(known, more)| raise(known, more));
            }
            lanes(met).for_each(|lane| joined[lane] = now);
            lanes(met).for_each(|lane| table[lane] = joined);
        }
        let threads: Vec<u16> = lanes(met).map(|lane| (warp * WARP_SIZE + lane) as u16).collect();
        self.share_own(&threads);
    }

    /// Warps met at a block barrier. `arrived` ones have told, `waited` ones have been told; `all`: they are the whole block.
    pub fn block_met(&mut self, arrived: &[(usize, Mask)], waited: &[(usize, Mask)], all: bool) {
        self.acquire_pending(waited.iter().flat_map(|(warp, mask)| threads(*warp, *mask)));
        if all {
            self.base.clone_from(&self.clock);
            for (_, own) in self.own.drain() {
                self.shared.join(&own);
            }
            self.known.clear();
        } else {
            for (to, _) in waited {
                for (from, _) in arrived {
                    let stamp = self.clock[*from];
                    let of_from: Vec<(usize, u32)> = self
                        .known
                        .iter()
                        .filter(|((warp, _), _)| warp == from)
                        .map(|((_, of), at)| (*of, *at))
                        .collect();
                    raise(self.known.entry((*to, *from)).or_default(), stamp);
                    for (of, at) in of_from {
                        raise(self.known.entry((*to, of)).or_default(), at);
                    }
                    if to == from {
                        self.warp_base[*to] = stamp;
                    }
                }
            }
            let everybody: Vec<u16> = arrived.iter().flat_map(|(warp, mask)| threads(*warp, *mask)).collect();
            self.share_own(&everybody);
        }
        for (warp, _) in arrived {
            self.tick(*warp);
        }
    }

    /// Lanes executed a fence: what they have read so far is known, what they know is ready to be published.
    pub fn fence(&mut self, warp: usize, on: Mask) {
        self.acquire_pending(threads(warp, on));
        let common = self.common(warp);
        let now = self.clock[warp];
        for lane in lanes(on) {
            let me = Thread::new(self.block, warp, lane);
            let mut known = common.clone();
            known.threads.insert(me, now);
            if let Some(table) = &self.lanes[warp] {
                for (other, stamp) in table[lane].iter().enumerate().filter(|(_, stamp)| **stamp > 0) {
                    raise(known.threads.entry(Thread::new(self.block, warp, other)).or_default(), *stamp);
                }
            }
            if let Some(own) = self.own.get(&me.thread) {
                known.join(own);
            }
            self.fenced.insert(me.thread, Rc::new(known));
        }
        self.tick(warp);
    }

    /// What a strong write of this thread publishes.
    pub fn published(&self, thread: Thread) -> Option<&Knowledge> {
        self.fenced.get(&thread.thread).map(|known| &**known)
    }

    /// A strong read found this published.
    pub fn read(&mut self, thread: Thread, published: &Knowledge) {
        self.pending.entry(thread.thread).or_default().join(published);
    }

    fn acquire_pending(&mut self, threads: impl Iterator<Item = u16>) {
        if self.pending.is_empty() {
            return;
        }
        for thread in threads {
            if let Some(pending) = self.pending.remove(&thread) {
                self.own.entry(thread).or_default().join(&pending);
            }
        }
    }

    /// What every lane of a warp knows.
    fn common(&self, warp: usize) -> Knowledge {
        let mut known = self.shared.clone();
        for (other, base) in self.base.iter().enumerate() {
            let more = self.known.get(&(warp, other)).copied().unwrap_or(0);
            let own = if other == warp { self.warp_base[warp] } else { 0 };
            let stamp = *base.max(&more).max(&own);
            if stamp > 0 {
                raise(known.warps.entry((self.block, other as u16)).or_default(), stamp);
            }
        }
        known
    }

    /// Threads that met know what each of them has acquired.
    fn share_own(&mut self, threads: &[u16]) {
        if self.own.is_empty() {
            return;
        }
        let mut all = Knowledge::default();
        for thread in threads {
            if let Some(own) = self.own.get(thread) {
                all.join(own);
            }
        }
        if !(all.warps.is_empty() && all.threads.is_empty()) {
            threads.iter().for_each(|thread| drop(self.own.insert(*thread, all.clone())));
        }
    }

    /// Ends the warp's present time and gives it.
    fn tick(&mut self, warp: usize) -> u32 {
        self.clock[warp] += 1;
        self.clock[warp] - 1
    }
}

fn threads(warp: usize, mask: Mask) -> impl Iterator<Item = u16> {
    lanes(mask).map(move |lane| (warp * WARP_SIZE + lane) as u16)
}
