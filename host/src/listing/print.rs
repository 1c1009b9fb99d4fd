//! A listing in words: each run of instructions under the source line that it comes from.

use std::io::{self, Write};

use super::{Line, SourcePlace, Sources};
use crate::report::terminal::Terminal;

/// Prints the lines; before each change of source, the file, the line's number and its text.
pub fn print<W: Write>(terminal: &mut Terminal<W>, listing: &[Line], sources: &mut Sources) -> io::Result<()> {
    let mut shown: Option<&SourcePlace> = None;
    for line in listing {
        if let Some(place) = line.source.as_ref().filter(|place| shown != Some(place)) {
            terminal.dim_line(&heading(place, sources))?;
            shown = Some(place);
        }
        terminal.line(&line.text)?;
    }
    Ok(())
}

/// `vecadd.rs:14  if i < n {`.
fn heading(place: &SourcePlace, sources: &mut Sources) -> String {
    let file = place.file.rsplit('/').next().unwrap_or(&place.file);
    match sources.line(place) {
        Some(text) => format!("{file}:{}  {text}", place.line),
        None => format!("{file}:{}", place.line),
    }
}
