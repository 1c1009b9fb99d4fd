//! What an H200 was measured to do: the run that is kept in docs/measurements, as far as a page shows them beside the machine's.

use std::sync::LazyLock;

use serde_json::Value;

/// The file of the run that is kept.
macro_rules! file {
    () => {
        "2026-11-30-h200-labs.json"
    };
}

static RUN: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!(concat!("../../../docs/measurements/", file!()));
    serde_json::from_str(text).expect("a report that `labs --json` wrote")
});

/// The device that was measured, by the name it has among ours.
pub const DEVICE: &str = "H200";

/// What a lab measured, and the file that has it.
pub fn lab(id: &str) -> Option<(&'static str, &'static Value)> {
    let lab = RUN["labs"].as_array()?.iter().find(|lab| lab["id"] == id)?;
    Some((file!(), lab))
}
