//! The labs: one file each, and the table that command line, reports and tests go by. How to write one: [`crate::lab`].
//!
//! What several labs need stands beside them: [`input`], [`counters`], a [`census`] of a launch's threads, and for
//! SASS [`code`] and its [`control_flow`].

mod atomics;
mod banks;
mod blocks2d;
mod bounds;
mod bytes;
pub(crate) mod census;
mod coalescing;
pub(crate) mod code;
pub mod codegen;
pub(crate) mod control_flow;
mod cost;
pub(crate) mod counters;
mod diagnose;
mod divergence;
mod guard;
pub(crate) mod hierarchy;
mod ids;
pub(crate) mod input;
mod its;
mod latency;
pub mod launch;
pub(crate) mod life;
mod matmul;
mod msda;
mod occupancy;
mod parity;
mod predication;
pub mod quiz;
mod ragged;
mod reduce;
mod relu;
mod residency;
pub(crate) mod roof;
pub(crate) mod roofline;
mod sass;
mod spills;
mod stencil;
pub mod survey;
mod trace;
mod uniform;

use crate::lab::Lab;
use crate::suggest::UnknownName;

/// Every lab, in the order of the chapters.
pub static LABS: &[&Lab] = &[
    &launch::LAB,
    &ids::LAB,
    &blocks2d::LAB,
    &sass::LAB,
    &uniform::LAB,
    &divergence::LAB,
    &guard::LAB,
    &ragged::LAB,
    &predication::LAB,
    &its::LAB,
    &latency::LAB,
    &occupancy::LAB,
    &life::LAB,
    &parity::LAB,
    &stencil::LAB,
    &reduce::LAB,
    &residency::LAB,
    &spills::LAB,
    &banks::LAB,
    &trace::LAB,
    &relu::LAB,
    &matmul::LAB,
    &roofline::LAB,
    &diagnose::LAB,
    &hierarchy::LAB,
    &coalescing::LAB,
    &msda::LAB,
    &atomics::LAB,
    &bytes::LAB,
    &bounds::LAB,
    &codegen::LAB,
    &quiz::LAB,
];

/// The lab with this id.
pub fn find(id: &str) -> Result<&'static Lab, UnknownName> {
    let found = LABS.iter().copied().find(|lab| lab.id == id);
    found.ok_or_else(|| UnknownName::new("lab", id, LABS.iter().map(|lab| lab.id)))
}

#[cfg(test)]
mod tests {
    use super::LABS;

    /// What docs/coverage.md names as `LAB.CLAIM`.
    fn named(text: &str) -> Vec<(&str, &str)> {
        let words = text.split('`').skip(1).step_by(2).filter_map(|word| word.split_once('.'));
        words.filter(|(lab, _)| LABS.iter().any(|known| known.id == *lab)).collect()
    }

    #[test]
    fn claims_that_the_page_on_coverage_names_are_there() {
        let named = named(include_str!("../../../docs/coverage.md"));
        assert!(named.len() > 100, "{} claims are named: the page is read wrongly", named.len());
        let is_claim = |(lab, claim): &(&str, &str)| {
            let lab = LABS.iter().find(|known| known.id == *lab);
            lab.is_some_and(|lab| (lab.claims)().iter().any(|known| known.id == *claim))
        };
        let missing: Vec<String> =
            named.iter().filter(|one| !is_claim(one)).map(|(lab, claim)| format!("{lab}.{claim}")).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_claim_that_is_not_there_would_be_noticed() {
        assert_eq!(
            named("`launch.blocks` and `simt/devices.toml`, `guard.ghost`"),
            [("launch", "blocks"), ("guard", "ghost")]
        );
    }
}
