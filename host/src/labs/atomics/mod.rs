//! `atomics`: what do concurrent updates cost?
//!
//! Lost updates and what contention costs is in [`contention`], what a type, an order or a scope costs in [`types`], and what the compiler
//! made of each addition in [`listings`].

mod contention;
mod listings;
mod types;

use crate::backend::LaunchReport;
use crate::claim::Claim;
use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "atomics",
    chapter: 4,
    sections: "ch4",
    question: "what do concurrent updates cost?",
    kernels: &[
        "add_racy",
        "atomic_add",
        "atomic_add_cas",
        "add_ordered",
        "add_scoped",
        "count",
        "count_one",
        "add_f64",
        "add_f16x2",
        "add_bf16x2",
        "add_f16",
    ],
    text: include_str!("../../../../docs/labs/atomics.md"),
    claims,
    run,
};

const SECTION: &str = "ch4 §5";
const BLOCK: u32 = 256;

fn claims() -> Vec<Claim> {
    [contention::claims(), types::claims(), listings::claims()].concat()
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    listings::run(cx)?;
    contention::run(cx, &gpu)?;
    types::run(cx, &gpu)
}

fn us(report: &LaunchReport) -> f64 {
    report.time().map_or(f64::NAN, |time| time.us())
}
