//! `divergence`: what does an if cost?

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::divergence::{by_lane, by_warp, path_a, path_b, split};
use warpwise_kernels::maths;

use super::input::{differences, noise, references};
use crate::backend::{DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, between, holds, less_than, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "divergence",
    chapter: 1,
    sections: "ch1 §7",
    question: "what does an if cost?",
    kernels: &["path_a", "path_b", "by_lane", "by_warp", "split"],
    text: include_str!("../../../docs/labs/divergence.md"),
    claims,
    run,
};

/// Lanes of each warp that take path A in `split`.
const SPLITS: std::ops::RangeInclusive<u32> = 0..=32;

fn claims() -> Vec<Claim> {
    let section = "ch1 §7";
    vec![
        Claim::new("b_over_a", section, "path B, two instructions a step, over path A", between(1.2, 2.2)),
        Claim::new(
            "by_warp_between",
            section,
            "warps disagree: where the time lies from A (0) to B (1)",
            between(0.0, 1.0),
        ),
        Claim::new("by_warp_mean", section, "warps disagree: the time over the mean of A and B", near(1.0, 0.1)),
        Claim::new("by_lane_sum", section, "lanes disagree: the time over the sum of A and B", near(1.0, 0.05)),
        Claim::new(
            "split_flat",
            section,
            "k = 1 … 31 lanes in A cost the same: slowest over fastest, less 1",
            less_than(0.02),
        ),
        Claim::new(
            "split_sum",
            section,
            "they cost both paths: k = 16 over the sum of k = 0 and k = 32",
            near(1.0, 0.05),
        ),
        Claim::new("split_0", section, "k = 0 costs path B alone: over path B", near(1.0, 0.05)),
        Claim::new("split_32", section, "k = 32 costs path A alone: over path A", near(1.0, 0.05)),
        Claim::new(
            "results",
            section,
            "each kernel equals the shared host function, bit for bit",
            holds("no element differs"),
        ),
    ]
}

/// Arguments of all kernels here but `split`.
type PathArgs = (DevicePtr<f32>, DevicePtr<f32>, u32, u32);

/// A kernel and which of its elements take path A.
struct Choice {
    kernel: &'static Kernel<PathArgs>,
    who: &'static str,
    takes_a: fn(u32) -> bool,
}

static CHOICES: [Choice; 4] = [
    Choice { kernel: &path_a, who: "all A", takes_a: |_| true },
    Choice { kernel: &path_b, who: "all B", takes_a: |_| false },
    Choice { kernel: &by_warp, who: "even warps A, odd warps B", takes_a: |i| (i / 32).is_multiple_of(2) },
    Choice { kernel: &by_lane, who: "even lanes A, odd lanes B", takes_a: |i| i.is_multiple_of(2) },
];

const BLOCK: u32 = 256;

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let wrong = if gpu.measures() {
        let mut elements = Elements::new(&gpu, 1 << 20, [200, 2000])?;
        paths(cx, &mut elements)?;
        splits(cx, &mut elements)?;
        elements.wrong
    } else {
        // On the machine the SMs are full, so that either path alone keeps every scheduler busy; `split`, which asks for equal
        // times only, makes do with a warp each.
        // Both in the loop that the compiler unrolled; with less, warps still arrive in the shorter run when others end.
        let steps = [192, 576];
        let mut wide = Elements::new(&gpu, gpu.device().limits.max_threads_per_sm * gpu.device().sm_count, steps)?;
        paths(cx, &mut wide)?;
        let mut narrow = Elements::new(&gpu, 128, steps)?;
        splits(cx, &mut narrow)?;
        wide.wrong.or(narrow.wrong)
    };
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    Ok(())
}

fn paths(cx: &mut LabContext<'_>, elements: &mut Elements<'_>) -> Result<(), LabError> {
    let jobs = CHOICES.iter().map(|choice| elements.job(choice, true)).collect::<Result<Vec<_>, _>>()?;
    let costs = elements.costs(cx, jobs)?;
    let [a, b, warps_disagree, lanes_disagree] = costs[..] else {
        return Err(LabError::Other(format!("{} kernels were timed, not 4", costs.len())));
    };
    cx.found("b_over_a", b / a);
    cx.found("by_warp_between", (warps_disagree - a) / (b - a));
    cx.found("by_warp_mean", warps_disagree / ((a + b) / 2.0));
    cx.found("by_lane_sum", lanes_disagree / (a + b));
    let [fewer, more] = elements.steps;
    let title = format!("cost of the paths: time with {more} steps above that with {fewer}");
    let time = format!("µs, {}", elements.gpu.time_source());
    let mut table = Table::new(title, ["kernel", "who takes which path", &time, "over path_a"]);
    for (choice, cost) in CHOICES.iter().zip(&costs) {
        table.row([choice.kernel.name.into(), choice.who.into(), (*cost).into(), (cost / a).into()]);
    }
    cx.table(table);
    Ok(())
}

