//! The place where most registers are alive, explained: what each holds, where it was written, where it is last read.

use super::life::Span;
use super::{Line, Listing};

/// Values alive at the peak that were written on one source line and are last read on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// `R2`, `R3`.
    pub names: Vec<String>,
    /// The lines that wrote them: for each the last before the peak or, in a loop, the last of the round before. None: they come
    /// from outside.
    pub written: Vec<usize>,
    /// The lines that read them last.
    pub read: Vec<usize>,
    /// Whether those come before the peak: it is the next round that reads.
    pub next_round: bool,
}

/// The peak of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    pub line: usize,
    /// General registers there.
    pub general: u32,
    /// By the place of the first write.
    pub groups: Vec<Group>,
}

/// The peak and what is alive there; `None` where that was not asked for, or nothing is.
pub fn explain(listing: &Listing) -> Option<Peak> {
    let life = listing.life.as_ref()?;
    let line = life.peak()?;
    let source = |at: Option<&usize>| at.map(|at| &listing.lines[*at].source);
    let mut values: Vec<(Option<usize>, Option<usize>, String)> = Vec::new();
    for (value, _) in &life.alive[line] {
        let Span { written, read } = life.span(line, *value);
        let written = written.iter().rfind(|at| **at <= line).or(written.last()).copied();
        let read = read.iter().rfind(|at| **at >= line).or(read.last()).copied();
        values.push((written, read, life.names[*value].clone()));
    }
    values.sort_by_key(|(written, ..)| *written);
    let mut groups: Vec<Group> = Vec::new();
    for (written, read, name) in values {
        let next_round = read.is_some_and(|read| read < line);
        let same = |group: &&mut Group| {
            file(&group.names[0]) == file(&name)
                && group.next_round == next_round
                && source(group.written.last()) == source(written.as_ref())
                && source(group.read.last()) == source(read.as_ref())
        };
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.names.push(name);
                group.written.extend(written);
                group.read.extend(read);
            }
            None => groups.push(Group {
                names: vec![name],
                written: written.into_iter().collect(),
                read: read.into_iter().collect(),
                next_round,
            }),
        }
    }
    Some(Peak { line, general: life.counts[line].general, groups })
}

/// The register file that a name is of, so that a row is one kind of value.
fn file(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

/// Headings of [`Peak::rows`].
pub const COLUMNS: [&str; 3] = ["alive", "written by", "last read by"];

/// The stack's top in SASS.
const STACK: &str = "R1";

impl Peak {
    /// A row for each group.
    pub fn rows(&self, listing: &Listing) -> Vec<Vec<String>> {
        let row = |group: &Group| {
            let written = match group.written.is_empty() {
                true => "nothing in this kernel".to_owned(),
                false => places(&group.written, listing),
            };
            let read = match (group.read.is_empty(), group.next_round) {
                (true, _) if group.names == [STACK] => "the stack's top: kept to the end".to_owned(),
                (true, _) => "nothing".to_owned(),
                (_, true) => format!("{}, in the next round", places(&group.read, listing)),
                _ => places(&group.read, listing),
            };
            vec![names(&group.names), written, read]
        };
        self.groups.iter().map(row).collect()
    }
}

/// `00a0 LDG.E, vecadd.rs:26`; of several lines the first and the last: `00a0–00f0, vecadd.rs:26`.
fn places(at: &[usize], listing: &Listing) -> String {
    let (first, last) = (at.iter().min().copied().unwrap_or(0), at.iter().max().copied().unwrap_or(0));
    let line = &listing.lines[last];
    let words = |line: &Line| {
        let words = line.text.split_whitespace().filter(|word| !word.starts_with('@'));
        words.map(|word| word.trim_end_matches(';').to_owned()).collect::<Vec<_>>()
    };
    let word = |line: &Line, at: usize| words(line).into_iter().nth(at).unwrap_or_default();
    let what = match (line.control.is_some(), first == last) {
        // SASS has an address first.
        (true, true) => format!("{} {}", word(line, 0), word(line, 1)),
        (true, false) => format!("{}–{}", word(&listing.lines[first], 0), word(line, 0)),
        (false, _) => word(line, 0),
    };
    match &line.source {
        Some(source) => format!("{what}, {}", source.short()),
        None => what,
    }
}

/// `R4–R7, R9`: runs of numbers as ranges.
fn names(names: &[String]) -> String {
    let number = |name: &str| {
        let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        (name[..name.len() - digits.len()].to_owned(), digits.parse::<u32>().ok())
    };
    let mut runs: Vec<(String, String, Option<u32>)> = Vec::new();
    let mut names = names.to_vec();
    names.sort_by_key(|name| number(name));
    for name in &names {
        let (_, digits) = number(name);
        match runs.last_mut() {
            Some((_, last, Some(end))) if digits == Some(*end + 1) => {
                last.clone_from(name);
                *end += 1;
            }
            _ => runs.push((name.clone(), name.clone(), digits)),
        }
    }
    let words = runs.into_iter().map(|(first, last, _)| if first == last { first } else { format!("{first}–{last}") });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::life::Counts;
    use crate::listing::{Life, Use};

    #[test]
    fn runs_of_registers_are_ranges() {
        let given = ["R5", "R4", "R6", "R9"].map(str::to_owned);
        assert_eq!(names(&given), "R4–R6, R9");
        assert_eq!(names(&["%rd7".to_owned()]), "%rd7");
    }

    #[test]
    fn the_peak_names_each_value_with_its_write_and_its_last_read() {
        let line = |text: &str| Line { text: text.to_owned(), is_instruction: true, ..Line::default() };
        let counts = |general| Counts { general, ..Counts::default() };
        let life = Life {
            names: ["a1", "a2", "b1"].map(str::to_owned).to_vec(),
            counts: [2, 3, 0].map(counts).to_vec(),
            alive: vec![
                vec![(0, Use::Written), (1, Use::Written)],
                vec![(0, Use::Held), (1, Use::Held), (2, Use::Written)],
                vec![(0, Use::Read), (1, Use::Read)],
            ],
            successors: vec![vec![1], vec![2], vec![]],
        };
        let lines = vec![line("ld.b64 …"), line("mov.b32 …"), line("st.b64 …")];
        let listing = Listing { lines, life: Some(life) };
        let peak = explain(&listing).expect("something is alive");
        assert_eq!((peak.line, peak.general), (1, 3));
        let rows = peak.rows(&listing);
        assert_eq!(rows, [["a1–a2", "ld.b64", "st.b64"], ["b1", "mov.b32", "nothing"]]);
    }
}
