//! `counters`: the machine's counters beside those of a GPU, counted by Nsight Compute. Exit code 1 if two differ that must not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use warpwise_nvtools::locate::find_ncu;
use warpwise_nvtools::ncu::{self, NcuError, Profile};
use warpwise_nvtools::{Environment, ncu as nsight};

use super::{Outcome, read_text, write_text};
use crate::cli::GlobalOptions;
use crate::counters::{self, Case, Comparison, Verdict, cases, metrics};
use crate::error::CommandError;
use crate::report::terminal;
use crate::schema;
use crate::workbench::Workbench;

/// ncu runs each kernel several times over and saves memory in between: minutes in all.
const NCU_LIMIT: Duration = Duration::from_secs(540);

/// Put the machine's counters beside a GPU's
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels, as `list` shows them; none: all
    kernels: Vec<String>,
    /// Whether there is a GPU to compare with: auto, sim or cuda
    #[arg(long, value_name = "auto|sim|cuda", default_value = "auto")]
    backend: String,
    /// Read what ncu printed from a file instead of running it
    #[arg(long, value_name = "FILE.csv")]
    from: Option<PathBuf>,
    /// Keep what ncu printed
    #[arg(long, value_name = "FILE.csv", conflicts_with = "from")]
    keep: Option<PathBuf>,
    /// Write the comparison as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let chosen = cases::chosen(&options.kernels)?;
    let bench = Workbench::open(global, &options.backend)?;
    bench.kernels.require_ours("counters")?;
    bench.say_what_is_missing();
    let hardware = match &options.from {
        Some(path) => recorded(path)?,
        None => counted_here(&bench, &chosen, options.keep.as_deref())?,
    };
    let profiles = match hardware {
        Ok(profiles) => profiles,
        Err(reason) => {
            eprintln!("warpwise: the machine's counters alone: {reason}");
            Vec::new()
        }
    };
    let mut all = Vec::new();
    let mut terminal = terminal::stdout();
    for case in chosen {
        let counted = counters::count(&bench, case)?;
        let profile = profiles.iter().find(|profile| profile.kernel == case.kernel);
        let comparisons = counters::compare(&counted, profile);
        print(&mut terminal, case, &comparisons)?;
        all.extend(comparisons);
    }
    let differing = all.iter().filter(|comparison| comparison.verdict == Verdict::Differs).count();
    let equal = all.iter().filter(|comparison| comparison.verdict == Verdict::Equal).count();
    if !profiles.is_empty() {
        terminal.line(&format!("\n{equal} counters are equal, {differing} differ that must not"))?;
    }
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::counters(&all, bench.device_name())))?;
    }
    Ok(if differing > 0 { Outcome::Failed } else { Outcome::Good })
}

/// Profiles, or why there are none; other trouble is an error.
type Hardware = Result<Vec<Profile>, String>;

fn recorded(path: &Path) -> Result<Hardware, CommandError> {
    let parsed = ncu::parse(&read_text(path)?);
    parsed.map(Ok).map_err(|error| CommandError::Usage(format!("`{}`: {error}", path.display())))
}

/// Has ncu start this program again with `launch-cases`.
fn counted_here(bench: &Workbench, chosen: &[&Case], keep: Option<&Path>) -> Result<Hardware, CommandError> {
    let Some(gpu) = bench.gpu.as_ref().filter(|gpu| !gpu.is_modelled()) else {
        return Ok(Err("there is no GPU here to count on".to_owned()));
    };
    let Some(program) = find_ncu(&Environment::of_process()) else {
        return Ok(Err(format!(
            "there is no ncu here; install Nsight Compute ({}) and have it on PATH",
            nsight::SOURCE
        )));
    };
    let own = std::env::current_exe()?;
    let mut words = vec!["launch-cases".to_owned(), "--gpu".to_owned(), gpu.ordinal.to_string()];
    words.extend(chosen.iter().map(|case| case.kernel.to_owned()));
    match ncu::profile(&program, &metrics::names(), &own, &words, NCU_LIMIT) {
        Ok((profiles, output)) => {
            if let Some(path) = keep {
                write_text(path, &output)?;
            }
            Ok(Ok(profiles))
        }
        Err(error @ NcuError::NotPermitted) => Ok(Err(error.to_string())),
        Err(error) => Err(CommandError::Usage(error.to_string())),
    }
}

fn print<W: std::io::Write>(
    terminal: &mut terminal::Terminal<W>,
    case: &Case,
    comparisons: &[Comparison],
) -> Result<(), CommandError> {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), plain);
    let has_hardware = comparisons.iter().any(|comparison| comparison.hardware.is_some());
    terminal.line(&format!("\n{}, grid {:?}, block {:?}", case.kernel, case.grid, case.block))?;
    if !has_hardware {
        let rows = comparisons.iter().map(|c| vec![c.metric.to_owned(), number(c.machine)]);
        return Ok(terminal.rows(&["counter", "machine"].map(str::to_owned), rows)?);
    }
    let rows = comparisons.iter().map(|c| {
        let verdict = match c.verdict {
            Verdict::Explained(reason) => reason,
            Verdict::Differs => "DIFFERS",
            Verdict::Equal => "equal",
            Verdict::NotCompared => "not compared",
        };
        vec![c.metric.to_owned(), number(c.machine), number(c.hardware), verdict.to_owned()]
    });
    Ok(terminal.rows(&["counter", "machine", "GPU", ""].map(str::to_owned), rows)?)
}

/// A whole number as it is, another with two decimals, as ncu prints it.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
