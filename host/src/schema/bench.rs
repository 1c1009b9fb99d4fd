//! `warpwise.bench/1`: what `bench --json FILE` writes.

use serde::Serialize;

use super::Real;
use crate::bench::Figure;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    value: Real,
    unit: &'static str,
}

/// The document of some figures.
pub fn bench(figures: &[Figure]) -> impl Serialize + use<> {
    let row = |figure: &Figure| Row { name: figure.name, value: Real(figure.value), unit: figure.unit };
    Document { schema: "warpwise.bench/1", rows: figures.iter().map(row).collect() }
}
