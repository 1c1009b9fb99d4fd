//! Labs: what one is, and how to write one.
//!
//! A lab is one file in `labs/`: a `static LAB: Lab` with its question, its kernels, its claims and a function that runs
//! it. One line in [`crate::labs::LABS`] puts it on the command line, into reports and under test. Its text is
//! `docs/labs/ID.md`, included at compile time.
//!
//! # How to write one
//!
//! ```text
//! pub static LAB: Lab = Lab {
//!     id: "guard",
//!     chapter: 1,
//!     sections: "ch1 §7",
//!     question: "is the boundary check free?",
//!     kernels: &["vecadd"],
//!     text: include_str!("../../../docs/labs/guard.md"),
//!     claims,
//!     run,
//! };
//!
//! /// Every claim of the lab, before anything has run: data, so that lists and pages can show it.
//! fn claims() -> Vec<Claim> {
//!     vec![
//!         Claim::new("blocks", "ch1 §7", "n = 1,003 at 256 threads takes 4 blocks", equal(4)),
//!         Claim::new("free", "ch1 §7", "the guard costs under 1% of the instructions", less_than(0.01)),
//!     ]
//! }
//!
//! fn run(cx: &mut LabContext) -> Result<(), LabError> {
//!     let gpu = cx.gpu()?;                                   // a fresh context on the chosen device and backend
//!     let a = gpu.upload(&ramp(1_003))?;                     // freed when dropped
//!     let c = gpu.zeros::<f32>(1_003)?;
//!     let shape = LaunchShape::linear(1_003, 256);
//!     // Launches under the cycle model (on a GPU: warm-up and samples), and records a row of the report.
//!     let report = cx.measure(&gpu, &kernels::vecadd, "", shape, (a.ptr(), a.ptr(), c.ptr(), 1_003))?;
//!     cx.found("blocks", shape.blocks());
//!     cx.found("free", report.counter("smsp__inst_executed.sum").unwrap_or(f64::NAN) / …);
//!     cx.table(Table::new("…", ["block", "occupancy"]).row(["256".into(), percent(1.0).into()]));
//!     Ok(())
//! }
//! ```
//!
//! - **Claims** state one number or fact of a chapter each. [`Claim`]'s methods say where one binds: `.recorded()` for what
//!   depends on compiler versions, `.on_machine()`, `.on_gpu()`, `.on_device("RTX 5070")`.
//!   A claim that nothing was found for is reported as not run; [`LabContext::not_run`] says why.
//! - **Faults**: a launch that faults poisons its context, as on a GPU. A lab that plants a fault takes a
//!   [`gpu`](LabContext::gpu) of its own for it and matches on [`GpuError`](crate::backend::GpuError). An error that a lab
//!   returns ends that lab only; the report shows it as a failed claim.
//! - **Registers** come from [`LabContext::resources`]: by ptxas where it is at hand, else estimated, and marked.
//! - **Times**: compare only times of the same source, and take them together: [`LabContext::measure_in_turn`]. A kernel that spills has no modelled time; [`LabContext::measure`]
//!   sees to it, so a lab handles [`LaunchReport::time`](crate::backend::LaunchReport::time) being `None`.
//! - **Inputs**: random ones come from [`crate::random::generator`], the same in every run and version.
//! - **Sizes**: a lab takes a few seconds at most on two cores. Numbers that depend on `n` alone need no launch.

mod context;
#[cfg(test)]
pub mod fixture;
mod measure;
mod outcome;
mod plot;
mod row;
mod table;

pub use context::LabContext;
pub use measure::Case;
pub use outcome::{LabOutcome, RunOutcome, Summary};
pub use plot::{Axis, Mark, Plot, Series};
pub use row::{KernelRow, OccupancyFigures};
pub use table::Table;
use warpwise_simt::device::UnknownDevice;
use warpwise_simt::occupancy::InvalidInput;

use crate::backend::GpuError;
use crate::claim::Claim;
use crate::workbench::WorkbenchError;

/// One laboratory. All of it is data but `run`.
pub struct Lab {
    pub id: &'static str,
    /// Chapter, 1 to 4; 0 for labs beyond the chapters.
    pub chapter: u8,
    /// Where the chapters treat it: `ch1 §1–2`.
    pub sections: &'static str,
    pub question: &'static str,
    /// Entries that it launches or reads.
    pub kernels: &'static [&'static str],
    /// The page of the lab, Markdown.
    pub text: &'static str,
    pub claims: fn() -> Vec<Claim>,
    pub run: fn(&mut LabContext<'_>) -> Result<(), LabError>,
}

/// Why a lab ended early.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Workbench(#[from] WorkbenchError),
    #[error("occupancy: {0}")]
    Occupancy(#[from] InvalidInput),
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    /// What a lab itself finds amiss.
    #[error("{0}")]
    Other(String),
}

impl LabError {
    /// The error of the computer behind this one, if it is that.
    fn of_the_device(&self) -> Option<&GpuError> {
        match self {
            Self::Gpu(error) | Self::Workbench(WorkbenchError::Gpu(error)) => {
                Some(error).filter(|error| error.is_of_the_device())
            }
            _ => None,
        }
    }
}
