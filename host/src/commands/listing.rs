//! What `ptx` and `sass` have in common: their options, and how a kernel's listing is printed.

use std::ops::RangeInclusive;

use crate::error::CommandError;
use crate::listing::fold::{Folded, fold};
use crate::listing::print::{self, Show};
use crate::listing::{Listing, Sources, peak};
use crate::report::terminal::{Paint, Stdout, WIDTH_MAX, cut};

/// The words that both commands take.
#[derive(clap::Args, Clone, Debug)]
pub struct ListingOptions {
    /// A kernel, as `list` shows it, or a file
    #[arg(value_name = "KERNEL|FILE")]
    pub subject: String,
    /// The kernel in the file; may be left out where there is one only
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Show how many registers are alive at each instruction, and explain where most are
    #[arg(long)]
    pub live: bool,
    /// Show the calls that were inlined
    #[arg(long)]
    pub chain: bool,
    /// One row for each source line: how many instructions, how many registers at most
    #[arg(long)]
    pub fold: bool,
    /// Only what comes from these lines of the kernel's file, or is called from there
    #[arg(long, value_name = "FROM..TO", value_parser = parse_lines)]
    pub lines: Option<RangeInclusive<u32>>,
}

/// `12..30`, both ends included; `12` is one line.
fn parse_lines(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str| {
        text.trim_start_matches('=')
            .parse::<u32>()
            .map_err(|_| format!("`{text}` is no line number; expected FROM..TO, such as 12..30"))
    };
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    if from > to {
        return Err(format!("{from}..{to} is empty"));
    }
    Ok(from..=to)
}

/// One kernel's listing with its headline.
pub struct Titled {
    pub title: String,
    /// What the folded table calls its columns.
    pub arch: String,
    pub listing: Listing,
    /// Whether it has uniform registers and control information.
    pub is_sass: bool,
}

impl ListingOptions {
    /// Prints listings one after the other, or folded into one table.
    pub fn print(
        &self,
        terminal: &mut Stdout,
        listings: &[Titled],
        sources: &mut Sources,
        control: bool,
    ) -> Result<(), CommandError> {
        if self.fold {
            return self.print_folded(terminal, listings, sources);
        }
        for (index, titled) in listings.iter().enumerate() {
            if index > 0 {
                terminal.line("")?;
            }
            headline(terminal, titled)?;
            let show = Show { chain: self.chain, control, lines: self.lines.clone(), uniform: titled.is_sass };
            print::print(terminal, &titled.listing, sources, &show)?;
            self.explain(terminal, titled)?;
        }
        Ok(())
    }

    fn explain(&self, terminal: &mut Stdout, titled: &Titled) -> Result<(), CommandError> {
        let Some(peak) = peak::explain(&titled.listing) else { return Ok(()) };
        let line = &titled.listing.lines[peak.line];
        let place = line.source.as_ref().map_or_else(String::new, |place| format!(" at {}", place.short()));
        let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head = format!("most are alive{place}: {}, in `{text}`", registers(peak.general, titled));
        terminal.line("")?;
        let head = terminal.paint(&cut(&head, usize::from(WIDTH_MAX)), Paint::Yellow);
        terminal.line(&head)?;
        terminal.rows(&peak::COLUMNS.map(str::to_owned), peak.rows(&titled.listing))?;
        let life = titled.listing.life.as_ref();
        let kept = life.map_or(0, |life| life.counts.iter().filter(|counts| counts.kept > 0).count());
        if kept > 0 {
            terminal.dim_line(&format!(
                "at {kept} instructions lanes whose guard is false keep more than nvdisasm counts; docs/listings.md"
            ))?;
        }
        if !titled.is_sass {
            terminal.dim_line("virtual registers, 32 bits each: the least that a compiler must keep in this order")?;
        }
        Ok(())
    }

