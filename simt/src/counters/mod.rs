//! What a launch did, in numbers, under the names of Nsight Compute.
//!
//! Execution keeps a [`Tally`]: one row an instruction, cheap to update because a stretch of instructions that a split runs
//! through is entered as a difference at its two ends. [`Counters`] and [`InstructionCount`]s are made of it in the end. Every
//! number here is exact; instruction counts are of the instruction set that ran (a PTX instruction is not a SASS one).

mod class;
mod table;
mod tally;

use crate::isa::{Op, Space};

use class::{CLASSES, class};
use table::TABLE;
pub use tally::Tally;

/// Memory traffic of one instruction or a group of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCount {
    /// Executions with at least one lane in global (or constant) memory, and the sectors they touched.
    pub global_requests: u64,
    pub global_sectors: u64,
    /// Fewest sectors that hold as many bytes.
    pub global_sectors_ideal: u64,
    pub shared_requests: u64,
    pub shared_wavefronts: u64,
    pub shared_wavefronts_ideal: u64,
    pub local_requests: u64,
    pub local_sectors: u64,
    /// Bytes that lanes moved, in all spaces.
    pub bytes: u64,
}

impl AccessCount {
    fn add(&mut self, other: &Self) {
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.global_sectors_ideal += other.global_sectors_ideal;
        self.shared_requests += other.shared_requests;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_wavefronts_ideal += other.shared_wavefronts_ideal;
        self.local_requests += other.local_requests;
        self.local_sectors += other.local_sectors;
        self.bytes += other.bytes;
    }
}

/// What one instruction did in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Executions by warps.
    pub executed: u64,
    /// Lanes active, and of these the ones with a true guard, summed over the executions.
    pub active_lanes: u64,
    pub on_lanes: u64,
    /// Executions of a branch whose lanes went different ways.
    pub divergent: u64,
    pub access: AccessCount,
}

/// Memory instructions that Nsight Compute tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
    Reduction,
}

const KINDS: usize = Kind::Reduction as usize + 1;

/// Totals of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Executed warp instructions by number of active lanes.
    lanes: [u64; 33],
    on_lanes: u64,
    branches: u64,
    divergent_branches: u64,
    /// Thread instructions by class, guard true.
    classes: [u64; CLASSES],
    accesses: [AccessCount; KINDS],
    pub blocks_launched: u64,
    pub warps_launched: u64,
    pub threads_launched: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            lanes: [0; 33],
            on_lanes: 0,
            branches: 0,
            divergent_branches: 0,
            classes: [0; CLASSES],
            accesses: [AccessCount::default(); KINDS],
            blocks_launched: 0,
            warps_launched: 0,
            threads_launched: 0,
        }
    }
}

/// A counter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Count(u64),
    /// NaN where nothing was there to divide by.
    Ratio(f64),
}

impl Value {
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Ratio(ratio) => ratio,
        }
    }
}

impl Counters {
    /// Executed warp instructions by number of active lanes, 0 to 32.
    pub fn lanes_histogram(&self) -> &[u64; 33] {
        &self.lanes
    }

    /// Warp instructions executed.
    pub fn instructions(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Every counter with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        TABLE.iter().map(|(name, value)| (*name, value(self)))
    }

    /// The counter of this name.
    pub fn get(&self, name: &str) -> Option<Value> {
        TABLE.iter().find(|(known, _)| *known == name).map(|(_, value)| value(self))
    }

    fn add(&mut self, op: &Op, returns: bool, count: &InstructionCount) {
        self.on_lanes += count.on_lanes;
        self.classes[class(op) as usize] += count.on_lanes;
        if op.is_branch() {
            self.branches += count.executed;
            self.divergent_branches += count.divergent;
        }
        let kind = match op {
            Op::Load(_) => Kind::Load,
            Op::Store(_) => Kind::Store,
            Op::Atomic(..) if returns => Kind::Atomic,
            Op::Atomic(..) => Kind::Reduction,
            _ => return,
        };
        // Constant memory has a cache of its own and is no L1TEX traffic.
        if !matches!(op, Op::Load(access) if access.space == Space::Const) {
            self.accesses[kind as usize].add(&count.access);
        }
    }

    fn thread_instructions(&self) -> u64 {
        self.lanes.iter().zip(0..).map(|(count, lanes)| count * lanes).sum()
    }

    fn access(&self, kind: Kind) -> &AccessCount {
        &self.accesses[kind as usize]
    }

    fn all(&self, field: fn(&AccessCount) -> u64) -> u64 {
        self.accesses.iter().map(field).sum()
    }
}
