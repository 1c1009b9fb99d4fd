//! A whole launch: SMs in quanta on one or more threads, boundaries between them.
//!
//! Between two boundaries SMs know nothing of each other, so they can run on as many threads as there are; at a boundary one
//! thread orders everything ([`super::conductor`]). Which SM ran on which thread leaves no trace in the result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock};

use crate::counters::Tally;
use crate::exec::Executor;
use crate::memory::Memory;

use super::conductor::{Conductor, Ended, Fault};
use super::extent::Extent;
use super::memory::uncore::Uncore;
use super::sampling::Rules;
use super::sm::{Launch, Sm};
use super::stall::StallCycles;
use super::trace::Observer;

/// What a launch asks of the cycle model.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub launch: Launch<'a>,
    pub rules: Rules,
    pub quantum_cycles: u64,
    pub block_launch_interval: f64,
    pub block_retire_interval: f64,
    pub block_launch_latency: u64,
    pub sm_count: u32,
    pub blocks_per_sm: u32,
    /// Of an SM's memory, what is shared memory; the rest is L1.
    pub shared_bytes: u64,
    /// Number of the block that starts as the n-th.
    pub block_at: &'a (dyn Fn(u64) -> u64 + Sync),
    /// Instructions after which the launch is ended.
    pub step_budget: u64,
    /// Instructions without any change to memory after which it is.
    pub watchdog: u64,
    pub threads: usize,
}

/// What became of it.
pub(crate) struct Outcome {
    pub sms: Vec<Sm>,
    pub tally: Tally,
    /// Warp-cycles by instruction, of what was simulated.
    pub stalls_by_pc: Vec<StallCycles>,
    /// Cycle at which the last block was taken off its SM.
    pub last_retired: u64,
    pub left_out: Option<LeftOut>,
    pub fault: Option<Fault>,
}

/// The part of a launch whose time was not simulated, and what stands for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftOut {
    pub blocks: u64,
    pub cycles: u64,
    pub extent: Extent,
    /// Estimated relative error of the cycles.
    pub spread: f64,
    /// Waves that it was taken from.
    pub waves: u64,
}

impl LeftOut {
    /// Both parts.
    pub fn and(&self, other: &Self) -> Self {
        let cycles = self.cycles + other.cycles;
        let weighted = self.spread * self.cycles as f64 + other.spread * other.cycles as f64;
        Self {
            blocks: self.blocks + other.blocks,
            cycles,
            extent: self.extent.plus(&other.extent),
            spread: if cycles > 0 { weighted / cycles as f64 } else { 0.0 },
            waves: self.waves + other.waves,
        }
    }
}

/// SMs in as many parts as there are threads: SM `i` is in part `i` mod threads.
pub(super) struct Parts<'m> {
    sms: Vec<Mutex<Vec<Sm>>>,
    /// Warp-cycles by instruction, of the SMs of each part together.
    stalls_by_pc: Vec<Mutex<Vec<StallCycles>>>,
    pub memory: RwLock<&'m mut Memory>,
    /// End of the quantum that all parts are to run, or [`STOP`].
    end: AtomicU64,
    begin: Barrier,
    done: Barrier,
    /// A panic on another thread, for the first to raise.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

const STOP: u64 = u64::MAX;

impl Run<'_> {
    pub fn run(self, memory: &mut Memory, uncore: &mut Uncore, observer: Option<&mut dyn Observer>) -> Outcome {
        let sms = self.make_sms();
        let threads = self.threads.clamp(1, sms.len().max(1));
        let parts = Parts::new(sms, threads, self.launch.grid.kernel().program().code.len(), memory);
        uncore.start_launch();
        let (ended, tally) = std::thread::scope(|scope| {
            let parts = &parts;
            let workers: Vec<_> = (1..threads).map(|part| scope.spawn(move || self.work(parts, part))).collect();
            let mut executor = Executor::new(self.launch.grid);
            // A shorter borrow, so that the conductor need not know how long the observer lives.
            let observer = observer.map(|observer| observer as &mut dyn Observer);
            let conductor = Conductor::new(self, parts, uncore, observer);
            let ended = catch_unwind(AssertUnwindSafe(|| conductor.conduct(&mut executor)));
            // Whatever happened, the others must not be left waiting: a defect is to show as a panic, not as silence.
            parts.stop();
            let ended = ended.unwrap_or_else(|panic| resume_unwind(panic));
            let mut tally = executor.into_tally();
            workers.into_iter().filter_map(|worker| worker.join().ok()).for_each(|part| tally.merge(&part));
            (ended, tally)
        });
        let Ended { last_retired, left_out, fault } = ended;
        let stalls_by_pc = parts.stalls_by_pc();
        Outcome { sms: parts.into_sms(), tally, stalls_by_pc, last_retired, left_out, fault }
    }

    /// SMs for as many blocks as can live at once, or as there are.
    fn make_sms(&self) -> Vec<Sm> {
        let blocks = self.launch.grid.block_count().max(1);
        let count = u64::from(self.sm_count).min(blocks);
        let slots = u64::from(self.blocks_per_sm).min(blocks.div_ceil(count));
        (0..count).map(|sm| Sm::new(sm as u32, &self.launch, slots as usize, self.shared_bytes)).collect()
    }

    /// A thread that runs its part whenever it is told to.
    fn work(&self, parts: &Parts<'_>, part: usize) -> Tally {
        let mut executor = Executor::new(self.launch.grid);
        while let Some(end) = parts.next_quantum() {
            let run = || parts.run(part, end, &self.launch, &mut executor);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                *parts.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
            parts.done.wait();
        }
        executor.into_tally()
    }
}

