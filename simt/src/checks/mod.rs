//! Checks of a launch beyond those of memory bounds, which are always on: reads of what nobody wrote, races, misuse of
//! barriers and of warp-wide operations.
//!
//! A [`Checker`] is a [`Probe`]: it sees every instruction of a functional run of PTX and keeps what it needs beside the machine's
//! own state, so that launches without checks pay nothing. What it finds is a [`Finding`]; [`crate::machine`] makes faults of
//! those, with both source lines and both threads.
//!
//! - [`written`] and [`init`]: which bytes were ever written, and reads of others;
//! - [`order`]: what happens before what, by barriers, warp-wide barriers, fences and atomics;
//! - [`race`]: the last accesses to each word, compared by that order;
//! - [`sync`]: barriers met in two places by one warp, member masks that are wrong.
//!
//! Every finding is of the interleaving that ran: another may show more, never less that is wrong.

mod finding;
mod init;
mod order;
mod race;
mod sync;
mod words;
pub(crate) mod written;

use crate::exec::{Effect, Event, Probe};
use crate::fault::{Fault, FaultKind};

pub(crate) use finding::{Doing, Finding, Findings, Place};
pub use words::{Checks, UnknownCheck};

use init::Init;
use race::Race;
use sync::Sync;
use written::Written;

/// Watches one launch.
pub(crate) struct Checker<'p> {
    findings: Findings,
    init: Option<Init>,
    race: Option<Race>,
    sync: Option<Sync>,
    /// Who else wants to see the instructions.
    next: Option<&'p mut dyn Probe>,
}

impl<'p> Checker<'p> {
    /// `written` is what the machine knows of global memory; [`Checker::finish`] gives it back with the launch's stores.
    pub fn new(checks: Checks, written: Option<Written>, next: Option<&'p mut dyn Probe>) -> Self {
        Self {
            findings: Findings::default(),
            init: written.map(Init::new),
            race: checks.race.then(Race::default),
            sync: checks.sync.then(Sync::default),
            next,
        }
    }

    /// Where else the trouble of a fault lies that the machine itself found.
    pub fn party(&self, fault: &Fault) -> Option<Place> {
        let missing = fault.kind == FaultKind::Deadlock;
        self.sync.as_ref().filter(|_| missing)?.absent(fault.block)
    }

    fn ended(&mut self, block: [u32; 3]) {
        if let Some(init) = &mut self.init {
            init.ended(block);
        }
        if let Some(race) = &mut self.race {
            race.ended(block);
        }
        if let Some(sync) = &mut self.sync {
            sync.ended(block);
        }
    }

    pub fn finish(self) -> (Vec<Finding>, Option<Written>) {
        (self.findings.into_vec(), self.init.map(Init::into_written))
    }
}

impl Probe for Checker<'_> {
    fn instruction(&mut self, event: &Event<'_>) {
        let found = &mut self.findings;
        match event.step.effect {
            Effect::Memory => {
                if let Some(init) = &mut self.init {
                    init.access(event, found);
                }
                if let Some(race) = &mut self.race {
                    race.access(event, found);
                }
            }
            Effect::Branch { .. } | Effect::Waiting | Effect::Sleep { .. } => {}
            _ => {
                if let Some(race) = &mut self.race {
                    race.synchronise(event);
                }
                if let Some(sync) = &mut self.sync {
                    sync.see(event, found);
                }
                if event.block.is_done() {
                    self.ended(event.block.index());
                }
            }
        }
        if let Some(next) = &mut self.next {
            next.instruction(event);
        }
    }
}
