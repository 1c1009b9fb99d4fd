//! A recorded plot, drawn as reports draw it.

use serde_json::Value;

use crate::lab::{Axis, Mark, Plot};
use crate::report::svg;

/// The plot as an `<svg>` element; empty if it has no point.
pub fn svg(recorded: &Value) -> String {
    let axis = |name: &str| {
        let label = recorded[name].as_str().unwrap_or_default();
        let log = recorded[format!("{name}_log")].as_bool().unwrap_or(false);
        if log { Axis::log(label) } else { Axis::linear(label) }
    };
    let mut plot = Plot::new(recorded["title"].as_str().unwrap_or_default(), axis("x"), axis("y"));
    for series in recorded["series"].as_array().into_iter().flatten() {
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let points = series["points"].as_array().into_iter().flatten().map(|at| (number(&at[0]), number(&at[1])));
        plot = plot.series(series["name"].as_str().unwrap_or_default(), mark(&series["mark"]), points);
    }
    svg::svg(&plot)
}

fn mark(word: &Value) -> Mark {
    match word.as_str() {
        Some("steps") => Mark::Steps,
        Some("points") => Mark::Points,
        _ => Mark::Line,
    }
}
