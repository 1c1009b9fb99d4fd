//! `accuracy`: the cycle model's times beside a GPU's, measured here or kept from an earlier run.

use std::path::{Path, PathBuf};

use super::{Outcome, read_text, write_text};
use crate::accuracy::ladder::{self, RUNGS};
use crate::accuracy::measurement::{self, LadderRow, Measurement, TimeRow};
use crate::accuracy::{CASES, Case, Row, RungRow, Set, Summary, run as runs, statistics};
use crate::backend::{Gpu, GpuError};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::numbers::Time;
use crate::progress::Progress;
use crate::report::{accuracy as report, terminal};
use crate::schema;
use crate::suggest::UnknownName;
use crate::workbench::Workbench;

/// The device that is modelled if none is named: the one whose measurement comes with the program.
const DEVICE: &str = "H200";

/// Put the cycle model's times beside a GPU's; exit 1 where the whole set misses the bounds
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels of the table of cases; none: all
    kernels: Vec<String>,
    /// Which cases: those that judge the model, those that set its parameters, or all
    #[arg(long, value_name = "evaluation|calibration|all", default_value = "evaluation")]
    set: String,
    /// Measure on a GPU where there is one (auto), never (sim), or fail without (cuda)
    #[arg(long, value_name = "auto|sim|cuda", default_value = "auto")]
    backend: String,
    /// Measure all cases on the GPU at hand, and keep that as a file; nothing is modelled
    #[arg(long, value_name = "FILE")]
    measure: Option<PathBuf>,
    /// Compare with a file that --measure wrote instead of the one that comes with the program
    #[arg(long, value_name = "FILE", conflicts_with = "measure")]
    from: Option<PathBuf>,
    /// Write the comparison as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the comparison as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the plot alone
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let chosen = chosen(&options)?;
    if let Some(path) = &options.measure {
        return keep(path, global);
    }
    let bench = open(&options, global)?;
    bench.kernels.require_ours("accuracy")?;
    bench.say_what_is_missing();
    let progress = Progress::stderr();
    let asks_ladder = options.kernels.is_empty();
    let measured = match &options.from {
        Some(path) => Some(read(path)?),
        None if bench.measures() => Some(measure(&bench, &chosen, asks_ladder, &progress)?),
        None => Measurement::kept(&bench.device.name).transpose().map_err(CommandError::Usage)?,
    };
    let model = if bench.measures() { bench.modelled(global)? } else { bench };
    let mut comparison = report::Comparison {
        device: model.device.name.clone(),
        measured_on: measured.as_ref().map(|measured| measured.measured_on.clone()),
        date: measured.as_ref().map(|measured| measured.date.clone()),
        rows: Vec::new(),
        ladder: Vec::new(),
    };
    for case in chosen {
        progress.step(&case.name());
        // A machine of its own for each, so that none finds what another left.
        let time = runs::time(&model, &model.machine(model.device, model.options)?, case)?;
        comparison.rows.push(row(case, &time, measured.as_ref())?);
    }
    for rung in RUNGS.iter().filter(|_| asks_ladder) {
        progress.step(rung.name);
        let modelled = ladder::climb(&model, &model.machine(model.device, model.options)?, rung)?;
        let measured = measured.as_ref().and_then(|measured| measured.rung(rung));
        comparison.ladder.push(RungRow { rung, modelled, measured });
    }
    drop(progress);
    report::print(&mut terminal::stdout(), &comparison)?;
    write(&options, &comparison)?;
    let misses = if asks_ladder && options.set != "calibration" { misses(&comparison) } else { Vec::new() };
    misses.iter().for_each(|miss| eprintln!("warpwise: {miss}"));
    Ok(if misses.is_empty() { Outcome::Good } else { Outcome::Failed })
}

/// What of the bounds the whole set and the ladder do not keep. Where nothing was measured, nothing is held to them.
fn misses(comparison: &report::Comparison) -> Vec<String> {
    let judging: Vec<Row> = comparison.rows.iter().filter(|row| row.case.set == Set::Evaluation).cloned().collect();
    let mut misses = Summary::of(&judging).map_or_else(Vec::new, |summary| summary.misses());
    misses.extend(statistics::rungs_off(&comparison.ladder));
    misses
}

/// The device of the run: the GPU at hand, else the one that was named, else [`DEVICE`].
fn open(options: &Options, global: &GlobalOptions) -> Result<Workbench, CommandError> {
    let bench = Workbench::open(global, &options.backend)?;
    if bench.measures() || global.device.is_some() {
        return Ok(bench);
    }
    let mut global = global.clone();
    global.device = Some(DEVICE.to_owned());
    Ok(Workbench::open(&global, "sim")?)
}

