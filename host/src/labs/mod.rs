//! The labs: one file each, and the table that command line, reports and tests go by. How to write one: [`crate::lab`].
//!
//! What several labs need stands beside them: [`input`], [`counters`], a [`census`] of a launch's threads, and for
//! SASS [`code`] and its [`control_flow`].

mod atomics;
mod blocks2d;
mod bounds;
mod bytes;
mod census;
mod coalescing;
pub(crate) mod code;
pub(crate) mod control_flow;
pub(crate) mod counters;
mod diagnose;
mod divergence;
mod guard;
mod hierarchy;
mod ids;
pub(crate) mod input;
mod its;
pub mod launch;
mod life;
mod matmul;
mod msda;
mod occupancy;
mod predication;
mod reduce;
mod residency;
mod roof;
mod roofline;
mod sass;
mod spills;
mod stencil;
pub mod survey;
mod trace;

use crate::lab::Lab;
use crate::suggest::UnknownName;

/// Every lab, in the order of the chapters.
pub static LABS: &[&Lab] = &[
    &launch::LAB,
    &ids::LAB,
    &blocks2d::LAB,
    &sass::LAB,
    &divergence::LAB,
    &guard::LAB,
    &predication::LAB,
    &its::LAB,
    &occupancy::LAB,
    &life::LAB,
    &stencil::LAB,
    &trace::LAB,
    &diagnose::LAB,
    &reduce::LAB,
    &residency::LAB,
    &spills::LAB,
    &matmul::LAB,
    &roofline::LAB,
    &bytes::LAB,
    &bounds::LAB,
    &hierarchy::LAB,
    &coalescing::LAB,
    &msda::LAB,
    &atomics::LAB,
];

/// The lab with this id.
pub fn find(id: &str) -> Result<&'static Lab, UnknownName> {
    let found = LABS.iter().copied().find(|lab| lab.id == id);
    found.ok_or_else(|| UnknownName::new("lab", id, LABS.iter().map(|lab| lab.id)))
}
