//! What an observer of the cycle model is shown: every issue, every arrival of data, every block.

use crate::isa::{Mask, Pc};

use super::report::Placement;
use super::sm::TraceKey;
use super::stall::{Moment, Stall};

/// An instruction that issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    pub sm: u32,
    pub scheduler: u32,
    /// Linear number of the block.
    pub block: u64,
    pub warp_in_block: u32,
    /// In the program as written, whatever order the model gave it.
    pub pc: Pc,
    pub cycle: u64,
    /// Lanes of the split.
    pub active: Mask,
    /// Of these, lanes in which the guard is true.
    pub on: Mask,
    /// When the result is there; `None` where memory decides, and [`Completed`] will tell.
    pub ready_cycle: Option<u64>,
}

/// Data of a load or atomic that went to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    pub sm: u32,
    pub block: u64,
    pub warp_in_block: u32,
    pub pc: Pc,
    pub issue_cycle: u64,
    pub ready_cycle: u64,
}

/// Cycles through which a warp stood before an instruction for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    pub sm: u32,
    pub block: u64,
    pub warp_in_block: u32,
    /// Of the instruction that it would issue next.
    pub pc: Pc,
    pub from_cycle: u64,
    /// The first cycle in which it no longer waits for this.
    pub until_cycle: u64,
    pub stall: Stall,
}

/// Watches a launch. Events come quantum by quantum, in a quantum SM by SM, in an SM by cycle.
pub trait Observer {
    fn issued(&mut self, event: &Issued);
    fn completed(&mut self, event: &Completed);
    /// A block has ended.
    fn ended(&mut self, block: &Placement);
    /// The SM whose waits are shown, if any: they are as many as issues.
    fn waits_of(&self) -> Option<u32> {
        None
    }
    /// A warp of that SM waited. With its issues this accounts for every cycle from a warp's first to its last.
    fn waited(&mut self, _: &Waited) {}
}

/// An event before it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TraceEvent {
    Issued(Issued),
    Completed(Completed),
    Waited(Waited),
}

impl TraceEvent {
    pub fn issued(sm: u32, scheduler: u32, key: TraceKey, active: Mask, on: Mask, ready: Moment) -> Self {
        Self::Issued(Issued {
            sm,
            scheduler,
            block: key.block,
            warp_in_block: key.warp,
            pc: key.pc,
            cycle: key.cycle,
            active,
            on,
            ready_cycle: ready.max(Moment::at(key.cycle + 1, Default::default())).cycle(),
        })
    }

    pub fn completed(sm: u32, key: TraceKey, ready_cycle: u64) -> Self {
        Self::Completed(Completed {
            sm,
            block: key.block,
            warp_in_block: key.warp,
            pc: key.pc,
            issue_cycle: key.cycle,
            ready_cycle,
        })
    }
}
