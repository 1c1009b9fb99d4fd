//! A kernel's performance, walked through: the six questions of chapter 3, the checklist of chapter 4, and the one thing to try next.
//!
//! [`examine`] runs a launch twice on the machine: once functionally under a [`footprint`] and the race check, which tell the least bytes
//! and what blocks share; once under the cycle model. [`Diagnosis::of`] turns the [`Facts`] into sentences. Thresholds are rules of
//! thumb and stand in [`finding`], beside the reason for each.

mod examine;
mod finding;
mod footprint;
mod questions;

pub use examine::{Facts, Subject, examine};
pub use finding::Finding;

use serde::Serialize;

/// One question with the numbers that answer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub question: &'static str,
    pub lines: Vec<String>,
}

/// All answers, and what stands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The six of chapter 3.
    pub steps: Vec<Answer>,
    /// The three of chapter 4.
    pub checklist: Vec<Answer>,
    pub finding: Finding,
    /// The number that decided.
    pub why: String,
}

impl Diagnosis {
    pub fn of(facts: &Facts) -> Self {
        let (finding, why) = finding::find(facts);
        Self { steps: questions::steps(facts), checklist: questions::checklist(facts), finding, why }
    }
}
