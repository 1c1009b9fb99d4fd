//! `sass`: what did the compiler do?
//!
//! The pipeline and its files are here, the branch of `branch_paths` in [`paths`], the registers of `vecadd` in
//! [`registers`].

mod loading;
mod paths;
mod pipeline;
mod registers;

use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "sass",
    chapter: 1,
    sections: "ch1 §5–6",
    question: "what did the compiler do?",
    kernels: &["branch_paths", "vecadd"],
    text: include_str!("../../../../docs/labs/sass.md"),
    claims: || [pipeline::claims(), paths::claims(), registers::claims(), loading::claims()].concat(),
    run,
};

/// The architecture whose SASS the chapter shows.
const ARCH: &str = "sm_120";

const SECTION: &str = "ch1 §5";

/// What only a driver can show.
fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    pipeline::run(cx)?;
    paths::run(cx)?;
    registers::run(cx)?;
    loading::run(cx)
}
