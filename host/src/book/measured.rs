//! What an H200 was measured to do: the runs that are kept in docs/measurements, as far as a page shows them beside the machine's.

use std::sync::LazyLock;

use serde_json::Value;

/// A run that is kept, and its file's name.
struct Kept {
    file: &'static str,
    text: &'static str,
}

macro_rules! kept {
    ($file:literal) => {
        Kept { file: $file, text: include_str!(concat!("../../../docs/measurements/", $file)) }
    };
}

static KEPT: [Kept; 2] = [kept!("2026-11-30-h200-labs-reuse.json"), kept!("2026-11-30-h200-memory-labs.json")];

static RUNS: LazyLock<Vec<(&str, Value)>> = LazyLock::new(|| {
    let read = |kept: &Kept| (kept.file, serde_json::from_str(kept.text).expect("a report that `labs --json` wrote"));
    KEPT.iter().map(read).collect()
});

/// The device that was measured, by the name it has among ours.
pub const DEVICE: &str = "H200";

/// What a lab measured, and the file that has it.
pub fn lab(id: &str) -> Option<(&'static str, &'static Value)> {
    RUNS.iter().find_map(|(file, run)| {
        let lab = run["labs"].as_array()?.iter().find(|lab| lab["id"] == id)?;
        Some((*file, lab))
    })
}
