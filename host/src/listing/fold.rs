//! A listing summed up by source line.

use std::collections::BTreeMap;

use super::life::Counts;
use super::{Listing, SourcePlace};

/// What a source line became.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    pub instructions: u32,
    /// The most alive at any of them.
    pub most: Counts,
    /// Whether the peak of the whole listing is among them.
    pub has_peak: bool,
}

/// The source lines in order, those of no line first.
pub fn fold(listing: &Listing) -> BTreeMap<Option<SourcePlace>, Folded> {
    let mut rows: BTreeMap<Option<SourcePlace>, Folded> = BTreeMap::new();
    let peak = listing.life.as_ref().and_then(|life| life.peak());
    for (at, line) in listing.lines.iter().enumerate().filter(|(_, line)| line.is_instruction) {
        let row = rows.entry(line.source.clone()).or_default();
        row.instructions += 1;
        row.has_peak |= peak == Some(at);
        if let Some(life) = &listing.life {
            row.most = row.most.max(life.counts[at]);
        }
    }
    rows
}

impl Listing {
    /// The file that most instructions were called from: the kernel's own.
    pub fn own_file(&self) -> Option<String> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let instructions = self.lines.iter().filter(|line| line.is_instruction);
        let outermost = instructions.filter_map(|line| line.chain.iter().rev().find(|place| place.is_own()));
        outermost.for_each(|place| *counts.entry(&place.file).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(file, _)| file.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::{Life, Line};

    #[test]
    fn lines_are_summed_up_wherever_their_instructions_stand() {
        let place = |line| SourcePlace { file: "a.rs".to_owned(), line };
        let line = |source: Option<u32>| Line {
            source: source.map(place),
            chain: source.map(place).into_iter().collect(),
            is_instruction: true,
            ..Line::default()
        };
        let counts = |general| Counts { general, ..Counts::default() };
        let life = Life { counts: [1, 3, 2, 1].map(counts).to_vec(), ..Life::default() };
        let lines = vec![line(None), line(Some(7)), line(Some(5)), line(Some(7))];
        let listing = Listing { lines, life: Some(life) };
        let rows: Vec<(Option<u32>, u32, u32, bool)> = fold(&listing)
            .into_iter()
            .map(|(place, row)| (place.map(|place| place.line), row.instructions, row.most.general, row.has_peak))
            .collect();
        assert_eq!(rows, [(None, 1, 1, false), (Some(5), 1, 2, false), (Some(7), 2, 3, true)]);
        assert_eq!(listing.own_file().as_deref(), Some("a.rs"));
    }
}
