//! The words of the command line: one variant a command, and the options that all commands share.
//!
//! What a command does is in its file under [`crate::commands`]; its own options are declared there too.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use warpwise_simt::checks::Checks;
use warpwise_simt::exec::Divergence;
use warpwise_simt::machine::BlockOrder;

use crate::backend::options::{IsaChoice, MachineOptions, parse_block_order, parse_checks, parse_divergence};
use crate::commands::{
    accuracy, bench, book, bundle, counters, diagnose, diff, doctor, exercise, explain, explain_sass, finish_kernels,
    labs, launch_cases, list, occupancy, probe_fault, ptx, quiz, record_golden, regs, run, sass, step, sweep, trace,
    watch,
};

/// Laboratories on how a GPU runs code.
#[derive(Debug, Parser)]
#[command(name = "warpwise", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: GlobalOptions,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Labs(labs::Options),
    List(list::Options),
    Explain(explain::Options),
    Exercise(exercise::Options),
    ExplainSass(explain_sass::Options),
    Regs(regs::Options),
    Sweep(sweep::Options),
    Watch(watch::Options),
    Diff(diff::Options),
    Ptx(ptx::Options),
    Quiz(quiz::Options),
    Sass(sass::Options),
    Occupancy(occupancy::Options),
    Run(run::Options),
    Step(step::Options),
    Trace(trace::Options),
    Diagnose(diagnose::Options),
    Bench(bench::Options),
    Book(book::Options),
    Accuracy(accuracy::Options),
    Counters(counters::Options),
    Bundle(bundle::Options),
    Doctor(doctor::Options),
    #[command(hide = true)]
    FinishKernels(finish_kernels::Options),
    #[command(hide = true)]
    LaunchCases(launch_cases::Options),
    #[command(hide = true)]
    ProbeFault(probe_fault::Options),
    #[command(hide = true)]
    RecordGolden(record_golden::Options),
}

/// Options of every command that runs the machine or speaks of a device.
#[derive(Args, Clone, Debug)]
pub struct GlobalOptions {
    /// The modelled GPU, such as "RTX 5070", H200 or A100
    #[arg(long, global = true, value_name = "NAME")]
    pub device: Option<String>,
    /// The GPU, by the driver's number, for --backend cuda
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub gpu: u32,
    /// How a warp whose lanes disagree goes on: converge, lockstep as before Volta, or adversarial:SEED, any way that is allowed
    #[arg(long, global = true, value_name = "WORD", default_value = "converge", value_parser = parse_divergence)]
    divergence: Divergence,
    /// The order in which blocks start: forward, reverse, random or random:SEED
    #[arg(long, global = true, value_name = "WORD", default_value = "forward", value_parser = parse_block_order)]
    block_order: BlockOrder,
    /// The code that the machine runs: ptx, sass, or auto: SASS where the machine knows all of the kernel's, else PTX
    #[arg(long, global = true, value_name = "WORD", default_value = "auto")]
    isa: IsaChoice,
    /// What the machine checks beyond memory bounds, on PTX: race, init, sync, several with commas, or all
    #[arg(long = "check", global = true, value_name = "WORDS", default_value = "mem", num_args = 0..=1, default_missing_value = "all", value_parser = parse_checks)]
    checks: Checks,
}

/// The command line, or what to print instead of running: `Ok` for help and version, `Err` for words that cannot be meant.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Result<String, String>> {
    Cli::try_parse_from(words).map_err(|error| match error.use_stderr() {
        true => Err(in_two_lines(&error)),
        false => Ok(error.to_string()),
    })
}

/// What is wrong in one line, where to read on in another.
fn in_two_lines(error: &clap::Error) -> String {
    let text = error.to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "which command?\ntry `warpwise --help`".to_owned();
    }
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    // `warpwise occupancy --block <N>`: the words before the first option or value.
    let command: Vec<&str> =
        usage.unwrap_or("warpwise").split_whitespace().take_while(|word| !word.starts_with(['-', '<', '['])).collect();
    let is_said =
        |line: &&str| !line.is_empty() && !line.starts_with("Usage: ") && !line.starts_with("For more information");
    let said: Vec<&str> = text.lines().map(str::trim).filter(is_said).collect();
    let said = said.join(" ");
    format!("{}\ntry `{} --help`", said.strip_prefix("error: ").unwrap_or(&said), command.join(" "))
}

impl GlobalOptions {
    /// Whether `--check` was given, with or without words.
    pub fn asks_for_checks(&self) -> bool {
        self.checks != Checks::default()
    }

    /// The same without what `--check` asked for.
    #[must_use]
    pub fn without_checks(&self) -> Self {
        Self { checks: Checks::default(), ..self.clone() }
    }

    /// How launches run.
    pub fn machine(&self) -> MachineOptions {
        MachineOptions {
            divergence: self.divergence,
            block_order: self.block_order,
            isa: self.isa,
            checks: self.checks,
            threads: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn refusal(words: &str) -> String {
        match parse(words.split_whitespace().map(OsString::from)) {
            Err(Err(text)) => text,
            other => panic!("`{words}` should be refused, not {other:?}"),
        }
    }

    #[test]
    fn the_declarations_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn words_that_cannot_be_meant_are_refused_in_two_lines() {
        let cases = [
            ("warpwise", "which command?\ntry `warpwise --help`"),
            (
                "warpwise lab",
                "unrecognized subcommand 'lab' tip: a similar subcommand exists: 'labs'\ntry `warpwise --help`",
            ),
            (
                "warpwise occupancy --block 1",
                "the following required arguments were not provided: --regs <N>\ntry `warpwise occupancy --help`",
            ),
            (
                "warpwise --divergence now list",
                "invalid value 'now' for '--divergence <WORD>': expected converge, lockstep or adversarial:SEED\ntry `warpwise --help`",
            ),
        ];
        for (words, text) in cases {
            assert_eq!(refusal(words), text);
        }
    }

    #[test]
    fn help_and_version_are_no_errors() {
        for words in ["warpwise --help", "warpwise labs --help", "warpwise --version"] {
            assert!(matches!(parse(words.split_whitespace().map(OsString::from)), Err(Ok(_))), "{words}");
        }
    }
}
