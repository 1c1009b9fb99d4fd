//! `divergence`: what does an if cost?

use cuda_std::host::{DevicePtr, Kernel, KernelArgs};
use warpwise_kernels::divergence::{by_lane, by_warp, path_a, path_b, split};
use warpwise_kernels::maths;

use super::input::{differences, noise};
use crate::backend::{BackendKind, DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, between, holds, less_than, near};
use crate::lab::{Axis, Lab, LabContext, LabError, Mark, Plot, Table};

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

/// A kernel and the host's version of it: element, value, steps.
struct Case {
    kernel: &'static Kernel<PathArgs>,
    who: &'static str,
    reference: fn(u32, f32, u32) -> f32,
}

static CASES: [Case; 4] = [
    Case { kernel: &path_a, who: "all A", reference: |_, x, steps| maths::path_a(x, steps) },
    Case { kernel: &path_b, who: "all B", reference: |_, x, steps| maths::path_b(x, steps) },
    Case {
        kernel: &by_warp,
        who: "even warps A, odd warps B",
        reference: |i, x, steps| maths::either_path((i / 32).is_multiple_of(2), x, steps),
    },
    Case {
        kernel: &by_lane,
        who: "even lanes A, odd lanes B",
        reference: |i, x, steps| maths::either_path(i.is_multiple_of(2), x, steps),
    },
];

const BLOCK: u32 = 256;

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    // On the machine the SMs are full, so that either path alone keeps every scheduler busy; `split`, which asks for equal times
    // only, makes do with a warp each.
    let (paths_n, splits_n, fewer, more) = match gpu.kind() {
        BackendKind::Sim => (gpu.device().limits.max_threads_per_sm * gpu.device().sm_count, 128, 32, 160),
        BackendKind::Cuda => (1 << 20, 1 << 20, 200, 2000),
    };
    let mut wide = Runs::new(&gpu, paths_n, [fewer, more])?;
    paths(cx, &mut wide)?;
    let mut narrow = Runs::new(&gpu, splits_n, [fewer, more])?;
    splits(cx, &mut narrow)?;
    let otherwise = wide.wrong.or(narrow.wrong);
    cx.holds("results", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

fn paths(cx: &mut LabContext<'_>, runs: &mut Runs<'_>) -> Result<(), LabError> {
    let mut costs = Vec::new();
    for case in &CASES {
        costs.push(runs.path(cx, case, true)?);
    }
    let [a, b, warps_disagree, lanes_disagree] = costs[..] else {
        return Err(LabError::Other(format!("{} kernels were timed, not 4", costs.len())));
    };
    cx.found("b_over_a", b / a);
    cx.found("by_warp_between", (warps_disagree - a) / (b - a));
    cx.found("by_warp_mean", warps_disagree / ((a + b) / 2.0));
    cx.found("by_lane_sum", lanes_disagree / (a + b));
    let [fewer, more] = runs.steps;
    let title = format!("cost of the paths: time with {more} steps above that with {fewer}");
    let mut table = Table::new(title, ["kernel", "who takes which path", "µs", "over path_a"]);
    for (case, cost) in CASES.iter().zip(&costs) {
        table.row([case.kernel.name.into(), case.who.into(), (*cost).into(), (cost / a).into()]);
    }
    cx.table(table);
    Ok(())
}

/// One dissenting lane costs as much as sixteen.
fn splits(cx: &mut LabContext<'_>, runs: &mut Runs<'_>) -> Result<(), LabError> {
    let [all_a, all_b, ..] = &CASES;
    let (a, b) = (runs.path(cx, all_a, false)?, runs.path(cx, all_b, false)?);
    let mut costs = Vec::new();
    for k in SPLITS {
        // Rows of the report for the few that tell the story; all of them are in the plot.
        let variant = matches!(k, 0 | 1 | 16 | 31 | 32).then(|| format!("k = {k}"));
        let args = |runs: &Runs<'_>, y, steps| (runs.device_x.ptr(), y, runs.n, steps, k);
        let reference = |i: u32, x, steps| maths::either_path(i % 32 < k, x, steps);
        costs.push(runs.cost(cx, &split, variant.as_deref(), args, reference)?);
    }
    let (only_b, only_a, mixed) = (costs[0], costs[32], &costs[1..32]);
    let (least, most) = mixed.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &t| (least.min(t), most.max(t)));
    cx.found("split_flat", most / least - 1.0);
    cx.found("split_sum", costs[16] / (only_a + only_b));
    cx.found("split_0", only_b / b);
    cx.found("split_32", only_a / a);
    let points = SPLITS.zip(costs).map(|(k, cost)| (f64::from(k), cost));
    let (x, y) = (Axis::linear("k, lanes of each warp in path A"), Axis::linear("cost (µs)"));
    cx.plot(Plot::new("One lane costs as much as sixteen", x, y).series("split(k)", Mark::Points, points));
    Ok(())
}

/// Runs of kernels over the same elements, and the first result that was wrong.
struct Runs<'a> {
    gpu: &'a Gpu,
    n: u32,
    /// Fewer and more: what the steps between them take is what a path costs.
    steps: [u32; 2],
    x: Vec<f32>,
    device_x: DeviceBuffer<f32>,
    wrong: Option<String>,
}

impl<'a> Runs<'a> {
    fn new(gpu: &'a Gpu, n: u32, steps: [u32; 2]) -> Result<Self, LabError> {
        let x = noise(n, 5);
        let device_x = gpu.upload(&x)?;
        Ok(Self { gpu, n, steps, x, device_x, wrong: None })
    }

    fn path(&mut self, cx: &mut LabContext<'_>, case: &Case, row: bool) -> Result<f64, LabError> {
        let args = |runs: &Self, y, steps| (runs.device_x.ptr(), y, runs.n, steps);
        self.cost(cx, case.kernel, row.then_some(""), args, case.reference)
    }

    /// What a path costs in microseconds: the time with more steps above that with fewer, so that neither the launch nor the way
    /// into the loop counts. With a variant, the longer launch is a row of the report.
    fn cost<A: KernelArgs>(
        &mut self,
        cx: &mut LabContext<'_>,
        kernel: &Kernel<A>,
        variant: Option<&str>,
        args: impl Fn(&Self, DevicePtr<f32>, u32) -> A,
        reference: impl Fn(u32, f32, u32) -> f32,
    ) -> Result<f64, LabError> {
        let shape = LaunchShape::linear(self.n, BLOCK.min(self.n));
        let y = self.gpu.zeros::<f32>(self.n as usize)?;
        let registers = cx.resources(kernel.name, &self.gpu.device().arch)?.registers.value();
        let [fewer, more] = self.steps;
        let short = self.gpu.profile(kernel, shape, Some(registers), args(self, y.ptr(), fewer))?;
        let long = match variant {
            Some(variant) => cx.measure(self.gpu, kernel, variant, shape, args(self, y.ptr(), more))?,
            None => self.gpu.profile(kernel, shape, Some(registers), args(self, y.ptr(), more))?,
        };
        let expected = (0..self.n).zip(&self.x).map(|(i, &x)| reference(i, x, more));
        let differences = differences(&y.download()?, expected);
        if !differences.none() {
            self.wrong.get_or_insert_with(|| format!("{} {}: {differences}", kernel.name, variant.unwrap_or_default()));
        }
        Ok(us(&long)? - us(&short)?)
    }
}

fn us(report: &LaunchReport) -> Result<f64, LabError> {
    report.time().map(|time| time.us()).ok_or_else(|| LabError::Other("a timed launch has no time".to_owned()))
}
