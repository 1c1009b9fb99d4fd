//! `exercise [ID]`: what a lab asks the reader to change in a kernel; with `--check`, how far the reader's version is. Exit
//! code 1 if it is not there yet.

use std::env;
use std::path::{Path, PathBuf};

use super::Outcome;
use crate::claim::{Judged, Verdict};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exercises::kernel_crate::{self, Names};
use crate::exercises::{self, Attempt, Checked, EXERCISES, Exercise};
use crate::kernels::KernelFiles;
use crate::progress::Progress;
use crate::report::terminal::{self, Stdout};
use crate::report::words::{KERNEL_COLUMNS, kernel_cells};
use crate::workbench::Workbench;

/// Change a kernel and see what becomes of it
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A lab, as `list` shows it; none: all exercises
    id: Option<String>,
    /// A step towards the solution
    #[arg(long)]
    hint: bool,
    /// The kernel as the author of the exercise changed it
    #[arg(long)]
    solution: bool,
}

/// Set by `cargo xtask`: the folder of the checkout, in which the reader's crates are put.
const CHECKOUT: &str = "WARPWISE_CHECKOUT";
/// Their folder in it; `xtask` builds from there.
const FOLDER: &str = "exercises";

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let mut terminal = terminal::stdout();
    let Some(id) = &options.id else {
        let rows = EXERCISES.iter().map(|exercise| vec![exercise.lab.to_owned(), exercise.title.to_owned()]);
        terminal.rows(&["lab", "exercise"].map(str::to_owned), rows)?;
        return Ok(Outcome::Good);
    };
    let exercise = exercises::find(id)?;
    // `--check` is an option of every command; here it has the reader's version built, and says what is right and what is not yet.
    if global.asks_for_checks() {
        return check(&mut terminal, exercise, &global.without_checks());
    }
    if options.hint || options.solution {
        if options.hint {
            terminal.line(exercise.hint.trim_end())?;
        }
        if options.solution {
            terminal.line(exercise.solution.trim_end())?;
        }
        return Ok(Outcome::Good);
    }
    terminal.line(exercise.task.trim_end())?;
    terminal.line("\n## What should happen\n")?;
    for claim in (exercise.claims)() {
        terminal.line(&format!("- {} [{}]", claim.statement, claim.relation))?;
    }
    terminal.line("")?;
    terminal.line(&where_to_work(exercise)?)?;
    Ok(Outcome::Good)
}

/// Writes the reader's crate unless it is there; the lines that say where it is and how to go on.
fn where_to_work(exercise: &Exercise) -> Result<String, CommandError> {
    let id = exercise.lab;
    let Some(checkout) = env::var_os(CHECKOUT).map(PathBuf::from) else {
        return Ok(format!(
            "In a checkout, `cargo xtask exercise {id}` writes a crate with the kernel to change; from here it is:\n\n{}",
            exercise.start.trim_end()
        ));
    };
    let folder = checkout.join(FOLDER).join(id);
    if !folder.join("Cargo.toml").is_file() {
        let cuda_std = checkout.join("kernels-gpu").join("std");
        kernel_crate::write(&folder, exercise, &cuda_std)
            .map_err(|source| CommandError::Write { path: folder.display().to_string(), source })?;
    }
    let file = Path::new(FOLDER).join(id).join("src").join("lib.rs");
    Ok(format!(
        "The kernel to change is in {}\nhow far you are: cargo xtask exercise {id} --check\nhelp: cargo xtask exercise {id} --hint",
        file.display()
    ))
}

fn check(terminal: &mut Stdout, exercise: &Exercise, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let id = exercise.lab;
    let kernels = KernelFiles::open()?;
    if kernels.facts.package.as_deref() != Some(&kernel_crate::package(exercise)) {
        return Err(CommandError::Usage(format!(
            "--check needs your version compiled: `cargo xtask exercise {id} --check` does that\nthe kernels in `{}` are others",
            kernels.folder.display()
        )));
    }
    let bench = Workbench::with_kernels(global, "sim", kernels)?;
    bench.say_what_is_missing();
    let progress = Progress::stderr();
    let checked = Attempt::check(exercise, Names::of_the_reader(), &bench, &progress);
    drop(progress);
    print(terminal, &bench, &checked)?;
    let left = checked.not_yet().count();
    terminal.line("")?;
    terminal.line(&match left {
        0 => format!("{id}: done"),
        _ => format!("{id}: {left} not yet; `cargo xtask exercise {id} --hint` helps"),
    })?;
    Ok(if left == 0 { Outcome::Good } else { Outcome::Failed })
}

fn print(terminal: &mut Stdout, bench: &Workbench, checked: &Checked) -> Result<(), CommandError> {
    if !checked.rows.is_empty() {
        let ceilings = [bench.ceilings()?.clone()];
        let rows = checked.rows.iter().map(|row| kernel_cells(row, &ceilings).to_vec());
        terminal.rows(&KERNEL_COLUMNS.map(str::to_owned), rows)?;
        terminal.line("")?;
    }
    for judged in &checked.claims {
        terminal.line(&line(judged))?;
    }
    Ok(())
}

/// A claim as one line: `not yet: instructions over those before: expected < 0.8, found 1`.
fn line(judged: &Judged) -> String {
    let statement = &judged.claim.statement;
    let found = judged.found.as_ref().map(ToString::to_string);
    match judged.verdict {
        Verdict::Holds => format!("right: {statement} ({})", found.unwrap_or_default()),
        Verdict::Fails => {
            let expected = &judged.claim.relation;
            format!("not yet: {statement}: expected {expected}, found {}", found.unwrap_or_default())
        }
        Verdict::NotRun => format!("not checked: {statement}: {}", judged.why.clone().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::BackendKind;
    use crate::claim::{Claim, Setting, Times, Toolchain, less_than};

    #[test]
    fn a_claim_is_one_line_that_says_what_was_expected_and_what_was_found() {
        let setting = Setting {
            backend: BackendKind::Sim,
            device: "RTX 5070".to_owned(),
            times: Times::ModelledFromSass,
            toolchain: Toolchain::default(),
        };
        let claim = || Claim::new("fewer", "ch1 §7", "instructions over those before", less_than(0.8));
        let of = |claim: Claim, found: Option<f64>| line(&claim.judge(found.map(Into::into), None, &setting));
        assert_eq!(of(claim(), Some(0.5)), "right: instructions over those before (0.5)");
        assert_eq!(of(claim(), Some(1.0)), "not yet: instructions over those before: expected < 0.8, found 1");
        assert_eq!(of(claim().recorded(), Some(0.5)), "not checked: instructions over those before: needs ptxas");
    }
}
