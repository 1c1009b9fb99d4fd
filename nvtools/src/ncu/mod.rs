//! Nsight Compute's command line: has the hardware count what a program's kernels do.
//!
//! ncu starts the program itself, runs each of its kernels as often as the counters need, and prints a line of CSV for each
//! kernel and metric. Reading that is [`report`]'s business.

mod report;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use report::{Measured, Profile, ReportError, parse};

use crate::process::{self, ProcessError};

/// Where it comes from, for messages.
pub const SOURCE: &str = "https://developer.nvidia.com/nsight-compute";

/// What ncu prints where only an administrator may read counters.
const NOT_PERMITTED: &str = "ERR_NVGPUCTRPERM";

#[derive(Debug, thiserror::Error)]
pub enum NcuError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(
        "the driver lets only administrators read the GPU's counters ({NOT_PERMITTED})\nrun this as root, or load the driver \
         with NVreg_RestrictProfilingToAdminUsers=0"
    )]
    NotPermitted,
    #[error("{} failed: {said}", .ncu.display())]
    Failed { ncu: PathBuf, said: String },
    #[error("the output of {} cannot be read: {source}", .ncu.display())]
    Report { ncu: PathBuf, source: ReportError },
}

/// Runs a program with its words under ncu and reads the metrics of each launch. Clocks are left as they are; caches are
/// emptied before each pass, as ncu does of itself.
///
/// # Errors
/// If ncu does not start, is not permitted to count, fails, takes longer than `limit`, or prints what cannot be read.
pub fn profile(
    ncu: &Path,
    metrics: &[&str],
    program: &Path,
    words: &[impl AsRef<OsStr>],
    limit: Duration,
) -> Result<(Vec<Profile>, String), NcuError> {
    let mut command = Command::new(ncu);
    // Digits and decimal points as everywhere in programs, whatever the user's language.
    command.env("LC_ALL", "C");
    command.args(["--csv", "--print-units", "base", "--clock-control", "none", "--metrics", &metrics.join(",")]);
    command.arg(program).args(words);
    let output = process::run(&mut command, limit)?;
    if output.stdout.contains(NOT_PERMITTED) || output.stderr.contains(NOT_PERMITTED) {
        return Err(NcuError::NotPermitted);
    }
    if !output.status.success() {
        return Err(NcuError::Failed { ncu: ncu.to_owned(), said: output.last_line() });
    }
    let profiles = parse(&output.stdout).map_err(|source| NcuError::Report { ncu: ncu.to_owned(), source })?;
    Ok((profiles, output.stdout))
}
