//! Times of a sweep's rows: measured where there is a GPU, one row after the other; modelled from SASS else, a row a core.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpwise_nvtools::nvdisasm::Listing;
use warpwise_simt::isa::Isa;
use warpwise_simt::rewrite::Bounds;

use super::sweep::{Point, Setting};
use super::{Launch, Made, Ran, Slice, Variant, code};
use crate::backend::MachineOptions;
use crate::error::CommandError;
use crate::numbers::Time;
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::workbench::{Workbench, WorkbenchError};

const OTHER_RESULTS: &str = "other results than the first row";

/// What came of a row's launch, and how many threads the launch had whose results it has: those of other numbers cannot be compared.
type Outcome = (Result<Ran, CommandError>, u64);

/// Adds the times of all rows on the workbench's device: modelled ones of a slice of the GPU unless the whole is asked for. Rows with
/// results that differ from the first row's of the same kernel say so.
///
/// # Errors
/// A cubin that cannot be loaded or disassembled. What goes wrong in a launch is a remark in its row.
pub fn time(bench: &Workbench, points: &mut [Point], whole: bool, progress: &Progress) -> Result<(), CommandError> {
    let listings = match bench.measures() {
        true => vec![None; points.len()],
        false => listings(bench, points, progress)?,
    };
    let rows: Vec<usize> = (0..points.len())
        .filter(|&row| points[row].same_as == row && points[row].occupancy.blocks_per_sm > 0)
        .collect();
    let done = AtomicUsize::new(0);
    let what = if bench.measures() { "measuring" } else { "modelling" };
    let outcome = |&row: &usize| {
        progress.step(&format!("{what} {} of {}", done.fetch_add(1, Ordering::Relaxed) + 1, rows.len()));
        let point = &points[row];
        let in_other_blocks = |other: &Point| other.setting.launch.shape.block != point.setting.launch.shape.block;
        let compares_blocks = points.iter().any(in_other_blocks);
        launch(bench, point, listings[row].as_deref(), (whole, compares_blocks))
    };
    let outcomes: Vec<Result<Option<Outcome>, CommandError>> = match bench.measures() {
        // Launches at the same time would be in each other's way.
        true => rows.iter().map(outcome).collect(),
        false => in_parallel(&rows, outcome),
    };
    let mut results: HashMap<(String, u64), u64> = HashMap::new();
    let mut known: HashMap<usize, (Option<Time>, Option<String>)> = HashMap::new();
    for (row, outcome) in rows.into_iter().zip(outcomes) {
        let Some((ran, threads)) = outcome? else { continue };
        let kernel = points[row].setting.kernel.clone();
        known.insert(row, read(ran, |ran| *results.entry((kernel, threads)).or_insert(ran.results)));
    }
    for point in points {
        if let Some((time, remark)) = known.get(&point.same_as) {
            point.times.extend(time.clone());
            point.remarks.extend(remark.clone());
        }
    }
    Ok(())
}

/// Runs one row; nothing where there is no code of it to run.
fn launch(
    bench: &Workbench,
    point: &Point,
    listing: Option<&Listing>,
    (whole, compares_blocks): (bool, bool),
) -> Result<Option<Outcome>, CommandError> {
    let slice = Slice::for_kernel(bench, &point.setting.kernel).map_err(WorkbenchError::from)?;
    let is_sliced = !whole && !bench.measures();
    let Some(compiled) = &point.made.compiled else { return Ok(None) };
    let modelled = if is_sliced { slice.device } else { bench.device };
    // A row a core needs no more threads than that.
    let options = MachineOptions { threads: Some(NonZero::<usize>::MIN), ..bench.options };
    let Some(gpu) = bench.gpu_of(compiled, listing, modelled, options)? else { return Ok(None) };
    let Setting { kernel, launch, .. } = &point.setting;
    let registers = point.made.resources.registers.value();
    let threads = |launch: &Launch| launch.shape.blocks() * launch.shape.block_threads();
    let sliced = if is_sliced { slice.launch(launch) } else { launch.clone() };
    let mut ran = sliced.run(&bench.code, &gpu, kernel, registers);
    if !is_sliced || !compares_blocks {
        return Ok(Some((ran, threads(&sliced))));
    }
    // A slice's share in other blocks is another number of threads, and has not the same elements.
    let comparable = slice.launch_of_as_many_threads(launch);
    if let Ok(timed) = &mut ran {
        match comparable.results(&bench.code, &gpu, kernel) {
            Ok(results) => timed.results = results,
            Err(error) => ran = Err(error),
        }
    }
    Ok(Some((ran, threads(&comparable))))
}

/// The time of a launch, and what is to be said of it. `first` has the results of the kernel's first row.
fn read(ran: Result<Ran, CommandError>, first: impl FnOnce(&Ran) -> u64) -> (Option<Time>, Option<String>) {
    match ran {
        // PTX has neither caps nor spills: its time would be the same in every row.
        Ok(Ran { time: Time::Modelled { isa: Isa::Ptx, .. }, .. }) => {
            (None, Some("no time: the machine does not know all of its SASS".to_owned()))
        }
        Ok(ran) => {
            let differs = first(&ran) != ran.results;
            (Some(ran.time), differs.then(|| OTHER_RESULTS.to_owned()))
        }
        // One launch that cannot be is a finding, and no reason to lose the other rows.
        Err(error) => {
            const SHOWN: usize = 60;
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            let shown: String = first.chars().take(SHOWN).collect();
            let more = if shown.len() < first.len() { "…" } else { "" };
            (None, Some(format!("no time: {shown}{more}")))
        }
    }
}

fn listings(
    bench: &Workbench,
    points: &[Point],
    progress: &Progress,
) -> Result<Vec<Option<Arc<Listing>>>, WorkbenchError> {
    progress.step("disassembling");
    let arch = bench.device.arch();
    let bounds = |point: &Point| {
        point.setting.bounds(bench.excerpt(&point.setting.kernel).map_or_else(|_| Bounds::default(), |own| own.bounds))
    };
    let variants: Vec<Variant> = points
        .iter()
        .map(|point| Variant { kernel: point.setting.kernel.clone(), arch: arch.clone(), bounds: bounds(point) })
        .collect();
    let made: Vec<&Made> = points.iter().map(|point| &point.made).collect();
    match code::listings(bench, &variants, &made) {
        Err(error) if code::is_missing(&error) => Ok(vec![None; points.len()]),
        other => other,
    }
}
