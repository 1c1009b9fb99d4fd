//! Plots as SVG that follows the page's colours, light or dark.
//!
//! The drawing library writes fixed colours into attributes. Ink and grid are drawn in two colours that occur nowhere else, and these
//! are replaced in the text by `currentColor` and a CSS variable; the series' colours are chosen to be read on both grounds.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use crate::claim::format::real;
use crate::lab::{Axis, Mark, Plot};

const SIZE: (u32, u32) = (680, 340);

/// Stand-ins for the page's ink and grid.
const INK: RGBColor = RGBColor(1, 2, 3);
const GRID: RGBColor = RGBColor(3, 2, 1);

/// Okabe and Ito's colours that keep contrast on white and on near-black (jfly.uni-koeln.de/color).
const SERIES: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Ink and grid where no page lends them.
const STANDALONE: &str = "style=\"color: #1b1b1b; background: #fff; --grid: #ddd\"";

type Points = Vec<(f64, f64)>;
type DrawResult<E> = Result<(), DrawingAreaErrorKind<E>>;

/// The plot as an `<svg>` element; empty if it has no point that can be drawn.
pub fn svg(plot: &Plot) -> String {
    let series: Vec<Points> = plot.series.iter().map(|series| drawable(&series.points, plot)).collect();
    let Some([x, y]) = ranges(&series, plot) else {
        return String::new();
    };
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        // Writing into a string cannot fail; a plot that the library refuses is left out.
        let drawn = match (plot.x.log, plot.y.log) {
            (false, false) => draw(&area, plot, &series, x.0..x.1, y.0..y.1),
            (true, false) => draw(&area, plot, &series, (x.0..x.1).log_scale(), y.0..y.1),
            (false, true) => draw(&area, plot, &series, x.0..x.1, (y.0..y.1).log_scale()),
            (true, true) => draw(&area, plot, &series, (x.0..x.1).log_scale(), (y.0..y.1).log_scale()),
        };
        if drawn.is_err() {
            return String::new();
        }
    }
    follow_page_colours(&text, &plot.title)
}

/// The plot as a file: black on white, since no page lends it colours.
pub fn standalone(plot: &Plot) -> String {
    svg(plot).replacen("<svg ", &format!("<svg {STANDALONE} "), 1)
}

/// Plots one below the other in a file; empty if none has a point that can be drawn.
pub fn stacked(plots: &[Plot]) -> String {
    let drawn: Vec<String> = plots.iter().map(svg).filter(|svg| !svg.is_empty()).collect();
    let (width, height) = SIZE;
    let place = |(index, svg): (usize, &String)| {
        let place = format!("<svg y=\"{}\" width=\"{width}\" height=\"{height}\" ", index as u32 * height);
        svg.replacen("<svg ", &place, 1)
    };
    let inner: String = drawn.iter().enumerate().map(place).collect();
    match drawn.len() as u32 * height {
        0 => String::new(),
        all => format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {all}\" {STANDALONE}>\n{inner}</svg>\n"
        ),
    }
}

fn drawable(points: &[(f64, f64)], plot: &Plot) -> Points {
    let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
    points.iter().copied().filter(|&(x, y)| fits(x, &plot.x) && fits(y, &plot.y)).collect()
}

