//! What `accuracy` found: for the terminal, as a page, as a plot.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::html::{escape, page_of, rows_html};
use super::svg::{standalone, svg};
use super::terminal::Terminal;
use crate::accuracy::{Row, RungRow, Summary};
use crate::lab::{Axis, Mark, Plot};
use crate::numbers::isa_name;

/// The band of the plot: the error that the mean is to stay under.
const BAND: f64 = 0.2;

/// Model and hardware, case by case.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The modelled device.
    pub device: String,
    /// The GPU, as its driver names it, and the day; absent where nothing was measured.
    pub measured_on: Option<String>,
    pub date: Option<String>,
    pub rows: Vec<Row>,
    pub ladder: Vec<RungRow>,
}

impl Comparison {
    /// What the times were held against, in a sentence.
    fn against(&self) -> String {
        match (&self.measured_on, &self.date) {
            (Some(gpu), Some(date)) => format!("{} modelled; measured on {gpu}, {date}", self.device),
            _ => format!("{} modelled: not validated, no measurement of this device is at hand", self.device),
        }
    }
}

const COLUMNS: [&str; 7] = ["kernel", "size", "class", "isa", "µs, modelled", "µs, measured", "error"];
const RUNG_COLUMNS: [&str; 5] = ["level", "modelled", "measured", "", "error"];
const CLASS_COLUMNS: [&str; 4] = ["class", "cases", "mean absolute error", "worst"];

/// Everything, as tables.
pub fn print<W: Write>(terminal: &mut Terminal<W>, comparison: &Comparison) -> io::Result<()> {
    terminal.line(&comparison.against())?;
    terminal.rows(&COLUMNS.map(str::to_owned), comparison.rows.iter().map(cells))?;
    if !comparison.ladder.is_empty() {
        terminal.line("\nmemory ladder")?;
        terminal.rows(&RUNG_COLUMNS.map(str::to_owned), comparison.ladder.iter().map(rung_cells))?;
    }
    if let Some(summary) = Summary::of(&comparison.rows) {
        terminal.line("")?;
        terminal.rows(&CLASS_COLUMNS.map(str::to_owned), class_rows(&summary))?;
        terminal.line(&format!("\n{}", in_words(&summary)))?;
    }
    Ok(())
}

fn in_words(summary: &Summary) -> String {
    format!(
        "{} cases: mean absolute error {}, worst {} ({}), Spearman {:.3}",
        summary.cases,
        percent(summary.mean_absolute_error),
        signed(summary.worst),
        summary.worst_case,
        summary.spearman
    )
}

fn cells(row: &Row) -> Vec<String> {
    vec![
        row.case.kernel.to_owned(),
        row.case.size.to_owned(),
        row.case.class.word().to_owned(),
        isa_name(row.isa).to_owned(),
        format!("{:.2}", row.modelled_us),
        row.measured_us.map_or_else(|| "–".to_owned(), |us| format!("{us:.2}")),
        row.error().map_or_else(|| "not validated".to_owned(), signed),
    ]
}

fn rung_cells(row: &RungRow) -> Vec<String> {
    vec![
        row.rung.name.to_owned(),
        format!("{:.1}", row.modelled),
        row.measured.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}")),
        row.rung.unit.word().to_owned(),
        row.error().map_or_else(|| "not validated".to_owned(), signed),
    ]
}

