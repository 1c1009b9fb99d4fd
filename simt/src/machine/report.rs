//! What a launch leaves behind.

use super::Residency;
use crate::counters::{Counters, InstructionCount};
use crate::fault::Fault;
use crate::isa::Isa;
use crate::timing::Timing;

/// Results of a launch. After a fault, counters are of what ran before it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The instruction set that ran, and so the one that instruction counts are of.
    pub isa: Isa,
    pub counters: Counters,
    /// Counts by instruction, in the order of the code.
    pub instructions: Vec<InstructionCount>,
    pub residency: Residency,
    /// Modelled time, where the launch was timed.
    pub timing: Option<Timing>,
    /// The fault that ended it, else the first finding.
    pub fault: Option<Fault>,
    /// What the checks found that were asked for, in the order of the run.
    pub findings: Vec<Fault>,
}
