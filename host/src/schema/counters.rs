//! `warpwise.counters/1`: what `counters --json FILE` writes.

use serde::Serialize;
use serde_json::Value;

use super::number;
use crate::counters::{Comparison, Verdict};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    device: &'a str,
    rows: Vec<RowJson<'a>>,
    summary: SummaryJson,
}

#[derive(Serialize)]
struct RowJson<'a> {
    kernel: &'a str,
    metric: &'a str,
    machine: Option<Value>,
    hardware: Option<Value>,
    verdict: &'static str,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct SummaryJson {
    equal: usize,
    explained: usize,
    differs: usize,
    not_compared: usize,
}

/// The document of a comparison.
pub fn counters<'a>(comparisons: &'a [Comparison], device: &'a str) -> impl Serialize + 'a {
    let rows = comparisons.iter().map(|comparison| RowJson {
        kernel: &comparison.kernel,
        metric: comparison.metric,
        machine: comparison.machine.map(number),
        hardware: comparison.hardware.map(number),
        verdict: comparison.verdict.word(),
        reason: match comparison.verdict {
            Verdict::Explained(reason) => Some(reason),
            _ => None,
        },
    });
    let of = |word: &str| comparisons.iter().filter(|comparison| comparison.verdict.word() == word).count();
    let summary = SummaryJson {
        equal: of("equal"),
        explained: of("explained"),
        differs: of("differs"),
        not_compared: of("not-compared"),
    };
    Document { schema: "warpwise.counters/1", device, rows: rows.collect(), summary }
}