fn class_rows(summary: &Summary) -> Vec<Vec<String>> {
    let row = |class: &crate::accuracy::statistics::ClassSummary| {
        let mean = percent(class.mean_absolute_error);
        vec![class.class.word().to_owned(), class.cases.to_string(), mean, signed(class.worst)]
    };
    summary.classes.iter().map(row).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn signed(share: f64) -> String {
    format!("{:+.1}%", 100.0 * share)
}

/// Modelled over measured, both logarithmic, a series a class, between the lines of the band.
fn plot(comparison: &Comparison) -> Plot {
    let points = || comparison.rows.iter().filter_map(|row| Some((row, row.measured_us?)));
    let least = points().map(|(_, us)| us).fold(f64::INFINITY, f64::min);
    let most = points().map(|(_, us)| us).fold(0.0, f64::max);
    let axis = |what: &str| Axis::log(format!("{what} (µs)"));
    let mut plot = Plot::new(comparison.against(), axis("measured"), axis("modelled"));
    for (name, factor) in [("equal", 1.0), ("20% more", 1.0 + BAND), ("20% less", 1.0 - BAND)] {
        plot = plot.series(name, Mark::Line, [least, most].map(|us| (us, us * factor)));
    }
    plot.series("cases", Mark::Points, points().map(|(row, us)| (us, row.modelled_us)))
}

/// The plot as a file of its own.
pub fn plot_file(comparison: &Comparison) -> String {
    standalone(&plot(comparison))
}

/// Tables and plot as one page that needs nothing else.
pub fn page(comparison: &Comparison) -> String {
    let mut body = String::new();
    let plot = plot(comparison);
    let _ = writeln!(body, "<figure>{}<figcaption>{}</figcaption></figure>", svg(&plot), escape(&plot.title));
    if let Some(summary) = Summary::of(&comparison.rows) {
        let _ = writeln!(body, "<p>{}</p>", escape(&in_words(&summary)));
        body.push_str(&rows_html(&CLASS_COLUMNS, class_rows(&summary).into_iter()));
    }
    let _ = writeln!(body, "<h2>Cases</h2>\n{}", rows_html(&COLUMNS, comparison.rows.iter().map(cells)));
    if !comparison.ladder.is_empty() {
        let rungs = rows_html(&RUNG_COLUMNS, comparison.ladder.iter().map(rung_cells));
        let _ = writeln!(body, "<h2>Memory ladder</h2>\n{rungs}");
    }
    page_of("accuracy", &format!("<p>{}</p>", escape(&comparison.against())), &body)
}

#[cfg(test)]
mod tests {
    use warpwise_simt::isa::Isa;

    use super::*;
    use crate::accuracy::CASES;
    use crate::accuracy::ladder::RUNGS;

    fn comparison(measured_us: Option<f64>) -> Comparison {
        Comparison {
            device: "H200".to_owned(),
            measured_on: measured_us.map(|_| "NVIDIA H200".to_owned()),
            date: measured_us.map(|_| "2026-11-30".to_owned()),
            rows: vec![Row { case: &CASES[0], modelled_us: 12.0, isa: Isa::Ptx, measured_us }],
            ladder: vec![RungRow { rung: &RUNGS[0], modelled: 33.0, measured: measured_us.map(|_| 30.0) }],
        }
    }

    fn printed(comparison: &Comparison) -> String {
        let mut bytes = Vec::new();
        print(&mut Terminal::plain(&mut bytes), comparison).expect("a vector takes everything");
        String::from_utf8(bytes).expect("it is text")
    }

    #[test]
    fn both_times_and_their_error_are_shown_with_where_they_are_from() {
        let text = printed(&comparison(Some(10.0)));
        for shown in ["measured on NVIDIA H200, 2026-11-30", "12.00", "10.00", "+20.0%", "+10.0%", "memory ladder"] {
            assert!(text.contains(shown), "{shown} is missing:\n{text}");
        }
        assert!(page(&comparison(Some(10.0))).contains("<svg role=\"img\""));
        let file = plot_file(&comparison(Some(10.0)));
        assert!(file.starts_with("<svg style") && file.matches("xmlns=").count() == 1, "{file}");
    }

    #[test]
    fn without_a_measurement_nothing_is_called_measured_and_the_model_not_validated() {
        let text = printed(&comparison(None));
        assert!(text.contains("not validated") && !text.contains("measured on") && !text.contains("mean absolute"));
    }
}
