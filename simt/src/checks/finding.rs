//! What a check found: the place where it was noticed, and the other place that it takes.

use std::collections::HashSet;

use crate::fault::{Action, FaultKind, Violation};
use crate::isa::Pc;

/// Findings that a launch keeps; more of them say nothing new.
const MOST: usize = 64;

/// A thread at an instruction, which accessed memory where `action` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub block: [u32; 3],
    pub pc: Pc,
    pub warp: u32,
    pub lane: u32,
    pub doing: Doing,
}

/// What the thread at a [`Place`] did there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Access(Action),
    /// Arrived at a barrier, or waits there.
    Waits,
    Exited,
    /// Stands there, running.
    Runs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub block: [u32; 3],
    pub violation: Violation,
    pub other: Option<Place>,
}

/// Findings in the order in which they were made, each pair of instructions once.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    seen: HashSet<(FaultKind, Pc, Option<Pc>)>,
}

impl Findings {
    pub fn add(&mut self, finding: Finding) {
        let key = (finding.violation.kind, finding.violation.pc, finding.other.map(|other| other.pc));
        if self.list.len() < MOST && self.seen.insert(key) {
            self.list.push(finding);
        }
    }

    pub fn into_vec(self) -> Vec<Finding> {
        self.list
    }
}
