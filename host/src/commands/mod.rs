//! The commands, one file each: `Options` declares the words, `run` does the work.
//!
//! A command writes its result to standard output and everything else to standard error. It returns an [`Outcome`] or a
//! [`CommandError`]; only `main` turns those into an exit code.

pub mod accuracy;
pub mod bench;
pub mod book;
pub mod bundle;
pub mod counters;
pub mod diagnose;
pub mod diff;
pub mod doctor;
pub mod exercise;
pub mod explain;
pub mod explain_sass;
pub mod finish_kernels;
pub mod labs;
pub mod launch_cases;
pub mod list;
mod listing;
pub mod occupancy;
pub mod probe_fault;
pub mod ptx;
pub mod quiz;
pub mod record_golden;
pub mod regs;
pub mod run;
pub mod sass;
mod standard;
pub mod step;
pub(crate) mod subject;
pub mod sweep;
pub mod trace;
pub mod watch;

use std::path::Path;

use crate::cli::{Cli, Command};
use crate::error::CommandError;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Good,
    /// A claim failed, or a kernel faulted: exit code 1.
    Failed,
}

/// Runs the command that was asked for.
pub fn dispatch(cli: Cli) -> Result<Outcome, CommandError> {
    let global = cli.global;
    match cli.command {
        Command::Labs(options) => labs::run(options, &global),
        Command::List(options) => list::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Exercise(options) => exercise::run(options, &global),
        Command::ExplainSass(options) => explain_sass::run(options),
        Command::Regs(options) => regs::run(options, &global),
        Command::Ptx(options) => ptx::run(options),
        Command::Quiz(options) => quiz::run(options, &global),
        Command::Sass(options) => sass::run(options, &global),
        Command::Accuracy(options) => accuracy::run(options, &global),
        Command::Bench(options) => bench::run(options, &global),
        Command::Book(options) => book::run(options, &global),
        Command::Bundle(options) => bundle::run(options, &global),
        Command::Counters(options) => counters::run(options, &global),
        Command::LaunchCases(options) => launch_cases::run(options, &global),
        Command::Doctor(options) => doctor::run(options),
        Command::ProbeFault(options) => probe_fault::run(options, &global),
        Command::RecordGolden(options) => record_golden::run(options, &global),
        Command::FinishKernels(options) => finish_kernels::run(options),
        Command::Run(options) => run::run(options, &global),
        Command::Step(options) => step::run(options, &global),
        Command::Sweep(options) => sweep::run(options, &global),
        Command::Trace(options) => trace::run(options, &global),
        Command::Watch(options) => watch::run(options, &global),
        Command::Diff(options) => diff::run(options, &global),
        Command::Diagnose(options) => diagnose::run(options, &global),
        Command::Occupancy(options) => occupancy::run(options, &global),
    }
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|source| CommandError::Read { path: path.display().to_string(), source })
}

/// As [`read_text`], with replacement characters for what is not UTF-8: comments of old files.
fn read_lossy(path: &Path) -> Result<String, CommandError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(source) => Err(CommandError::Read { path: path.display().to_string(), source }),
    }
}

fn write_text(path: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::write(path, text).map_err(|source| CommandError::Write { path: path.display().to_string(), source })
}
