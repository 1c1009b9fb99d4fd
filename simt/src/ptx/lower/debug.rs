//! `.loc` directives to chains of source lines.
//!
//! A `.loc` with `inlined_at` names the place of the call; that place may itself have been inlined, which the last `.loc` for
//! it tells. The chain is innermost first.

use std::collections::HashMap;
use std::sync::Arc;

use crate::isa::SourceLine;
use crate::ptx::ast::{Listing, Loc, Place};

/// Longest chain that is kept; a longer one is a text that inlines a place into itself.
const CHAIN_MAX: usize = 32;

#[derive(Default)]
pub(super) struct Places {
    /// The chain of the last `.loc` for each place.
    chains: HashMap<Place, Arc<[SourceLine]>>,
}

impl Places {
    /// The chain from this `.loc` on; empty if its file is not declared.
    pub fn chain(&mut self, listing: &Listing, loc: &Loc) -> Arc<[SourceLine]> {
        let Some(first) = line(listing, loc.at) else { return Arc::default() };
        let outer = loc.inlined_at.and_then(|at| match self.chains.get(&at) {
            Some(chain) => Some(chain.to_vec()),
            None => line(listing, at).map(|line| vec![line]),
        });
        let chain: Vec<_> = std::iter::once(first).chain(outer.unwrap_or_default()).take(CHAIN_MAX).collect();
        match self.chains.get(&loc.at) {
            Some(known) if **known == *chain => known.clone(),
            _ => {
                let chain: Arc<[SourceLine]> = chain.into();
                self.chains.insert(loc.at, chain.clone());
                chain
            }
        }
    }
}

fn line(listing: &Listing, place: Place) -> Option<SourceLine> {
    let file = *listing.files.get(&place.file)?;
    Some(SourceLine { file, line: place.line, column: place.column })
}
