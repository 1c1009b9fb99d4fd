//! `hierarchy`: what does each level of memory cost?
//!
//! Latency by footprint is in [`latency`], bandwidth in [`bandwidth`], and the chapter's table of an A100 in [`a100`].

mod a100;
mod bandwidth;
mod latency;

use crate::claim::Claim;
use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "hierarchy",
    chapter: 4,
    sections: "ch4",
    question: "what does each level cost?",
    kernels: &["chase", "chase_shared", "read_shared", "read_global"],
    text: include_str!("../../../../docs/labs/hierarchy.md"),
    claims,
    run,
};

const SECTION: &str = "ch4 §2";

fn claims() -> Vec<Claim> {
    [latency::claims(), bandwidth::claims(), a100::claims()].concat()
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    // Its kernels write what a clock showed: no result that backends could agree on.
    let gpu = cx.bench().gpu()?;
    latency::run(cx, &gpu)?;
    bandwidth::run(cx, &gpu)?;
    a100::run(cx)
}