/// Least and greatest on each axis with some air. A linear y axis starts at zero, so that heights can be compared.
fn ranges(series: &[Points], plot: &Plot) -> Option<[(f64, f64); 2]> {
    let points = || series.iter().flatten();
    let (x_low, x_high) = extremes(points().map(|point| point.0))?;
    let (y_low, y_high) = extremes(points().map(|point| point.1))?;
    Some([with_air(x_low, x_high, &plot.x), with_air(if plot.y.log { y_low } else { y_low.min(0.0) }, y_high, &plot.y)])
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |known, value| {
        let (low, high) = known.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// A little more than from `low` to `high`; never empty. Zero stays the edge where it is one.
fn with_air(low: f64, high: f64, axis: &Axis) -> (f64, f64) {
    if axis.log {
        return (low / 1.1, high * 1.1);
    }
    let air = if high > low { (high - low) * 0.05 } else { low.abs().max(1.0) * 0.5 };
    let keep_zero = |edge: f64, moved: f64| if edge == 0.0 { 0.0 } else { moved };
    (keep_zero(low, low - air), keep_zero(high, high + air).max(low + air))
}

fn draw<X, Y, DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    plot: &Plot,
    series: &[Points],
    x: X,
    y: Y,
) -> DrawResult<DB::ErrorType>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let text = ("sans-serif", 15).into_font().color(&INK);
    let mut chart =
        ChartBuilder::on(area).margin(12).x_label_area_size(44).y_label_area_size(64).build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(text.clone())
        .axis_desc_style(text.clone())
        .x_desc(&plot.x.label)
        .y_desc(&plot.y.label)
        .x_label_formatter(&|value| real(*value))
        .y_label_formatter(&|value| real(*value))
        .draw()?;
    for (index, (points, series)) in series.iter().zip(&plot.series).enumerate() {
        let colour = SERIES[index % SERIES.len()];
        let drawn = match series.mark {
            Mark::Points => chart.draw_series(points.iter().map(|&at| Circle::new(at, 3, colour.filled())))?,
            Mark::Line => chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?,
            Mark::Steps => chart.draw_series(LineSeries::new(steps(points), colour.stroke_width(2)))?,
        };
        drawn.label(&series.name).legend(move |(x, y)| Rectangle::new([(x, y - 2), (x + 14, y + 2)], colour.filled()));
    }
    if plot.series.len() > 1 {
        chart.configure_series_labels().label_font(text).border_style(GRID).draw()?;
    }
    area.present()
}

/// Each value held until the next point.
fn steps(points: &[(f64, f64)]) -> Points {
    let mut corners = Points::with_capacity(points.len() * 2);
    for &(x, y) in points {
        if let Some(&(_, held)) = corners.last() {
            corners.push((x, held));
        }
        corners.push((x, y));
    }
    corners
}

fn follow_page_colours(svg: &str, title: &str) -> String {
    let fixed = format!(r#"<svg width="{}" height="{}""#, SIZE.0, SIZE.1);
    let fluid = format!(r#"<svg role="img" aria-label="{}" class="plot""#, super::html::escape(title));
    svg.replacen(&fixed, &fluid, 1).replace("#010203", "currentColor").replace("#030201", "var(--grid)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(x: Axis) -> Plot {
        Plot::new("occupancy <by> registers", x, Axis::linear("occupancy (%)"))
            .series("256 threads", Mark::Steps, [(40.0, 100.0), (41.0, 83.0), (49.0, 67.0)])
            .series("512 threads", Mark::Points, [(0.0, 1.0), (f64::NAN, 2.0)])
    }

    #[test]
    fn a_plot_takes_its_ink_from_the_page_and_escapes_its_title() {
        let svg = svg(&plot(Axis::linear("registers")));
        assert!(svg.contains("currentColor") && svg.contains("var(--grid)"), "{svg}");
        assert!(!svg.contains("#010203") && !svg.contains("<svg width"), "{svg}");
        assert!(svg.contains("aria-label=\"occupancy &lt;by&gt; registers\""), "{svg}");
    }

    #[test]
    fn points_that_a_logarithm_does_not_have_are_left_out() {
        assert!(svg(&plot(Axis::log("registers"))).contains("256 threads"));
        let none = Plot::new("", Axis::log("x"), Axis::log("y")).series("s", Mark::Line, [(0.0, 1.0), (1.0, -1.0)]);
        assert_eq!(svg(&none), "");
    }

    #[test]
    fn a_step_holds_its_value_until_the_next_point() {
        assert_eq!(steps(&[(1.0, 5.0), (2.0, 3.0)]), [(1.0, 5.0), (2.0, 5.0), (2.0, 3.0)]);
    }
}