impl<'m> Parts<'m> {
    fn new(sms: Vec<Sm>, threads: usize, instructions: usize, memory: &'m mut Memory) -> Self {
        let mut parts: Vec<Vec<Sm>> = (0..threads).map(|_| Vec::new()).collect();
        sms.into_iter().enumerate().for_each(|(index, sm)| parts[index % threads].push(sm));
        Self {
            sms: parts.into_iter().map(Mutex::new).collect(),
            stalls_by_pc: (0..threads).map(|_| Mutex::new(vec![StallCycles::default(); instructions])).collect(),
            memory: RwLock::new(memory),
            end: AtomicU64::new(0),
            begin: Barrier::new(threads),
            done: Barrier::new(threads),
            panic: Mutex::new(None),
        }
    }

    /// Runs a quantum on all threads; this one runs part 0.
    pub fn run_quantum(&self, end: u64, launch: &Launch<'_>, executor: &mut Executor<'_>) {
        self.end.store(end, Ordering::Release);
        self.begin.wait();
        let own = catch_unwind(AssertUnwindSafe(|| self.run(0, end, launch, executor)));
        self.done.wait();
        let others = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = own.err().or(others) {
            resume_unwind(panic);
        }
    }

    /// All SMs, part by part, for the thread that holds the boundary.
    pub fn lock(&self) -> Vec<MutexGuard<'_, Vec<Sm>>> {
        self.sms.iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    fn next_quantum(&self) -> Option<u64> {
        self.begin.wait();
        Some(self.end.load(Ordering::Acquire)).filter(|end| *end != STOP)
    }

    fn stop(&self) {
        self.end.store(STOP, Ordering::Release);
        self.begin.wait();
    }

    fn run(&self, part: usize, end: u64, launch: &Launch<'_>, executor: &mut Executor<'_>) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let mut sms = self.sms[part].lock().unwrap_or_else(PoisonError::into_inner);
        let mut stalls = self.stalls_by_pc[part].lock().unwrap_or_else(PoisonError::into_inner);
        for sm in sms.iter_mut() {
            std::mem::swap(&mut sm.stalls_by_pc, &mut stalls);
            sm.run(end, launch, executor, &memory);
            std::mem::swap(&mut sm.stalls_by_pc, &mut stalls);
        }
    }

    /// Warp-cycles by instruction so far, of all SMs.
    pub fn stalls_by_pc(&self) -> Vec<StallCycles> {
        let mut sum: Vec<StallCycles> = Vec::new();
        for part in &self.stalls_by_pc {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner);
            sum.resize(part.len(), StallCycles::default());
            sum.iter_mut().zip(part.iter()).for_each(|(sum, part)| sum.merge(part));
        }
        sum
    }

    fn into_sms(self) -> Vec<Sm> {
        let parts = self.sms.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut sms: Vec<Sm> = parts.flatten().collect();
        sms.sort_by_key(|sm| sm.index);
        sms
    }
}

/// SMs in the order of their numbers.
pub(super) fn in_order<'s>(parts: &'s mut [MutexGuard<'_, Vec<Sm>>]) -> Vec<&'s mut Sm> {
    let mut sms: Vec<&mut Sm> = parts.iter_mut().flat_map(|part| part.iter_mut()).collect();
    sms.sort_by_key(|sm| sm.index);
    sms
}
