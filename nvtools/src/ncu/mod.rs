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

/// The version that ncu gives itself: `2025.3.1.0`.
///
/// # Errors
/// Why it gives none: it does not start, or is no ncu.
pub fn version(ncu: &Path) -> Result<String, NcuError> {
    const LIMIT: Duration = Duration::from_secs(20);
    let output = process::run(Command::new(ncu).arg("--version"), LIMIT)?;
    let version = output.status.success().then(|| version_in(&output.stdout)).flatten();
    let failed = || NcuError::Failed { ncu: ncu.to_owned(), said: output.last_line() };
    version.map(str::to_owned).ok_or_else(failed)
}

/// Reads `Version 2025.3.1.0 (build 36398880) (public-release)`.
fn version_in(banner: &str) -> Option<&str> {
    let words = banner.lines().find_map(|line| line.trim().strip_prefix("Version "))?;
    words.split_whitespace().next().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_word_behind_version() {
        let banner = "NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA Corporation\n\
                      Version 2025.3.1.0 (build 36398880) (public-release)\n";
        assert_eq!(version_in(banner), Some("2025.3.1.0"));
        assert_eq!(version_in("Version of another program\n"), None);
        assert_eq!(version_in(""), None);
    }
}
