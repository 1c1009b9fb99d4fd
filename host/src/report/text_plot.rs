//! Plots as text: for a terminal, at most as wide as asked for.

use crate::claim::format::real;
use crate::lab::{Axis, Mark, Plot, Series};

/// Columns for the numbers of the y axis.
const LABELS: usize = 8;
/// Rows between two numbers of the y axis.
const ROWS_A_LABEL: usize = 3;
/// Columns between two numbers of the x axis.
const COLUMNS_A_LABEL: usize = 12;
/// What the points of each series are drawn with; a further one starts again.
const SIGNS: [char; 5] = ['●', '×', '○', '+', '◆'];

/// The plot in lines of at most `width` characters, `height` of them for the points; nothing if there is no point to draw.
pub fn lines(plot: &Plot, width: usize, height: usize) -> Vec<String> {
    let (columns, rows) = (width.saturating_sub(LABELS + 2), height.max(2));
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let Some(x) = Scale::new(&plot.x, points().map(|point| point.0), columns, false) else { return Vec::new() };
    let Some(y) = Scale::new(&plot.y, points().map(|point| point.1), rows, true) else { return Vec::new() };
    let mut canvas = vec![vec![' '; columns]; rows];
    let mut legend = Vec::new();
    for (index, series) in plot.series.iter().enumerate() {
        let sign = SIGNS[index % SIGNS.len()];
        draw(&mut canvas, series, sign, (&x, &y));
        let sign = if series.mark == Mark::Steps { '─' } else { sign };
        legend.push(format!("{sign} {}", series.name));
    }
    let mut lines = vec![plot.title.clone(), format!("{} ({})", plot.y.label, legend.join(", "))];
    for (index, cells) in canvas.iter().enumerate() {
        let row = rows - 1 - index;
        let label = if row.is_multiple_of(ROWS_A_LABEL) { real(rounded(y.value(row as f64))) } else { String::new() };
        let line = format!("{label:>LABELS$} │{}", cells.iter().collect::<String>());
        lines.push(line.trim_end().to_owned());
    }
    lines.push(format!("{:LABELS$} └{}", "", "─".repeat(columns)));
    lines.push(x_labels(&x, columns, &plot.x.label));
    lines
}

/// Three significant digits: more say nothing on an axis.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 2.0);
    (value / unit).round() * unit
}

fn x_labels(x: &Scale, columns: usize, name: &str) -> String {
    let mut text = vec![' '; LABELS + 2 + columns];
    let mut put = |at: usize, label: &str| {
        let cells = text.iter_mut().skip(at);
        cells.zip(label.chars()).for_each(|(cell, character)| *cell = character);
    };
    let last = columns.saturating_sub(name.chars().count() + COLUMNS_A_LABEL / 2);
    for column in (0..last).step_by(COLUMNS_A_LABEL) {
        let value = x.value(column as f64);
        put(LABELS + 2 + column, &real(if !x.log && x.high - x.low >= 20.0 { value.round() } else { rounded(value) }));
    }
    put(LABELS + 2 + columns.saturating_sub(name.chars().count()), name);
    text.into_iter().collect::<String>().trim_end().to_owned()
}

/// From values to cells and back.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
    cells: usize,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, cells: usize, from_zero: bool) -> Option<Self> {
        let drawable = values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
        let place = |value: f64| if axis.log { value.log10() } else { value };
        let (mut low, mut high) = drawable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(place(value)), high.max(place(value)))
        });
        if low > high || cells < 2 {
            return None;
        }
        if from_zero && !axis.log {
            low = low.min(0.0);
        }
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        Some(Self { low, high, log: axis.log, cells })
    }

    fn cell(&self, value: f64) -> Option<usize> {
        let value = if self.log { value.log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        (0.0..=1.0).contains(&share).then(|| (share * (self.cells - 1) as f64).round() as usize)
    }

    fn value(&self, cell: f64) -> f64 {
        let value = self.low + cell / (self.cells - 1) as f64 * (self.high - self.low);
        if self.log { 10_f64.powf(value) } else { value }
    }
}

fn draw(canvas: &mut [Vec<char>], series: &Series, sign: char, (x, y): (&Scale, &Scale)) {
    let rows = canvas.len();
    let mut put = |column: usize, row: usize, sign: char| {
        if let Some(cell) = canvas.get_mut(rows - 1 - row.min(rows - 1)).and_then(|cells| cells.get_mut(column)) {
            *cell = sign;
        }
    };
    if series.mark != Mark::Steps {
        for (column, row) in series.points.iter().filter_map(|&(at, value)| x.cell(at).zip(y.cell(value))) {
            put(column, row, sign);
        }
        return;
    }
    let mut before = None;
    let mut held = series.points.iter().peekable();
    let mut value = None;
    for column in 0..x.cells {
        // The value that holds at the column's right edge, so that a step is drawn where it has happened.
        let edge = x.value(column as f64 + 0.5);
        while let Some((_, next)) = held.next_if(|(at, _)| *at <= edge) {
            value = Some(*next);
        }
        let Some(row) = value.and_then(|value| y.cell(value)) else { continue };
        let from: usize = before.unwrap_or(row);
        for between in from.min(row)..=from.max(row) {
            put(column, between, if between == row || between == from { '─' } else { '│' });
        }
        if from != row {
            put(column, from, if from > row { '╮' } else { '╯' });
            put(column, row, if from > row { '╰' } else { '╭' });
        }
        before = Some(row);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_cliff_falls_where_it_is_and_points_lie_on_their_values() {
        let plot = Plot::new("occupancy by registers", Axis::linear("registers"), Axis::linear("%"))
            .series("allowed", Mark::Steps, (0..=50).map(|at| (f64::from(at), if at > 40 { 50.0 } else { 100.0 })))
            .series("found", Mark::Points, [(10.0, 100.0), (50.0, 50.0)]);
        let text = lines(&plot, 60, 7).join("\n");
        expect![[r#"
            occupancy by registers
            % (─ allowed, × found)
                 100 │──────────×─────────────────────────────╮
                     │                                        │
                     │                                        │
                  50 │                                        ╰────────×
                     │
                     │
                   0 │
                     └──────────────────────────────────────────────────
                      0           12          24               registers"#]]
        .assert_eq(&text);
    }

    #[test]
    fn no_line_is_wider_than_asked_for_and_nothing_is_drawn_of_nothing() {
        let axes = || Plot::new("", Axis::log("x"), Axis::log("y"));
        let plot = axes().series("s", Mark::Points, [(1.0, 1.0), (1e6, 1e-6), (0.0, 1.0)]);
        for width in [20, 60, 100] {
            assert!(lines(&plot, width, 9).iter().all(|line| line.chars().count() <= width));
        }
        assert!(lines(&axes().series("s", Mark::Points, [(0.0, 1.0)]), 60, 7).is_empty());
    }
}