/// One dissenting lane costs as much as sixteen.
fn splits(cx: &mut LabContext<'_>, elements: &mut Elements<'_>) -> Result<(), LabError> {
    let [all_a, all_b, ..] = &CHOICES;
    let mut jobs = vec![elements.job(all_a, false)?, elements.job(all_b, false)?];
    for k in SPLITS {
        jobs.push(elements.split(k)?);
    }
    let costs = elements.costs(cx, jobs)?;
    let [a, b, ref costs @ ..] = costs[..] else {
        return Err(LabError::Other("the paths alone were not timed".to_owned()));
    };
    let (only_b, only_a, mixed) = (costs[0], costs[32], &costs[1..32]);
    let (least, most) = mixed.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &t| (least.min(t), most.max(t)));
    cx.found("split_flat", most / least - 1.0);
    cx.found("split_sum", costs[16] / (only_a + only_b));
    cx.found("split_0", only_b / b);
    cx.found("split_32", only_a / a);
    let points = SPLITS.zip(costs).map(|(k, &cost)| (f64::from(k), cost));
    let (x, y) = (
        Axis::linear("k, lanes of each warp in path A"),
        Axis::linear(format!("cost, µs {}", elements.gpu.time_source())),
    );
    cx.plot(Plot::new("One lane costs as much as sixteen", x, y).series("split(k)", Mark::Points, points));
    Ok(())
}

/// The elements that kernels run over, what the host makes of them on either path, and the first result that was wrong.
struct Elements<'a> {
    gpu: &'a Gpu,
    n: u32,
    /// Fewer and more: what the steps between them take is what a path costs.
    steps: [u32; 2],
    device_x: DeviceBuffer<f32>,
    /// All elements after more steps on path A, and on path B.
    by_path: [Vec<f32>; 2],
    wrong: Option<String>,
}

/// A kernel with fewer and with more steps, and what comes of the latter.
struct Job {
    name: String,
    y: DeviceBuffer<f32>,
    cases: [Case; 2],
    takes_a: Box<dyn Fn(u32) -> bool>,
}

impl<'a> Elements<'a> {
    fn new(gpu: &'a Gpu, n: u32, steps: [u32; 2]) -> Result<Self, LabError> {
        let x = noise(n, 5);
        let [_, more] = steps;
        let by_path = [maths::path_a, maths::path_b].map(|path| references(&x, |_, x| path(x, more)));
        let elements = Self { gpu, n, steps, device_x: gpu.upload(&x)?, by_path, wrong: None };
        // The first launch has its elements come from device memory, and later ones from L2: that is no path's cost.
        let y = gpu.zeros::<f32>(n as usize)?;
        gpu.profile(&path_a, elements.shape(), None, (elements.device_x.ptr(), y.ptr(), n, 0))?;
        Ok(elements)
    }

    fn shape(&self) -> LaunchShape {
        LaunchShape::linear(self.n, BLOCK.min(self.n))
    }

    /// With a row of the report for more steps, if it is wanted.
    fn job(&self, choice: &'static Choice, is_listed: bool) -> Result<Job, LabError> {
        let y = self.gpu.zeros::<f32>(self.n as usize)?;
        let case = |steps| {
            let args = (self.device_x.ptr(), y.ptr(), self.n, steps);
            Case::new(choice.kernel, "", self.shape(), args)
        };
        let [short, long] = self.steps.map(case);
        let long = if is_listed { long } else { long.unlisted() };
        let takes_a = Box::new(choice.takes_a);
        Ok(Job { name: choice.kernel.name.to_owned(), cases: [short.unlisted(), long], y, takes_a })
    }

    /// `k` lanes of each warp in path A. Rows of the report for the few that tell the story; all of them are in the plot.
    fn split(&self, k: u32) -> Result<Job, LabError> {
        let y = self.gpu.zeros::<f32>(self.n as usize)?;
        let variant = format!("k = {k}");
        let case = |steps| {
            let args = (self.device_x.ptr(), y.ptr(), self.n, steps, k);
            Case::new(&split, variant.as_str(), self.shape(), args)
        };
        let [short, long] = self.steps.map(case);
        let long = if matches!(k, 0 | 1 | 16 | 31 | 32) { long } else { long.unlisted() };
        let name = format!("split, {variant}");
        Ok(Job { name, cases: [short.unlisted(), long], y, takes_a: Box::new(move |i| i % 32 < k) })
    }

    /// What each job costs in microseconds: the time with more steps above that with fewer, so that neither the launch nor the
    /// way into the loop counts.
    fn costs(&mut self, cx: &mut LabContext<'_>, jobs: Vec<Job>) -> Result<Vec<f64>, LabError> {
        let mut cases = Vec::new();
        let mut results = Vec::new();
        for Job { name, y, cases: both, takes_a } in jobs {
            cases.extend(both);
            results.push((name, y, takes_a));
        }
        let reports = cx.measure_in_turn(self.gpu, cases)?;
        for (name, y, takes_a) in results {
            let [a, b] = &self.by_path;
            let either = (0..self.n).zip(a.iter().zip(b)).map(|(i, (&a, &b))| if takes_a(i) { a } else { b });
            let differences = differences(&y.download()?, either);
            if !differences.none() {
                self.wrong.get_or_insert_with(|| format!("{name}: {differences}"));
            }
        }
        let cost = |pair: &[LaunchReport]| match pair {
            [short, long] => Ok(us(long)? - us(short)?),
            _ => Err(LabError::Other("a launch has no report".to_owned())),
        };
        reports.chunks(2).map(cost).collect()
    }
}

fn us(report: &LaunchReport) -> Result<f64, LabError> {
    report.time().map(|time| time.us()).ok_or_else(|| LabError::Other("a timed launch has no time".to_owned()))
}
