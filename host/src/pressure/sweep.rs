//! One kernel under many bounds and launches: what ptxas makes of each, what an SM holds of it, how long it takes ([`time`]).

use std::collections::HashMap;

use warpwise_simt::occupancy::{Occupancy, curve};
use warpwise_simt::rewrite::Bounds;

use super::cliff::edges;
use super::{Launch, Made, Variant, code, make};
use crate::backend::LaunchShape;
use crate::error::CommandError;
use crate::lab::{Axis, Mark, Plot};
use crate::numbers::Time;
use crate::progress::Progress;
use crate::workbench::{Workbench, WorkbenchError};

pub use super::times::time;

/// One row to be made.
#[derive(Clone, Debug)]
pub struct Setting {
    pub kernel: String,
    /// Value of the constant by which the kernels of a family differ.
    pub constant: Option<u32>,
    /// `.maxnreg`
    pub cap: Option<u32>,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    pub launch: Launch,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Point {
    pub setting: Setting,
    pub made: Made,
    pub occupancy: Occupancy,
    /// On each device that times were asked of; empty where there is none.
    pub times: Vec<Time>,
    /// What is to be known about it.
    pub remarks: Vec<String>,
    /// The first row with the same code, launched alike: it shares its times.
    pub same_as: usize,
    /// The first row with the same code, however it is launched.
    code: usize,
}

impl Setting {
    /// A cap or a number of blocks stands in place of the kernel's own bounds, which would decide otherwise; without either they
    /// stay, but for a largest block that is smaller than what is launched.
    pub(super) fn bounds(&self, own: Bounds) -> Bounds {
        let block = self.launch.shape.block;
        match (self.cap, self.min_blocks) {
            (None, None) => {
                let holds = |most: &[u32; 3]| most.iter().zip(block).all(|(most, size)| *most >= size);
                Bounds { max_threads: own.max_threads.map(|most| if holds(&most) { most } else { block }), ..own }
            }
            (max_registers, min_blocks_per_sm) => {
                Bounds { max_threads: min_blocks_per_sm.map(|_| block), min_blocks_per_sm, max_registers }
            }
        }
    }
}

/// Compiles all settings for the workbench's device.
///
/// # Errors
/// What ptxas refuses.
pub fn compile(bench: &Workbench, settings: Vec<Setting>, progress: &Progress) -> Result<Vec<Point>, CommandError> {
    let arch = bench.device.arch();
    let mut own: HashMap<&str, Bounds> = HashMap::new();
    let mut variants = Vec::new();
    for setting in &settings {
        if !own.contains_key(setting.kernel.as_str()) {
            own.insert(&setting.kernel, bench.excerpt(&setting.kernel).map_err(WorkbenchError::from)?.bounds);
        }
        let bounds = setting.bounds(own.get(setting.kernel.as_str()).copied().unwrap_or_default());
        variants.push(Variant { kernel: setting.kernel.clone(), arch: arch.clone(), bounds });
    }
    let total = variants.len();
    let made = make(bench, &variants, &|done| progress.step(&format!("ptxas: {done} of {total}")))?;
    let made: Vec<Made> =
        made.into_iter().collect::<Result<_, _>>().map_err(|error| WorkbenchError::Tool(error.into()))?;
    let firsts = code::first_with_the_same_code(&variants, &made.iter().collect::<Vec<_>>());
    let mut points: Vec<Point> = Vec::new();
    for (index, ((setting, made), first)) in settings.into_iter().zip(made).zip(firsts).enumerate() {
        let occupancy = made.resources.occupancy(&bench.device.limits, setting.launch.shape)?;
        // Of those with its code, the first that is launched alike.
        let alike = |other: &usize| points[*other].setting.launch.shape == setting.launch.shape;
        let same_as = (first..index).find(|other| alike(other) && points[*other].same_code_as(first)).unwrap_or(index);
        let mut remarks = made.remarks.clone();
        if occupancy.blocks_per_sm == 0 {
            remarks.push("no block of it fits an SM".to_owned());
        }
        points.push(Point { setting, made, occupancy, times: Vec::new(), remarks, same_as, code: first });
    }
    Ok(points)
}

impl Point {
    /// Its time that was measured, or modelled.
    pub fn time(&self, is_measured: bool) -> Option<&Time> {
        self.times.iter().find(|time| time.is_measured() == is_measured)
    }

