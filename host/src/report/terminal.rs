//! The report in the terminal: at most 100 columns, colour only where the reader can see it.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};

use super::words::{KERNEL_COLUMNS, ceilings_line, claim_numbers, claim_reason, kernel_cells, unvalidated_devices};
use crate::ceilings::Ceilings;
use crate::claim::{Judged, Value, Verdict};
use crate::lab::{LabOutcome, RunOutcome, Summary, Table};

/// Widest line that is written, however wide the terminal.
pub const WIDTH_MAX: u16 = 100;

/// A place to write reports to, which knows whether it may use colour.
pub struct Terminal<W> {
    out: Attentive<W>,
    colour: bool,
}

/// Standard output, held for as long as the command prints.
pub type Stdout = Terminal<io::StdoutLock<'static>>;

/// A writer whose reader may go away (`| head`): what comes after that is dropped, and is no error.
struct Attentive<W> {
    out: W,
    gone: bool,
}

impl<W: Write> Write for Attentive<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        match self.out.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gone { Ok(()) } else { self.out.flush() }
    }
}

/// Standard output; coloured if it is a terminal and `NO_COLOR` is not set (no-color.org: any non-empty value).
pub fn stdout() -> Stdout {
    let no_color = std::env::var_os("NO_COLOR");
    let colour = has_colour(io::stdout().is_terminal(), no_color.as_deref());
    Terminal { colour, ..Terminal::plain(io::stdout().lock()) }
}

fn has_colour(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

/// How a piece of text stands out.
#[derive(Clone, Copy)]
pub enum Paint {
    Bold,
    Dim,
    Green,
    Red,
    Yellow,
    Cyan,
}

impl<W: Write> Terminal<W> {
    /// Plain text to any writer.
    pub fn plain(out: W) -> Self {
        Self { out: Attentive { out, gone: false }, colour: false }
    }

    /// Whether the reader went away: nothing that is written from now on is seen.
    pub fn is_unread(&self) -> bool {
        self.out.gone
    }

    /// A line as it is.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// A line that stands back.
    pub fn dim_line(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(text, Paint::Dim);
        writeln!(self.out, "{text}")
    }

    /// A remark that stands back, in as many lines as it takes.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        wrap(text, usize::from(WIDTH_MAX)).iter().try_for_each(|line| self.dim_line(line))
    }

    /// A line of what is no longer there.
    pub fn gone(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(text, Paint::Red);
        writeln!(self.out, "{text}")
    }

    /// A line of what is new.
    pub fn come(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(text, Paint::Green);
        writeln!(self.out, "{text}")
    }

    /// One lab: kernels, tables, notes, claims.
    pub fn lab(&mut self, outcome: &LabOutcome, ceilings: &[Ceilings]) -> io::Result<()> {
        let lab = outcome.lab;
        let title = self.paint(lab.id, Paint::Bold);
        writeln!(self.out, "\n{title}  {}", lab.question)?;
        let where_from = format!("{}, {} backend, {:.1} s", lab.sections, outcome.backend.word(), outcome.seconds);
        let where_from = self.paint(&where_from, Paint::Dim);
        writeln!(self.out, "{where_from}\n")?;
        if !outcome.kernels.is_empty() {
            self.rows(
                &KERNEL_COLUMNS.map(str::to_owned),
                outcome.kernels.iter().map(|row| kernel_cells(row, ceilings).to_vec()),
            )?;
            writeln!(self.out)?;
        }
        for table in &outcome.tables {
            self.table(table)?;
            writeln!(self.out)?;
        }
        for note in &outcome.notes {
            let mut lines = wrap(note, usize::from(WIDTH_MAX) - 4).into_iter();
            writeln!(self.out, "  {}", lines.next().unwrap_or_default())?;
            for line in lines {
                writeln!(self.out, "    {line}")?;
            }
        }
        for judged in &outcome.claims {
            self.claim(judged)?;
        }
        Ok(())
    }

    /// The last lines: claims by verdict, and what is to be known about the numbers.
    pub fn summary(&mut self, run: &RunOutcome) -> io::Result<()> {
        let Summary { holds, fails, not_run } = run.summary();
        let labs = run.labs.len();
        let fails_text = format!("{fails} fail");
        let fails_text = if fails > 0 { self.paint(&fails_text, Paint::Red) } else { fails_text };
        let plural = if labs == 1 { "" } else { "s" };
        writeln!(self.out, "\n{labs} lab{plural}: {holds} claims hold, {fails_text}, {not_run} not run here")?;
        writeln!(self.out, "compiled by {}", run.toolchain)?;
        for ceilings in &run.ceilings {
            writeln!(self.out, "{}", ceilings_line(ceilings))?;
        }
        for device in unvalidated_devices(run.labs.iter().flat_map(|lab| &lab.kernels)) {
            writeln!(
                self.out,
                "times of the {device} are modelled; the model was not held against one: good for ratios"
            )?;
        }
        Ok(())
    }

    /// A titled table.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        writeln!(self.out, "  {}", table.title)?;
        self.rows(&table.columns, table.rows.iter().map(|row| row.iter().map(Value::to_string).collect()))
    }

    /// Rows under headings. Columns in which every cell is a number are set to the right.
    pub fn rows(&mut self, columns: &[String], rows: impl IntoIterator<Item = Vec<String>>) -> io::Result<()> {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        let mut table = comfy_table::Table::new();
        table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH_MAX);
        table.set_header(columns);
        for (index, column) in table.column_iter_mut().enumerate() {
            if rows.iter().all(|row| row.get(index).is_some_and(|cell| is_number(cell))) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.add_rows(rows);
        for (index, line) in table.lines().enumerate() {
            let line = line.trim_end();
            let line = if index == 0 { self.paint(line, Paint::Dim) } else { line.to_owned() };
            writeln!(self.out, " {line}")?;
        }
        Ok(())
    }

    /// A claim in one line or more: verdict, id, statement; then what was expected, found and why.
    fn claim(&mut self, judged: &Judged) -> io::Result<()> {
        let (mark, paint) = match judged.verdict {
            Verdict::Holds => ("✓", Paint::Green),
            Verdict::Fails => ("✗", Paint::Red),
            Verdict::NotRun => ("–", Paint::Yellow),
        };
        let mark = self.paint(mark, paint);
        let mut lines = wrap(&claim_text(judged), usize::from(WIDTH_MAX) - 6).into_iter();
        writeln!(self.out, "  {mark} {}", lines.next().unwrap_or_default())?;
        for line in lines {
            writeln!(self.out, "      {line}")?;
        }
        for line in claim_reason(judged).iter().flat_map(|text| wrap(text, usize::from(WIDTH_MAX) - 6)) {
            let line = self.paint(&line, paint);
            writeln!(self.out, "      {line}")?;
        }
        Ok(())
    }

    /// The text in colour, or as it is where there is none.
    pub fn paint(&self, text: &str, paint: Paint) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Green => "32",
            Paint::Red => "31",
            Paint::Yellow => "33",
            Paint::Cyan => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// `blocks: 1,000,003 elements take 3,907 blocks [= 3907]`.
