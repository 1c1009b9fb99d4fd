//! Snapshots side by side in a terminal: a line for each number, with what changed.

use std::io::{self, Write};

use super::Snapshot;
use crate::report::terminal::Terminal;
use crate::sass_words;

/// A snapshot with the name of its column.
pub type Named<'a> = (&'a str, &'a Snapshot);

/// Rows of values: the first column is what is asked about, the others what it is compared with, each with the difference to it.
pub fn print<W: Write>(
    terminal: &mut Terminal<W>,
    now: Named<'_>,
    others: &[Named<'_>],
    rows_of: impl Fn(&Snapshot) -> Vec<(&'static str, String)>,
) -> io::Result<()> {
    let values: Vec<Vec<(&str, String)>> = others.iter().map(|(_, other)| rows_of(other)).collect();
    let columns = ["", now.0].into_iter().chain(others.iter().map(|(name, _)| *name)).map(str::to_owned);
    let rows = rows_of(now.1).into_iter().map(|(name, value)| {
        let of = |other: &Vec<(&str, String)>| match other.iter().find(|(known, _)| *known == name) {
            Some((_, before)) => beside(before, &value),
            None => "–".to_owned(),
        };
        let others: Vec<String> = values.iter().map(of).collect();
        [vec![name.to_owned(), value.clone()], others].concat()
    });
    // A kind of instructions that neither has is not worth a line; that nothing is spilled is.
    let rows = rows.filter(|row| !(is_group(&row[0]) && row[1] == "0" && row[2..].iter().all(|other| other == "=")));
    terminal.rows(&columns.collect::<Vec<_>>(), rows)
}

/// Whether a row counts instructions of a kind.
fn is_group(name: &str) -> bool {
    name == "other" || sass_words::opcodes().iter().any(|opcode| opcode.group == name)
}

/// The former value, and by how much it has changed where both are numbers: `80 (+8)`; `=` where it has not.
fn beside(before: &str, now: &str) -> String {
    if before == now {
        return "=".to_owned();
    }
    match (number(before), number(now)) {
        (Some((was, unit)), Some((is, same))) if unit == same && was != 0.0 && unit.contains("s") => {
            format!("{before} ({:+.1}%)", 100.0 * (is / was - 1.0))
        }
        (Some((was, unit)), Some((is, same))) if unit == same && unit.is_empty() => {
            format!("{before} ({:+})", is - was)
        }
        _ => before.to_owned(),
    }
}

/// A value in front of its unit.
fn number(text: &str) -> Option<(f64, &str)> {
    let (value, unit) = text.split_once(' ').unwrap_or((text, ""));
    Some((value.parse().ok()?, unit))
}

/// What the instructions gained and lost, in one line: `FFMA +8, LDL +3, MOV -2`; nothing where nothing changed.
pub fn mix(now: &Snapshot, before: &Snapshot) -> Option<String> {
    /// Characters of the line; what does not fit is counted.
    const LENGTH_MAX: usize = 70;
    let (now, before) = (now.code.as_ref()?, before.code.as_ref()?);
    let words: Vec<String> = now.mix.since(&before.mix).iter().map(|(opcode, by)| format!("{opcode} {by:+}")).collect();
    let mut length = 0;
    let fit = words.iter().take_while(|word| {
        length += word.len() + 2;
        length <= LENGTH_MAX
    });
    let shown = fit.count();
    let rest = (shown < words.len()).then(|| format!("and {} more", words.len() - shown));
    let line = words.into_iter().take(shown).chain(rest).collect::<Vec<_>>().join(", ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_show_their_difference_times_their_share_and_words_themselves() {
        assert_eq!(beside("80", "88"), "80 (+8)");
        assert_eq!(beside("80", "80"), "=");
        assert_eq!(beside("10 µs", "12.5 µs"), "10 µs (+25.0%)");
        assert_eq!(beside("900 µs", "1.2 ms"), "900 µs");
        assert_eq!(beside("warps", "registers"), "warps");
        assert_eq!(beside("50%", "33%"), "50%");
    }
}