    fn same_code_as(&self, first: usize) -> bool {
        self.code == first
    }
}

/// Whether times are measured: of each kind that any row has, measured ones first.
pub fn kinds_of_times(points: &[Point]) -> Vec<bool> {
    let has = |is_measured: &bool| points.iter().any(|point| point.time(*is_measured).is_some());
    [true, false].into_iter().filter(has).collect()
}

/// The best row: the fastest, by measured times where there are any; without times, of those that spill nothing the one with the most warps. The first of equals.
pub fn best(points: &[Point]) -> Option<usize> {
    let kind = kinds_of_times(points).first().copied();
    let time = |point: &Point| point.time(kind?).map(Time::us);
    let timed = points.iter().enumerate().filter_map(|(index, point)| Some((index, time(point)?)));
    let fastest = timed.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let whole = points.iter().enumerate().filter(|(_, point)| !point.made.resources.spills());
    let fullest = || whole.min_by_key(|(index, point)| (std::cmp::Reverse(point.occupancy.warps_per_sm()), *index));
    fastest.map(|(index, _)| index).or_else(|| fullest().map(|(index, _)| index))
}

/// Register counts between `first` and `last` at which one more costs blocks, whatever the kernel makes of them.
///
/// # Errors
/// As the calculator.
pub fn cliffs(bench: &Workbench, point: &Point, first: u32, last: u32) -> Result<Vec<i64>, CommandError> {
    let request = point.made.resources.request(point.setting.launch.shape);
    let edges = edges(&bench.device.limits, &request)?.into_iter().map(|edge| edge.registers);
    Ok(edges.filter(|at| (i64::from(first)..=i64::from(last)).contains(at)).collect())
}

/// Occupancy by caps: what so many registers allow, and what the kernel takes of it.
///
/// # Errors
/// As the calculator.
pub fn occupancy_plot(bench: &Workbench, points: &[Point]) -> Result<Option<Plot>, CommandError> {
    let capped: Vec<(u32, &Point)> = points.iter().filter_map(|point| Some((point.setting.cap?, point))).collect();
    let (Some((first, point)), Some((last, _))) = (capped.first(), capped.last()) else { return Ok(None) };
    let request = point.made.resources.request(point.setting.launch.shape);
    // A little beyond, so that a cliff at the last cap is seen to fall.
    let beyond = i64::from(*last) + (i64::from(last - first) / 16).max(1);
    let percent = |occupancy: &Occupancy| 100.0 * occupancy.theoretical();
    let curve = curve::by_registers(&bench.device.limits, &request)?.into_iter();
    let allowed = curve.filter(|at| (i64::from(*first)..=beyond).contains(&at.x));
    let allowed: Vec<(f64, f64)> = allowed.map(|at| (at.x as f64, percent(&at.occupancy))).collect();
    let LaunchShape { block: [x, y, z], .. } = point.setting.launch.shape;
    let title = format!("{}: occupancy by its cap on registers, {} threads a block", point.setting.kernel, x * y * z);
    let found = capped.iter().map(|(cap, point)| (f64::from(*cap), percent(&point.occupancy)));
    let plot = Plot::new(title, Axis::linear("registers at most"), Axis::linear("occupancy (%)"));
    let plot = plot.series("so many registers allow", Mark::Steps, allowed);
    Ok(Some(plot.series(format!("{} has", point.setting.kernel), Mark::Points, found)))
}

/// Time by whatever changes from row to row, a series for each source of times; none without times.
pub fn time_plot(points: &[Point], label: &str, x: impl Fn(&Point) -> Option<u32>) -> Option<Plot> {
    let kinds = kinds_of_times(points);
    let kernel = &points.first()?.setting.kernel;
    let is_one = points.iter().all(|point| point.setting.kernel == *kernel);
    let title = if is_one { format!("{kernel}: time") } else { format!("{kernel} and its family: time") };
    let mut plot = Plot::new(title, Axis::linear(label), Axis::linear("time (µs)"));
    for &is_measured in &kinds {
        let of = |point: &Point| Some((f64::from(x(point)?), point.time(is_measured)?.us()));
        let first = points.iter().find_map(|point| point.time(is_measured))?;
        let name = format!("{} on {}", if is_measured { "measured" } else { "modelled" }, first.device());
        plot = plot.series(name, Mark::Points, points.iter().filter_map(of));
    }
    (!kinds.is_empty()).then_some(plot)
}
