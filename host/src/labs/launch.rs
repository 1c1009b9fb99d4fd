//! `launch`: what does a launch do, and what fails when?

use crate::claim::{Claim, equal};
use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "launch",
    chapter: 1,
    sections: "ch1 §1–2",
    question: "what does a launch do, and what fails when?",
    kernels: &["vecadd", "vecadd_unguarded", "slow"],
    text: include_str!("../../../docs/labs/launch.md"),
    claims,
    run,
};

fn claims() -> Vec<Claim> {
    vec![Claim::new("blocks", "ch1 §2", "n = 1,000,003 at 256 threads a block takes 3,907 blocks", equal(3907))]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    cx.found("blocks", 1_000_003_u32.div_ceil(256));
    Ok(())
}