    fn print_folded(
        &self,
        terminal: &mut Stdout,
        listings: &[Titled],
        sources: &mut Sources,
    ) -> Result<(), CommandError> {
        for titled in listings {
            headline(terminal, titled)?;
        }
        let folded: Vec<_> = listings.iter().map(|titled| fold(&titled.listing)).collect();
        let own_file = listings.first().and_then(|titled| titled.listing.own_file());
        let mut places: Vec<_> = folded.iter().flat_map(|rows| rows.keys().cloned()).collect();
        places.sort();
        places.dedup();
        if let Some(range) = &self.lines {
            places.retain(|place| {
                place
                    .as_ref()
                    .is_some_and(|place| Some(&place.file) == own_file.as_ref() && range.contains(&place.line))
            });
        }
        let none = match listings.iter().any(|titled| titled.listing.has_sources()) {
            true => "made by the compiler, for no line",
            false => "all of it",
        };
        let layout = Folding { live: self.live, archs: listings.iter().map(|titled| titled.arch.as_str()).collect() };
        terminal.dim_line(&layout.heading())?;
        for place in &places {
            let cells: Vec<Folded> = folded.iter().map(|rows| rows.get(place).copied().unwrap_or_default()).collect();
            let text = match place {
                Some(place) => sources.line(place).unwrap_or_default().to_owned(),
                None => none.to_owned(),
            };
            let name = place.as_ref().map_or_else(|| "–".to_owned(), |place| place.short());
            let line = cut(&layout.row(&name, &cells, &text), usize::from(WIDTH_MAX));
            let has_peak = self.live && cells.iter().any(|cell| cell.has_peak);
            let line = if has_peak { terminal.paint(&line, Paint::Yellow) } else { line };
            terminal.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// The columns of a folded listing: for each architecture the instructions and the most registers alive, `▶` where the peak is.
struct Folding<'l> {
    live: bool,
    archs: Vec<&'l str>,
}

/// Widths of the columns.
const PLACE: usize = 24;
const NUMBER: usize = 7;

impl Folding<'_> {
    fn heading(&self) -> String {
        let mut line = format!("{:PLACE$}", "line");
        for arch in &self.archs {
            line += &format!("{arch:>NUMBER$}");
            if self.live {
                line += &format!("{:>NUMBER$}", "alive");
            }
        }
        line + "  source"
    }

    fn row(&self, place: &str, cells: &[Folded], text: &str) -> String {
        let mut line = format!("{:PLACE$}", cut(place, PLACE));
        for cell in cells {
            line += &format!("{:>NUMBER$}", cell.instructions);
            if self.live {
                let alive = format!("{}{}", if cell.has_peak { "▶" } else { "" }, cell.most.general);
                line += &format!("{alive:>NUMBER$}");
            }
        }
        format!("{line}  {text}")
    }
}

fn headline(terminal: &mut Stdout, titled: &Titled) -> Result<(), CommandError> {
    let count = titled.listing.lines.iter().filter(|line| line.is_instruction).count();
    let text = format!("{}, {count} instructions", titled.title);
    let text = match titled.listing.life.as_ref().map(|life| life.most()) {
        Some(most) => format!("{text}, at most {} alive", registers(most.general, titled)),
        None => text,
    };
    let text = terminal.paint(&cut(&text, usize::from(WIDTH_MAX)), Paint::Bold);
    terminal.line(&text)?;
    if !titled.listing.has_sources() {
        terminal.dim_line("it has no source lines; nvcc and ptxas write them with -lineinfo")?;
    }
    Ok(())
}

fn registers(count: u32, titled: &Titled) -> String {
    let kind = if titled.is_sass { "registers" } else { "virtual registers" };
    format!("{count} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_lines_has_both_ends() {
        assert_eq!(parse_lines("12..30"), Ok(12..=30));
        assert_eq!(parse_lines("12..=30"), Ok(12..=30));
        assert_eq!(parse_lines("7"), Ok(7..=7));
        assert!(parse_lines("9..3").is_err_and(|error| error == "9..3 is empty"));
        assert!(parse_lines("a..3").is_err_and(|error| error.contains("FROM..TO")));
    }
}
