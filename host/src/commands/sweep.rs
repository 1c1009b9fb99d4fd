//! `sweep KERNEL`: one kernel under register caps, launch bounds, block sizes, or the values of a constant, side by side.

use std::path::PathBuf;

use super::{Outcome, standard, write_text};
use crate::claim::format::{integer, microseconds, percent};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::lab::Plot;
use crate::numbers::Time;
use crate::pressure::sweep::{self, Point, Setting};
use crate::pressure::{Launch, Numbers, families, parse_numbers};
use crate::progress::Progress;
use crate::report::{svg, terminal, text_plot};
use crate::schema;
use crate::workbench::Workbench;

/// Compile a kernel under many caps, bounds, block sizes or constants, and show what each costs
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A kernel, as `list` shows it, or a family of kernels that differ by a number: `gemm` for gemm_4 and gemm_16
    kernel: String,
    /// Registers a thread at most: 32,40,64 or 16..=128
    #[arg(long, value_name = "N,N|N..=N", value_parser = parse_numbers)]
    maxregs: Option<Numbers>,
    /// Launch bounds: blocks that must fit an SM at once
    #[arg(long, value_name = "N,N|N..=N", value_parser = parse_numbers)]
    min_blocks: Option<Numbers>,
    /// Threads a block, for as many threads in all
    #[arg(long, value_name = "N,N|N..=N", value_parser = parse_numbers)]
    block: Option<Numbers>,
    /// No times, which take the longest
    #[arg(long, conflicts_with = "times")]
    no_times: bool,
    /// Times, which are shown anyway where the kernel's launch is known
    #[arg(long)]
    times: bool,
    /// Model the whole GPU and not a slice of it, which takes several times as long
    #[arg(long, conflicts_with = "no_times")]
    whole: bool,
    #[command(flatten)]
    launch: standard::LaunchOptions,
    /// Write the plots
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the rows as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Rows of a plot in the terminal, and its columns.
const PLOT: (usize, usize) = (13, 98);

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "auto")?;
    bench.say_what_is_missing();
    let progress = Progress::stderr();
    let settings = settings(&options, &bench)?;
    let mut points = sweep::compile(&bench, settings, &progress)?;
    if !options.no_times {
        sweep::time(&bench, &mut points, options.whole, &progress)?;
        if bench.measures() {
            sweep::time(&bench.modelled(global)?, &mut points, options.whole, &progress)?;
        }
    }
    drop(progress);
    let axes = Axes::of(&points);
    let cliffs = axes.cliffs(&bench, &points)?;
    let best = sweep::best(&points);
    let plots: Vec<Plot> = sweep::occupancy_plot(&bench, &points)?
        .into_iter()
        .chain(sweep::time_plot(&points, axes.label(), |point| axes.value(point)))
        .collect();
    let document = schema::sweep(&bench.device.name, bench.device.arch(), &points, best, &cliffs);
    for (path, text) in [
        (&options.json, schema::text(&document)),
        (&options.csv, schema::csv(&document)),
        (&options.svg, svg::stacked(&plots)),
    ] {
        if let Some(path) = path {
            write_text(path, &text)?;
        }
    }
    print(&bench, &axes, &points, (best, &cliffs), &plots)?;
    Ok(Outcome::Good)
}