fn chosen(options: &Options) -> Result<Vec<&'static Case>, CommandError> {
    let set = match options.set.as_str() {
        "evaluation" => Some(Set::Evaluation),
        "calibration" => Some(Set::Calibration),
        "all" => None,
        other => {
            let message = format!("`{other}` is no set of cases; expected evaluation, calibration or all");
            return Err(CommandError::Usage(message));
        }
    };
    for kernel in &options.kernels {
        if !CASES.iter().any(|case| case.kernel == kernel) {
            return Err(UnknownName::new("kernel", kernel, CASES.iter().map(|case| case.kernel)).into());
        }
    }
    let is_chosen = |case: &&Case| match options.kernels.is_empty() {
        true => set.is_none_or(|set| case.set == set),
        false => options.kernels.iter().any(|kernel| kernel == case.kernel),
    };
    Ok(CASES.iter().filter(is_chosen).collect())
}

fn row(case: &'static Case, time: &Time, measured: Option<&Measurement>) -> Result<Row, CommandError> {
    let Time::Modelled { us, isa, .. } = time else {
        return Err(GpuError::NoTime("a machine's time is modelled").into());
    };
    let measured_us = measured.and_then(|measured| measured.us(case));
    Ok(Row { case, modelled_us: *us, isa: *isa, measured_us })
}

fn read(path: &Path) -> Result<Measurement, CommandError> {
    let parsed = Measurement::parse(&read_text(path)?);
    parsed.map_err(|error| CommandError::Usage(format!("`{}` is no measurement: {error}", path.display())))
}

/// `--measure FILE`.
fn keep(path: &Path, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "cuda")?;
    bench.kernels.require_ours("accuracy --measure")?;
    if !bench.measures() {
        let message = "this is the machine as a driver, whose times are modelled; --measure needs a GPU".to_owned();
        return Err(CommandError::Usage(message));
    }
    let all: Vec<&Case> = CASES.iter().collect();
    let progress = Progress::stderr();
    let measured = measure(&bench, &all, true, &progress)?;
    drop(progress);
    write_text(path, &schema::text(&measured))?;
    let rows = measured.times.iter().map(|row| {
        let range = format!("{:.2} to {:.2}", row.us_min, row.us_max);
        vec![row.kernel.clone(), row.size.clone(), format!("{:.2}", row.us), range, row.doubts.join("; ")]
    });
    let mut terminal = terminal::stdout();
    terminal.rows(&["kernel", "size", "µs, measured", "least to most", ""].map(str::to_owned), rows)?;
    let rungs = measured.ladder.iter().map(|row| vec![row.name.clone(), format!("{:.1}", row.value), row.unit.clone()]);
    terminal.rows(&["level", "measured", ""].map(str::to_owned), rungs)?;
    Ok(Outcome::Good)
}

/// Has the GPU run the cases, and the ladder if that is asked for.
fn measure(
    bench: &Workbench,
    cases: &[&Case],
    asks_ladder: bool,
    progress: &Progress,
) -> Result<Measurement, CommandError> {
    let gpu = bench.gpu()?;
    let mut times = Vec::new();
    for case in cases {
        progress.step(&case.name());
        times.push(time_row(case, &runs::time(bench, &gpu, case)?));
    }
    let mut rungs = Vec::new();
    for rung in RUNGS.iter().filter(|_| asks_ladder) {
        progress.step(rung.name);
        rungs.push(ladder_row(bench, &gpu, rung)?);
    }
    Ok(Measurement {
        schema: measurement::SCHEMA.to_owned(),
        measured_on: bench.device_name().to_owned(),
        date: measurement::today(),
        times,
        ladder: rungs,
    })
}

fn time_row(case: &Case, time: &Time) -> TimeRow {
    let (us_min, us_max, samples, clocks) = match time {
        Time::Measured { us_min, us_max, samples, clocks, .. } => (*us_min, *us_max, *samples, clocks.as_ref()),
        Time::Modelled { us, .. } => (*us, *us, 0, None),
    };
    TimeRow {
        kernel: case.kernel.to_owned(),
        size: case.size.to_owned(),
        us: time.us(),
        us_min,
        us_max,
        samples,
        sm_mhz: clocks.map(|clocks| clocks.sm_mhz_max),
        doubts: time.doubts(),
    }
}

fn ladder_row(bench: &Workbench, gpu: &Gpu, rung: &ladder::Rung) -> Result<LadderRow, CommandError> {
    let value = ladder::climb(bench, gpu, rung)?;
    Ok(LadderRow { name: rung.name.to_owned(), unit: rung.unit.word().to_owned(), value })
}

fn write(options: &Options, comparison: &report::Comparison) -> Result<(), CommandError> {
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::accuracy(comparison)))?;
    }
    if let Some(path) = &options.html {
        write_text(path, &report::page(comparison))?;
    }
    if let Some(path) = &options.svg {
        write_text(path, &report::plot_file(comparison))?;
    }
    Ok(())
}
