//! Who watches the executor's loop: nobody, the cycle model, or a probe.

use std::ops::Range;

use super::block::Block;
use super::executor::{Event, Executor, Probe, Step};
use crate::isa::Pc;

/// One instruction, and those after it that were executed ahead of their time.
///
/// An instruction that touches nothing but its own warp's registers may run at any time after the one before it, and nobody can
/// tell. Running such instructions together keeps the warp's registers in the processor's cache.
#[derive(Clone, Debug, Default)]
pub struct Stride {
    /// The first instruction. Empty where the warp had none to execute.
    pub step: Option<Step>,
    /// Whether others may follow.
    pub runs_ahead: bool,
    /// Those that did.
    pub ahead: Range<Pc>,
}

/// Who watches the loop.
pub(super) trait Watch {
    /// One instruction and stop, but for what runs ahead.
    const SINGLE: bool;
    /// Instructions are reported.
    const REPORTS: bool;

    /// Whether the next one is.
    fn looks(&self) -> bool {
        Self::REPORTS
    }

    /// Whether an instruction may run that concerns nobody but its warp, where [`Watch::SINGLE`] says stop.
    fn runs_ahead(&self) -> bool {
        false
    }

    fn ran_ahead(&mut self, _: Range<Pc>) {}

    fn see(&mut self, executor: &Executor<'_>, block: &Block, warp: usize, step: Step);
}

pub(super) struct Nobody;

impl Watch for Nobody {
    const SINGLE: bool = false;
    const REPORTS: bool = false;

    fn see(&mut self, _: &Executor<'_>, _: &Block, _: usize, _: Step) {}
}

impl Watch for &mut Stride {
    const SINGLE: bool = true;
    const REPORTS: bool = true;

    fn looks(&self) -> bool {
        self.step.is_none()
    }

    fn runs_ahead(&self) -> bool {
        self.runs_ahead
    }

    fn ran_ahead(&mut self, ahead: Range<Pc>) {
        self.ahead = ahead;
    }

    fn see(&mut self, _: &Executor<'_>, _: &Block, _: usize, step: Step) {
        self.step = Some(step);
    }
}

impl Watch for &mut dyn Probe {
    const SINGLE: bool = false;
    const REPORTS: bool = true;

    fn see(&mut self, executor: &Executor<'_>, block: &Block, warp: usize, step: Step) {
        let (note, addresses) = (&executor.note, &executor.frame.access.lane);
        self.instruction(&Event { grid: executor.grid, block, warp, step, note, addresses });
    }
}
