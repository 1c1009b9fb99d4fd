//! `sass`: what did the compiler do?
//!
//! The pipeline and its files are here, the branch of `branch_paths` in [`paths`], the registers of `vecadd` in
//! [`registers`].

mod paths;
mod pipeline;
mod registers;

use crate::claim::{Claim, equal, holds};
use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "sass",
    chapter: 1,
    sections: "ch1 §5–6",
    question: "what did the compiler do?",
    kernels: &["branch_paths", "vecadd"],
    text: include_str!("../../../../docs/labs/sass.md"),
    claims: || [pipeline::claims(), paths::claims(), registers::claims(), on_gpu()].concat(),
    run,
};

/// The architecture whose SASS the chapter shows.
const ARCH: &str = "sm_120";

const SECTION: &str = "ch1 §5";

/// What only a driver can show.
fn on_gpu() -> Vec<Claim> {
    vec![
        Claim::new("ptx_runs_later", SECTION, "PTX for sm_80 runs on sm_90", holds("it does")).on_gpu(),
        Claim::new("cubin_refused", SECTION, "a cubin for sm_80 is refused on sm_90", holds("it is")).on_gpu(),
        Claim::new("driver_registers", SECTION, "the driver counts as many registers as ptxas did", equal(12)).on_gpu(),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    pipeline::run(cx)?;
    paths::run(cx)?;
    registers::run(cx)
}
