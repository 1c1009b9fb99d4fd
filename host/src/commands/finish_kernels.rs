//! `finish-kernels` (hidden): rustc's raw PTX in, the PTX that ptxas, a driver and the machine all see out.
//!
//! The kernels' build calls it once after compiling. What is done to the text is [`warpwise_simt::rewrite`]'s business; this adds
//! what only the program knows: the kernels' launch bounds, and which source files are an author's.

use std::path::PathBuf;

use warpwise_kernels::bounds::BOUNDS;
use warpwise_simt::rewrite::{FinishOptions, HeaderBounds, finish};

use super::{Outcome, read_text, write_text};
use crate::error::CommandError;

/// Finish rustc's PTX: source lines, launch bounds
#[derive(clap::Args, Debug)]
pub struct Options {
    /// PTX as rustc wrote it
    #[arg(long, value_name = "FILE")]
    raw: PathBuf,
    /// Where to write the finished PTX
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let raw = read_text(&options.raw)?;
    let bounds = bounds_in(&raw);
    let finished = finish(&raw, &FinishOptions { bounds: &bounds, ours: &is_ours })
        .map_err(|source| CommandError::Finish { path: options.raw.display().to_string(), source })?;
    write_text(&options.out, &finished)?;
    Ok(Outcome::Good)
}

/// The bounds of the entries that are in this PTX: a crate of the user's has none of our kernels.
fn bounds_in(ptx: &str) -> Vec<HeaderBounds<'static>> {
    let has = |entry: &str| ptx.contains(&format!(".entry {entry}("));
    let bounds = BOUNDS.iter().filter(|bounds| has(bounds.entry)).map(|bounds| HeaderBounds {
        entry: bounds.entry,
        max_threads: bounds.max_threads,
        min_blocks_per_sm: bounds.min_blocks_per_sm,
        max_registers: bounds.max_registers,
    });
    bounds.collect()
}

/// Parts of paths of library code: an instruction inlined from there carries the line of the author's that called.
const LIBRARIES: [&str; 5] = [
    // core, by the paths of rustup's, the distribution's and the compiler's own builds.
    "/rustlib/src/rust/",
    "/rustc/",
    // Crates from a registry.
    "/registry/src/",
    // The device library, and the accessors of shared memory that stand in for it.
    "kernels-gpu/std/",
    "kernels-gpu/src/shared.rs",
];

fn is_ours(file: &str) -> bool {
    !LIBRARIES.iter().any(|library| file.contains(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_with_bounds_is_a_kernel() {
        for bounds in BOUNDS {
            assert!(warpwise_kernels::find(bounds.entry).is_some(), "{} has bounds but is no kernel", bounds.entry);
        }
    }

    #[test]
    fn bounds_go_to_the_entries_that_the_text_has() {
        assert!(bounds_in(".visible .entry mine(").is_empty());
        assert_eq!(bounds_in(".visible .entry heavy_capped(\n")[0].min_blocks_per_sm, Some(6));
    }

    #[test]
    fn core_and_the_device_library_are_not_ours_and_kernels_are() {
        for library in [
            "/usr/lib/rustlib/src/rust/library/core/src/ptr/const_ptr.rs",
            "/rustc/ac68faa20c58/library/core/src/ops/arith.rs",
            "kernels-gpu/std/src/thread.rs",
        ] {
            assert!(!is_ours(library), "{library}");
        }
        for ours in ["kernels-gpu/src/vecadd.rs", "kernels-gpu/src/maths.rs", "/home/someone/mine/src/lib.rs"] {
            assert!(is_ours(ours), "{ours}");
        }
    }
}
