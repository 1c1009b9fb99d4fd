//! What a lab leaves behind: the one in-memory form that terminal, JSON and HTML reports are written from.

use super::{KernelRow, Lab, Plot, Table};
use crate::backend::{BackendKind, GpuError, ReadingsDigest};
use crate::ceilings::Ceilings;
use crate::claim::{Judged, Toolchain, Verdict};

/// One lab after its run.
pub struct LabOutcome {
    pub lab: &'static Lab,
    pub backend: BackendKind,
    pub seconds: f64,
    /// What the lab read back from its device; not what it read from devices that are the machine's alone.
    pub results: ReadingsDigest,
    pub kernels: Vec<KernelRow>,
    pub tables: Vec<Table>,
    pub plots: Vec<Plot>,
    /// Lines for the reader, below the tables.
    pub notes: Vec<String>,
    pub claims: Vec<Judged>,
    /// What ended the lab, if it was the computer and not a kernel: there is no verdict in it.
    pub trouble: Option<GpuError>,
}

impl LabOutcome {
    /// Takes in another run of the same lab on the same device: its verdicts. Times and tables stay those of the first run.
    pub fn add_run(&mut self, again: LabOutcome) {
        self.seconds += again.seconds;
        self.trouble = self.trouble.take().or(again.trouble);
        for judged in again.claims {
            if let Some(own) = self.claims.iter_mut().find(|own| own.claim.id == judged.claim.id) {
                own.and(judged);
            }
        }
    }

    /// Takes in the same lab's run on the machine, modelling the same device: its times beside the measured ones, its claims
    /// behind those of the GPU.
    pub fn add_model(&mut self, model: LabOutcome) {
        for row in model.kernels {
            // A lab may choose a smaller size for the machine: then the two times are of different work, and stay apart.
            let same = |own: &&mut KernelRow| {
                (&own.kernel, &own.variant, own.grid, own.block) == (&row.kernel, &row.variant, row.grid, row.block)
            };
            match self.kernels.iter_mut().find(same) {
                Some(own) => {
                    own.times.extend(row.times);
                    own.counters = own.counters.take().or(row.counters);
                }
                None => self.kernels.push(row),
            }
        }
        self.seconds += model.seconds;
        self.claims.extend(model.claims);
    }
}

/// All labs of a run.
pub struct RunOutcome {
    pub toolchain: Toolchain,
    /// What the devices of the run do at most.
    pub ceilings: Vec<Ceilings>,
    pub labs: Vec<LabOutcome>,
}

/// Claims by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub holds: usize,
    pub fails: usize,
    pub not_run: usize,
}

impl Summary {
    pub fn of<'a>(claims: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut summary = Self::default();
        for claim in claims {
            match claim.verdict {
                Verdict::Holds => summary.holds += 1,
                Verdict::Fails => summary.fails += 1,
                Verdict::NotRun => summary.not_run += 1,
            }
        }
        summary
    }
}

impl RunOutcome {
    pub fn summary(&self) -> Summary {
        Summary::of(self.labs.iter().flat_map(|lab| &lab.claims))
    }
}