/// Every combination of what was asked for.
fn settings(options: &Options, bench: &Workbench) -> Result<Vec<Setting>, CommandError> {
    let values = |numbers: &Option<Numbers>| match numbers {
        Some(Numbers(numbers)) => numbers.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut settings = Vec::new();
    for (constant, kernel) in families::members(bench.code.entries(), &options.kernel)? {
        let launch = options.launch.of(&*bench.code.program(&kernel)?)?;
        for block in values(&options.block) {
            let launch = match block {
                None => launch.clone(),
                Some(block) => with_block(&launch, &kernel, block)?,
            };
            for min_blocks in values(&options.min_blocks) {
                let setting =
                    |cap| Setting { kernel: kernel.clone(), constant, cap, min_blocks, launch: launch.clone() };
                settings.extend(values(&options.maxregs).into_iter().map(setting));
            }
        }
    }
    Ok(settings)
}

fn with_block(launch: &Launch, kernel: &str, block: u32) -> Result<Launch, CommandError> {
    launch.with_block(block).ok_or_else(|| {
        let [x, y, z] = launch.shape.block;
        CommandError::Usage(format!(
            "{kernel} is launched in blocks of {x}×{y}×{z}, and a number of threads says nothing of its shape\nleave --block out"
        ))
    })
}

/// By what the rows differ.
struct Axes {
    kernels: bool,
    caps: bool,
    min_blocks: bool,
    blocks: bool,
}

impl Axes {
    fn of(points: &[Point]) -> Self {
        let differ = |of: &dyn Fn(&Point) -> String| points.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]));
        Self {
            kernels: differ(&|point| point.setting.kernel.clone()),
            caps: points.iter().any(|point| point.setting.cap.is_some()),
            min_blocks: points.iter().any(|point| point.setting.min_blocks.is_some()),
            blocks: differ(&|point| format!("{:?}", point.setting.launch.shape.block)),
        }
    }

    /// What changes from row to row, for an axis: caps first, since there are the most.
    fn label(&self) -> &'static str {
        match self {
            Self { caps: true, .. } => "registers at most",
            Self { min_blocks: true, .. } => "blocks that must fit",
            Self { blocks: true, .. } => "threads a block",
            _ => "constant",
        }
    }

    fn value(&self, point: &Point) -> Option<u32> {
        let Setting { cap, min_blocks, constant, launch, .. } = &point.setting;
        match self {
            Self { caps: true, .. } => *cap,
            Self { min_blocks: true, .. } => *min_blocks,
            Self { blocks: true, .. } => Some(launch.shape.block.iter().product()),
            _ => *constant,
        }
    }

    /// Those that the caps go over; none where not only they change.
    fn cliffs(&self, bench: &Workbench, points: &[Point]) -> Result<Vec<i64>, CommandError> {
        let caps: Vec<u32> = points.iter().filter_map(|point| point.setting.cap).collect();
        match (points.first(), caps.first(), caps.last()) {
            (Some(point), Some(first), Some(last)) if !self.kernels && !self.blocks && !self.min_blocks => {
                sweep::cliffs(bench, point, *first, *last)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn columns(&self) -> Vec<&'static str> {
        let named =
            [(self.kernels, "kernel"), (self.blocks, "block"), (self.min_blocks, "fit"), (self.caps, "at most")];
        named.into_iter().filter_map(|(there, name)| there.then_some(name)).collect()
    }

    /// The cells under [`Axes::columns`] of rows that are alike but for their caps.
    fn cells(&self, first: &Point, last: &Point) -> Vec<String> {
        let number = |number: Option<u32>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
        let caps = match (first.setting.cap, last.setting.cap) {
            (Some(first), Some(last)) if first != last => format!("{first}..={last}"),
            (cap, _) => number(cap),
        };
        let [x, y, z] = first.setting.launch.shape.block;
        let block = if y * z == 1 { x.to_string() } else { format!("{x}×{y}×{z}") };
        let named = [
            (self.kernels, first.setting.kernel.clone()),
            (self.blocks, block),
            (self.min_blocks, number(first.setting.min_blocks)),
            (self.caps, caps),
        ];
        named.into_iter().filter_map(|(there, cell)| there.then_some(cell)).collect()
    }
}

fn print(
    bench: &Workbench,
    axes: &Axes,
    points: &[Point],
    (best, cliffs): (Option<usize>, &[i64]),
    plots: &[Plot],
) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    let kinds = sweep::kinds_of_times(points);
    let mut columns = axes.columns();
    columns.extend(["registers", "spill out", "spill in", "stack", "occupancy"]);
    columns.extend(kinds.iter().map(|is_measured| if *is_measured { "measured" } else { "modelled" }));
    columns.push("");
    let groups = groups(points);
    let rows = groups.iter().map(|&(first, last)| {
        let point = &points[first];
        let resources = &point.made.resources;
        let mut cells = axes.cells(point, &points[last]);
        cells.extend([
            resources.registers.value().to_string(),
            resources.spill_store_bytes.to_string(),
            resources.spill_load_bytes.to_string(),
            resources.stack_bytes.to_string(),
            format!("{}, {} an SM", percent(point.occupancy.theoretical()), point.occupancy.blocks_per_sm),
        ]);
        let time =
            |is_measured: &bool| point.time(*is_measured).map_or("–".to_owned(), |time| microseconds(time.us()));
        cells.extend(kinds.iter().map(time));
        let is_best = best.is_some_and(|best| (first..=last).contains(&best));
        let mark = match (is_best, kinds.is_empty()) {
            (false, _) => None,
            (true, true) => Some("◀ most warps without a spill".to_owned()),
            (true, false) => Some("◀ fastest".to_owned()),
        };
        let falls = first > 0
            && !cliffs.is_empty()
            && point.occupancy.blocks_per_sm < points[first - 1].occupancy.blocks_per_sm;
        let cliff = falls.then(|| "cliff".to_owned());
        let remarks = point.remarks.iter().map(|remark| merged(remark, first < last));
        cells.push(mark.into_iter().chain(cliff).chain(remarks).collect::<Vec<_>>().join("; "));
        cells
    });
    terminal.rows(&columns.iter().map(|&column| column.to_owned()).collect::<Vec<_>>(), rows)?;
    terminal.note(&format!(
        "{} on {}; registers and bytes a thread, by {}; rows of the same code and occupancy are one",
        bench.device.arch(),
        bench.device_name(),
        points.first().map_or("ptxas", |point| point.made.resources.registers.source()),
    ))?;
    if let Some(note) = times_note(points) {
        terminal.note(&note)?;
    }
    for plot in plots {
        terminal.line("")?;
        for line in text_plot::lines(plot, PLOT.1, PLOT.0) {
            terminal.line(&line)?;
        }
    }
    if !cliffs.is_empty() {
        let edges: Vec<String> = cliffs.iter().map(|at| format!("{at}/{}", at + 1)).collect();
        terminal.line(&format!("\ncliffs, where one register more costs a block: {}", edges.join(", ")))?;
    }
    Ok(())
}

