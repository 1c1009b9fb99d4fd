//! A listing in words: each run of instructions under the source line that it comes from.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use super::life::Counts;
use super::{Line, Listing, SourcePlace, Sources};
use crate::report::terminal::{Paint, Terminal, WIDTH_MAX, cut};

/// What is shown beside the instructions.
#[derive(Clone, Debug, Default)]
pub struct Show {
    /// The lines that called the one shown.
    pub chain: bool,
    pub control: bool,
    /// Only what comes from these lines of the kernel's own file, or is called from there.
    pub lines: Option<RangeInclusive<u32>>,
    /// Whether there are uniform registers: SASS.
    pub uniform: bool,
}

/// Cells of the bar.
const BAR: u32 = 8;

/// Prints the lines; before each change of source, the file, the line's number and its text.
pub fn print<W: Write>(
    terminal: &mut Terminal<W>,
    listing: &Listing,
    sources: &mut Sources,
    show: &Show,
) -> io::Result<()> {
    let own_file = show.lines.as_ref().and_then(|_| listing.own_file());
    let peak = listing.life.as_ref().and_then(|life| life.peak());
    let has_sources = listing.has_sources();
    let most = listing.life.as_ref().map_or(0, |life| life.most().general);
    if let Some(heading) = legend(listing, show) {
        terminal.dim_line(&heading)?;
    }
    let mut shown: Option<&Line> = None;
    for (at, line) in listing.lines.iter().enumerate() {
        if let (Some(range), Some(file)) = (&show.lines, &own_file)
            && !line.chain.iter().any(|place| place.file == *file && range.contains(&place.line))
        {
            continue;
        }
        let same = |other: &Line| other.source == line.source && (!show.chain || other.chain == line.chain);
        let has_place = has_sources && (line.source.is_some() || line.is_instruction);
        if has_place && !shown.is_some_and(same) {
            let run = listing.lines[at..].iter().take_while(|other| !other.is_instruction || same(other)).count();
            heading(terminal, listing, at..at + run, most, sources, show)?;
            shown = Some(line);
        }
        let margin = margin(listing, at, most, peak == Some(at), show);
        let text = cut(&format!("{margin}{}", line.text), usize::from(WIDTH_MAX));
        match peak == Some(at) {
            true => {
                let text = terminal.paint(&text, Paint::Yellow);
                terminal.line(&text)?;
            }
            false => terminal.line(&text)?,
        }
    }
    Ok(())
}

/// What the columns in front of the instructions are.
fn legend(listing: &Listing, show: &Show) -> Option<String> {
    let mut columns = String::new();
    if listing.life.is_some() {
        columns += if show.uniform { "   R  UR  P UP" } else { "   R  P" };
        columns += &" ".repeat(BAR as usize + 3);
    }
    if show.control {
        columns += "wait   :rd:wr:y:stl:reuse";
    }
    (!columns.is_empty()).then_some(columns)
}

/// The source line, with the most that is alive in the lines of this run.
fn heading<W: Write>(
    terminal: &mut Terminal<W>,
    listing: &Listing,
    run: std::ops::Range<usize>,
    most: u32,
    sources: &mut Sources,
    show: &Show,
) -> io::Result<()> {
    let line = &listing.lines[run.start];
    let mut margin = String::new();
    if let Some(life) = &listing.life {
        let counts = life.counts[run].iter().fold(Counts::default(), |most, counts| most.max(*counts));
        margin = format!("{} {} ", numbers(&counts, show), bar(counts.general, most));
    }
    let text = line
        .source
        .as_ref()
        .map_or_else(|| "made by the compiler, for no line".to_owned(), |place| quoted(place, sources));
    let text = cut(&format!("{margin}{text}"), usize::from(WIDTH_MAX));
    let text = terminal.paint(&text, Paint::Cyan);
    terminal.line(&text)?;
    if show.chain {
        let indent = " ".repeat(margin.chars().count() + 2);
        if !line.library.is_empty() {
            terminal.dim_line(&cut(&format!("{indent}through {}", line.library), usize::from(WIDTH_MAX)))?;
        }
        for place in line.chain.iter().filter(|place| Some(*place) != line.source.as_ref()) {
            let text = format!("{indent}called from {}", quoted(place, sources));
            terminal.dim_line(&cut(&text, usize::from(WIDTH_MAX)))?;
        }
    }
    Ok(())
}

/// What stands before an instruction's text.
fn margin(listing: &Listing, at: usize, most: u32, is_peak: bool, show: &Show) -> String {
    let line = &listing.lines[at];
    let mut margin = String::new();
    if let Some(life) = &listing.life {
        let counts = life.counts[at];
        let shown = format!("{} {}", numbers(&counts, show), bar(counts.general, most));
        let blank = " ".repeat(shown.chars().count());
        let mark = if is_peak { '▶' } else { ' ' };
        margin = format!("{}{mark}", if line.is_instruction { shown } else { blank });
    }
    if show.control {
        margin += &format!(" {:<24}", line.control.as_deref().unwrap_or_default());
    }
    if line.is_instruction && show.uniform { margin + " " } else { margin }
}

/// Registers in columns; zeros stay empty, to be seen through.
fn numbers(counts: &Counts, show: &Show) -> String {
    let number = |count: u32, width: usize| match count {
        0 => " ".repeat(width),
        count => format!("{count:>width$}"),
    };
    match show.uniform {
        true => format!(
            "{}{}{}{}",
            number(counts.general, 4),
            number(counts.uniform, 4),
            number(counts.predicates, 3),
            number(counts.uniform_predicates, 3)
        ),
        false => format!("{}{}", number(counts.general, 4), number(counts.predicates, 3)),
    }
}

/// A bar of eight cells, in halves: full where `count` is `most`.
fn bar(count: u32, most: u32) -> String {
    let halves = if most == 0 { 0 } else { (2 * BAR * count).div_ceil(most) };
    let bar = "█".repeat((halves / 2) as usize) + if halves % 2 == 1 { "▌" } else { "" };
    format!("{bar:<width$}", width = BAR as usize)
}

/// `vecadd.rs:14  if i < n {`.
fn quoted(place: &SourcePlace, sources: &mut Sources) -> String {
    let short = place.short();
    match sources.line(place) {
        Some(text) => format!("{short}  {text}"),
        None => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_instructions_stands_under_its_line_and_what_has_none_is_the_compilers() {
        let place = SourcePlace { file: "src/vecadd.rs".to_owned(), line: 14 };
        let line = |source: Option<&SourcePlace>, text: &str| Line {
            source: source.cloned(),
            chain: source.cloned().into_iter().collect(),
            text: text.to_owned(),
            is_instruction: true,
            ..Line::default()
        };
        let lines = vec![line(Some(&place), "one"), line(Some(&place), "two"), line(None, "three")];
        let listing = Listing { lines, life: None };
        let mut out = Vec::new();
        print(&mut Terminal::plain(&mut out), &listing, &mut Sources::default(), &Show::default()).expect("a vector");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "vecadd.rs:14\none\ntwo\nmade by the compiler, for no line\nthree\n");
    }

    #[test]
    fn a_bar_is_full_at_the_most_and_empty_at_none() {
        assert_eq!(bar(0, 9), "        ");
        assert_eq!(bar(9, 9), "████████");
        assert_eq!(bar(1, 16), "▌       ");
        assert_eq!(bar(0, 0), "        ");
    }
}
