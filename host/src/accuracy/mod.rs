//! How well the cycle model tells a GPU's times: cases, their times on both, and what the two say of each other.
//!
//! A [`Case`] is a launch as data. It is timed on any context ([`time`](run::time)); what a GPU took is kept as a
//! [`Measurement`], which comes with the program, so that the model can be judged where there is no GPU. Cases that the
//! model's parameters were set by are a set of their own and are not judged. The [`ladder`] asks both sides for latencies and
//! bandwidths, level by level.

pub mod cases;
pub mod inputs;
pub mod ladder;
pub mod measurement;
pub mod run;
pub mod statistics;

pub use cases::{CASES, Case, Class, Set};
pub use measurement::Measurement;
pub use statistics::Summary;

use warpwise_simt::isa::Isa;

/// A case with what model and hardware took; microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub case: &'static Case,
    pub modelled_us: f64,
    /// The code whose times were modelled.
    pub isa: Isa,
    /// Absent where it was never measured.
    pub measured_us: Option<f64>,
}

impl Row {
    /// modelled ÷ measured − 1.
    pub fn error(&self) -> Option<f64> {
        self.measured_us.map(|measured| self.modelled_us / measured - 1.0)
    }
}

/// A rung of the ladder on both sides, in the rung's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct RungRow {
    pub rung: &'static ladder::Rung,
    pub modelled: f64,
    pub measured: Option<f64>,
}

impl RungRow {
    /// modelled ÷ measured − 1.
    pub fn error(&self) -> Option<f64> {
        self.measured.map(|measured| self.modelled / measured - 1.0)
    }
}