/// What a remark of one row says of several.
fn merged(remark: &str, several: bool) -> String {
    match remark.split_once(" raised to ") {
        Some((_, to)) if several => format!("raised to {to}"),
        _ => remark.to_owned(),
    }
}

fn times_note(points: &[Point]) -> Option<String> {
    let times: Vec<&Time> = points.iter().flat_map(|point| &point.times).collect();
    let modelled = times.iter().find(|time| !time.is_measured());
    let unvalidated = times.iter().any(|time| matches!(time, Time::Modelled { validated: false, .. }));
    let launch = &points.first()?.setting.launch.shape;
    let what = format!("of a launch of {} threads", integer((launch.blocks() * launch.block_threads()).into()));
    match (modelled, unvalidated) {
        (None, _) if times.is_empty() => None,
        (None, _) => Some(format!("times {what}")),
        (Some(time), false) => Some(format!("times modelled from SASS as {}, {what}", time.device())),
        (Some(time), true) => Some(format!("times modelled from SASS as {}, {what}: good for ratios", time.device())),
    }
}

/// Runs of rows that differ by their caps alone: first and last of each.
fn groups(points: &[Point]) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let alike = |first: usize| {
            let other = &points[first];
            let kinds = |point: &Point| point.remarks.iter().map(|remark| merged(remark, true)).collect::<Vec<_>>();
            other.same_as == point.same_as
                && other.setting.min_blocks == point.setting.min_blocks
                && other.setting.cap.is_some() == point.setting.cap.is_some()
                && kinds(other) == kinds(point)
        };
        match groups.last_mut() {
            Some((first, last)) if alike(*first) => *last = index,
            _ => groups.push((index, index)),
        }
    }
    groups
}
