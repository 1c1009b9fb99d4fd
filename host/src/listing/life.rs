//! What is alive at each line of a listing: registers of SASS, or virtual registers of PTX.

use std::collections::HashSet;

/// What a line does with a value that is alive there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Written,
    /// Written for some lanes: others keep what was there.
    WrittenInPart,
    Read,
    ReadAndWritten,
    /// Holds something for later.
    Held,
}

/// How many 32-bit registers of each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub general: u32,
    pub uniform: u32,
    pub predicates: u32,
    pub uniform_predicates: u32,
    /// General registers beyond nvdisasm's count: what lanes keep whose guard is false.
    pub kept: u32,
}

impl Counts {
    /// The larger of each.
    pub fn max(self, other: Self) -> Self {
        Self {
            general: self.general.max(other.general),
            uniform: self.uniform.max(other.uniform),
            predicates: self.predicates.max(other.predicates),
            uniform_predicates: self.uniform_predicates.max(other.uniform_predicates),
            kept: self.kept.max(other.kept),
        }
    }
}

/// Values alive at each line. Lines that are no instructions have none.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Names of the values: `R4`, `%rd7`.
    pub names: Vec<String>,
    pub counts: Vec<Counts>,
    /// By line: values by number, and what is done to each.
    pub alive: Vec<Vec<(usize, Use)>>,
    /// By line: where control may go.
    pub successors: Vec<Vec<usize>>,
}

/// Where a value alive at some line was written, and where it is read: lines in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub written: Vec<usize>,
    pub read: Vec<usize>,
}

impl Life {
    /// The line at which most general registers are alive, the first of several.
    pub fn peak(&self) -> Option<usize> {
        let most = self.counts.iter().map(|counts| counts.general).max().filter(|most| *most > 0)?;
        self.counts.iter().position(|counts| counts.general == most)
    }

    /// The most of each file.
    pub fn most(&self) -> Counts {
        self.counts.iter().fold(Counts::default(), |most, counts| most.max(*counts))
    }

    /// Follows a value from a line where it is alive, backwards to its writes and forwards to its reads.
    pub fn span(&self, line: usize, value: usize) -> Span {
        let mut predecessors = vec![Vec::new(); self.successors.len()];
        for (from, targets) in self.successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        let mut span = Span::default();
        let ends_before = |usage| matches!(usage, Use::Written | Use::ReadAndWritten);
        let here = self.usage(line, value);
        if matches!(here, Some(Use::Written | Use::WrittenInPart)) {
            span.written.push(line);
        }
        if matches!(here, Some(Use::Read | Use::ReadAndWritten)) {
            span.read.push(line);
        }
        if here != Some(Use::Written) {
            self.follow(line, value, &predecessors, |at, usage| {
                if usage != Use::Read && usage != Use::Held {
                    span.written.push(at);
                }
                !ends_before(usage)
            });
        }
        if here != Some(Use::ReadAndWritten) {
            self.follow(line, value, &self.successors, |at, usage| {
                if matches!(usage, Use::Read | Use::ReadAndWritten) {
                    span.read.push(at);
                }
                !ends_before(usage)
            });
        }
        for places in [&mut span.written, &mut span.read] {
            places.sort_unstable();
            places.dedup();
        }
        span
    }

    fn usage(&self, line: usize, value: usize) -> Option<Use> {
        self.alive[line].iter().find(|(other, _)| *other == value).map(|(_, usage)| *usage)
    }

    /// Visits the lines that `next` leads to while the value is alive; `visit` says whether to go on from there.
    fn follow(&self, from: usize, value: usize, next: &[Vec<usize>], mut visit: impl FnMut(usize, Use) -> bool) {
        let mut seen = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for &to in &next[at] {
                if !seen.insert(to) {
                    continue;
                }
                match self.usage(to, value) {
                    Some(usage) if visit(to, usage) => open.push(to),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a = …; b = …; loop { a = a + b }; read a`, the loop at lines 2 and 3.
    fn life() -> Life {
        Life {
            names: vec!["a".to_owned(), "b".to_owned()],
            counts: [1, 2, 2, 2, 1].map(|general| Counts { general, ..Counts::default() }).to_vec(),
            alive: vec![
                vec![(0, Use::Written)],
                vec![(0, Use::Held), (1, Use::Written)],
                vec![(0, Use::ReadAndWritten), (1, Use::Read)],
                vec![(0, Use::Held), (1, Use::Held)],
                vec![(0, Use::Read)],
            ],
            successors: vec![vec![1], vec![2], vec![3], vec![2, 4], vec![]],
        }
    }

    #[test]
    fn the_peak_is_the_first_line_with_most_registers() {
        assert_eq!((life().peak(), life().most().general), (Some(1), 2));
        assert_eq!(Life::default().peak(), None);
    }

    #[test]
    fn a_value_is_followed_round_a_loop_to_its_writes_and_reads() {
        let life = life();
        assert_eq!(life.span(3, 0), Span { written: vec![2], read: vec![2, 4] });
        assert_eq!(life.span(3, 1), Span { written: vec![1], read: vec![2] });
        assert_eq!(life.span(1, 0), Span { written: vec![0], read: vec![2] });
    }
}