fn claim_text(judged: &Judged) -> String {
    let numbers = claim_numbers(judged).map_or_else(String::new, |numbers| format!(" [{numbers}]"));
    format!("{}: {}{numbers}", judged.claim.id, judged.claim.statement)
}

fn is_number(cell: &str) -> bool {
    let mut chars = cell.chars();
    chars.next().is_some_and(|c| c.is_ascii_digit() || c == '-')
        && chars.all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | '-' | '%' | '×'))
}

/// At most `width` characters of a text; where some are cut off, the last shown is `…`.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Lines of at most `width` characters, broken between words; a longer word keeps a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::lab::fixture;

    #[test]
    fn a_run_reads_so_in_a_terminal_without_colour() {
        let run = fixture::run();
        let mut out = Vec::new();
        let mut terminal = Terminal::plain(&mut out);
        terminal.lab(&run.labs[0], &run.ceilings).expect("a vector takes all");
        terminal.summary(&run).expect("a vector takes all");
        let text = String::from_utf8(out).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH_MAX)), "{text}");
        expect![[r#"

            sample  what is < 1 & > 0?
            ch1 §2, sim backend, 0.2 s

              kernel        registers   spills               occupancy        limiter  time
              vecadd, n =   12 (ptxas)  –                    100% (81% seen)  warps    16.32 µs modelled (41,000
              1,000,003                                                                cycles, ptx), 59% of
                                                                                       copy; 5.1 µs measured (5
                                                                                       µs to 5.9 µs, 50 samples;
                                                                                       noisy: quartiles 6%
                                                                                       apart; throttled to 1620
                                                                                       MHz: power cap)
              heavy_capped  40 (ptxas)  148 B out, 160 B in  100% (81% seen)  warps    needs SASS

              blocks by size
              threads  occupancy  limiter
                  256          1  warps
                 1024     0.6667  warps

              refused: 1,025 threads
              ✓ blocks: 3,907 blocks are needed [= 3907]
              ✗ free: the guard costs under 1% [found inf, expected < 0.01]
                  note: in instructions
              ✓ same: the results are the CPU's
              – speed: the GPU reaches 90% [expected ≥ 0.9]
                  not run: needs a GPU

            1 lab: 2 claims hold, 1 fail, 1 not run here
            compiled by rustc 1.96.0, LLVM 22.1.8, ptxas 13.2.78
            the RTX 5070 at most, modelled: a copy 618.2 GB/s, FMA 30.87 TFLOP/s
            times of the RTX 5070 are modelled; the model was not held against one: good for ratios
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_reader_that_went_away_is_no_error_and_is_noticed() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let mut terminal = Terminal::plain(Closed);
        assert!(!terminal.is_unread());
        terminal.line("a line").expect("no error");
        assert!(terminal.is_unread());
    }

    #[test]
    fn lines_break_between_words_and_a_long_word_stands_alone() {
        assert_eq!(wrap("a warp has 32 lanes", 10), ["a warp has", "32 lanes"]);
        assert_eq!(wrap("a l1tex__t_sectors b", 5), ["a", "l1tex__t_sectors", "b"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn only_a_terminal_has_colour_and_only_where_no_color_is_unset_or_empty() {
        let set = |text: &'static str| Some(OsStr::new(text));
        assert!(has_colour(true, None) && has_colour(true, set("")));
        assert!(!has_colour(true, set("1")) && !has_colour(false, None));
    }

    #[test]
    fn a_text_that_is_too_long_ends_in_dots() {
        assert_eq!((cut("warp", 4).as_str(), cut("warps", 4).as_str(), cut("", 3).as_str()), ("warp", "war…", ""));
    }

    #[test]
    fn numbers_in_any_notation_are_told_from_words() {
        for number in ["12", "-3.5", "1,000,003", "83%", "1.2e-5", "32×8"] {
            assert!(is_number(number), "{number}");
        }
        for word in ["", "–", "warps", "12 (ptxas)"] {
            assert!(!is_number(word), "{word}");
        }
    }
}
