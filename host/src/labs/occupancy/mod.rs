//! `occupancy`: who gets to live on the SM?
//!
//! [`calculator`] states what follows from the limits of a compute capability, [`kernels`] what ptxas and the clock say.

mod calculator;
mod kernels;

use crate::lab::{Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "occupancy",
    chapter: 1,
    sections: "ch1 §9, lab 1 B–D",
    question: "who gets to live on the SM?",
    kernels: &["light", "heavy", "heavy_capped", "path_a", "ilp4", "vecadd"],
    text: include_str!("../../../../docs/labs/occupancy.md"),
    claims: || [calculator::claims(), kernels::claims()].concat(),
    run,
};

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    calculator::run(cx)?;
    kernels::run(cx)
}
