//! `warpwise.accuracy/1`: what `accuracy --json FILE` writes.

use serde::Serialize;

use super::Real;
use crate::accuracy::{Row, RungRow, Summary};
use crate::numbers::isa_name;
use crate::report::accuracy::Comparison;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    device: &'a str,
    measured_on: Option<&'a str>,
    date: Option<&'a str>,
    rows: Vec<RowJson>,
    mean_absolute_error: Option<Real>,
    worst: Option<Real>,
    worst_case: Option<String>,
    spearman: Option<Real>,
    classes: Vec<ClassJson>,
    ladder: Vec<RungJson>,
}

#[derive(Serialize)]
struct RowJson {
    kernel: &'static str,
    size: &'static str,
    class: &'static str,
    set: &'static str,
    isa: &'static str,
    modelled_us: Real,
    measured_us: Option<Real>,
    error: Option<Real>,
}

#[derive(Serialize)]
struct ClassJson {
    class: &'static str,
    cases: usize,
    mean_absolute_error: Real,
    worst: Real,
}

#[derive(Serialize)]
struct RungJson {
    level: &'static str,
    unit: &'static str,
    modelled: Real,
    measured: Option<Real>,
    error: Option<Real>,
}

/// The document of a comparison.
pub fn accuracy(comparison: &Comparison) -> impl Serialize + '_ {
    let summary = Summary::of(&comparison.rows);
    let of = |value: fn(&Summary) -> f64| summary.as_ref().map(|summary| Real(value(summary)));
    let classes = summary.iter().flat_map(|summary| &summary.classes).map(|class| ClassJson {
        class: class.class.word(),
        cases: class.cases,
        mean_absolute_error: Real(class.mean_absolute_error),
        worst: Real(class.worst),
    });
    Document {
        schema: "warpwise.accuracy/1",
        device: &comparison.device,
        measured_on: comparison.measured_on.as_deref(),
        date: comparison.date.as_deref(),
        rows: comparison.rows.iter().map(row).collect(),
        mean_absolute_error: of(|summary| summary.mean_absolute_error),
        worst: of(|summary| summary.worst),
        worst_case: summary.as_ref().map(|summary| summary.worst_case.clone()),
        spearman: of(|summary| summary.spearman),
        classes: classes.collect(),
        ladder: comparison.ladder.iter().map(rung).collect(),
    }
}

fn row(row: &Row) -> RowJson {
    RowJson {
        kernel: row.case.kernel,
        size: row.case.size,
        class: row.case.class.word(),
        set: row.case.set.word(),
        isa: isa_name(row.isa),
        modelled_us: Real(row.modelled_us),
        measured_us: row.measured_us.map(Real),
        error: row.error().map(Real),
    }
}

fn rung(row: &RungRow) -> RungJson {
    RungJson {
        level: row.rung.name,
        unit: row.rung.unit.word(),
        modelled: Real(row.modelled),
        measured: row.measured.map(Real),
        error: row.error().map(Real),
    }
}
