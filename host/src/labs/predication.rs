//! `predication`: when is a branch not a branch?

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::maths;
use warpwise_kernels::predication::{leaky_relu, leaky_relu_long, scale};
use warpwise_nvtools::nvdisasm::ListingOptions;

use super::code::{sass, text};
use super::control_flow::{branches, choices, count};
use super::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, WARPS, counter, ratio, record};
use super::input::{Differences, differences, noise, references};
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, at_least, equal, holds, less_than, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "predication",
    chapter: 1,
    sections: "ch1 §7",
    question: "when is a branch not a branch?",
    kernels: &["leaky_relu", "scale", "leaky_relu_long"],
    text: include_str!("../../../docs/labs/predication.md"),
    claims,
    run,
};

const ARCH: &str = "sm_120";
const BLOCK: u32 = 256;

fn claims() -> Vec<Claim> {
    let section = "ch1 §7";
    vec![
        Claim::new("choices", section, "leaky_relu: instructions that select or are predicated", at_least(1.0))
            .recorded(),
        Claim::new("guard", section, "predicated EXITs: the guard", equal(1)).recorded(),
        Claim::new("to_self", section, "branches to themselves, behind the end", equal(1)).recorded(),
        Claim::new("branches", section, "other branches", equal(0)).recorded(),
        Claim::new("long_branches", section, "leaky_relu_long, whose other arm is long: branches", at_least(1.0))
            .recorded(),
        Claim::new("long_meets", section, "BSYNCs at which its lanes meet again", equal(1)).recorded(),
        Claim::new("as_fast", section, "time of leaky_relu over that without the condition", near(1.0, 0.02)),
        Claim::new("signs", section, "mixed, positive, negative: slowest time over fastest, less 1", less_than(0.02)),
        Claim::new("same_instructions", section, "most instructions less fewest, of the three", equal(0)).on_machine(),
        Claim::new(
            "divergent",
            section,
            "branches of leaky_relu at which lanes disagree, elements of both signs",
            equal(0),
        )
        .on_machine(),
        Claim::new("long_divergent", section, "those of leaky_relu_long in each warp", equal(1))
            .note("one negative element in 32")
            .on_machine(),
        Claim::new(
            "long_skips",
            section,
            "leaky_relu_long, no lane negative: instructions over all negative",
            less_than(0.6),
        )
        .on_machine(),
        Claim::new("long_pays", section, "one lane of 32 negative: instructions over all negative", near(1.0, 0.1))
            .on_machine(),
        Claim::new(
            "results",
            section,
            "each kernel equals the shared host function, bit for bit",
            holds("no element differs"),
        ),
    ]
}

type ReluArgs = (DevicePtr<f32>, DevicePtr<f32>, u32);

/// Signs of the elements.
#[derive(Clone, Copy)]
struct Signs {
    name: &'static str,
    /// A number and its index, to the number with the sign that it is to have.
    apply: fn(usize, f32) -> f32,
}

const MIXED: Signs = Signs { name: "both signs", apply: |_, x| x };
const POSITIVE: Signs = Signs { name: "all positive", apply: |_, x| x.abs() + 0.5 };
const NEGATIVE: Signs = Signs { name: "all negative", apply: |_, x| -x.abs() - 0.5 };
const ONE_IN_32: Signs =
    Signs { name: "one of 32 negative", apply: |i, x| if i % 32 == 7 { -x.abs() - 0.5 } else { x.abs() + 0.5 } };

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    listings(cx)?;
    let gpu = cx.gpu()?;
    let mut lab = Runs::new(&gpu);
    let relu = |signs| Job { kernel: &leaky_relu, reference: maths::leaky_relu, signs };
    let mut short = lab.run(
        cx,
        &[Job { kernel: &scale, reference: maths::scale, signs: MIXED }, relu(MIXED), relu(POSITIVE), relu(NEGATIVE)],
    )?;
    let base = short.remove(0);
    let times: Option<Vec<f64>> = short.iter().map(us).collect();
    let no_time = || "there is no time".to_owned();
    record(cx, "as_fast", us(&short[0]).zip(us(&base)).map(|(with, without)| with / without).ok_or_else(no_time));
    record(cx, "divergent", counter(&short[0], DIVERGENT_BRANCHES));
    record(cx, "signs", times.map(|times| spread(&times)).ok_or_else(no_time));
    let counts: Result<Vec<f64>, String> = short.iter().map(|report| counter(report, INSTRUCTIONS)).collect();
    record(cx, "same_instructions", counts.map(|counts| largest(&counts) - smallest(&counts)));

    let long = |signs| Job { kernel: &leaky_relu_long, reference: maths::leaky_relu_long, signs };
    let long = lab.run(cx, &[POSITIVE, ONE_IN_32, NEGATIVE].map(long))?;
    let [skips, pays, all] = &long[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 3", long.len())));
    };
    for (claim, report) in [("long_skips", skips), ("long_pays", pays)] {
        let ratio = counter(report, INSTRUCTIONS).and_then(|some| Ok(some / counter(all, INSTRUCTIONS)?));
        record(cx, claim, ratio);
    }
    record(cx, "long_divergent", ratio(pays, DIVERGENT_BRANCHES, WARPS));
    let otherwise = lab.wrong.map(|(kernel, differences)| format!("{kernel}: {differences}"));
    cx.holds("results", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

/// What ptxas made of the two conditions.
fn listings(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let plain = ListingOptions::default();
    if let Some(short) = sass(cx, leaky_relu.name, ARCH, plain, &["choices", "branches", "guard", "to_self"])? {
        let found = branches(&short);
        cx.found("choices", choices(&short).len());
        cx.found("branches", found.others.len());
        cx.found("guard", found.guards.len());
        cx.found("to_self", found.to_self.len());
        let mut shown = [choices(&short), found.guards, found.to_self].concat();
        shown.sort_by_key(|instruction| instruction.address);
        let title = format!("leaky_relu on {ARCH}: instructions that depend on a condition");
        let mut table = Table::new(title, ["address", "instruction"]);
        for instruction in shown {
            table.row([format!("{:#06x}", instruction.address).into(), text(instruction).into()]);
        }
        cx.table(table);
    }
    if let Some(long) = sass(cx, leaky_relu_long.name, ARCH, plain, &["long_branches", "long_meets"])? {
        cx.found("long_branches", branches(&long).others.len());
        cx.found("long_meets", count(&long.instructions, "BSYNC"));
    }
    Ok(())
}

/// A kernel, the host's version of it, and what it is run on.
struct Job {
    kernel: &'static Kernel<ReluArgs>,
    reference: fn(f32) -> f32,
    signs: Signs,
}

/// Runs of kernels that take and give `n` numbers, and the first result that was wrong.
struct Runs<'a> {
    gpu: &'a Gpu,
    x: Vec<f32>,
    wrong: Option<(&'static str, Differences)>,
}

impl<'a> Runs<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let n = if gpu.measures() { 1 << 26 } else { 1 << 17 };
        Self { gpu, x: noise(n, 6), wrong: None }
    }

    /// Runs jobs whose times are to be compared, each with arrays of its own.
    fn run(&mut self, cx: &mut LabContext<'_>, jobs: &[Job]) -> Result<Vec<LaunchReport>, LabError> {
        let mut arrays = Vec::new();
        let mut cases = Vec::new();
        for job in jobs {
            let x: Vec<f32> = self.x.iter().enumerate().map(|(i, &x)| (job.signs.apply)(i, x)).collect();
            let (device_x, y) = (self.gpu.upload(&x)?, self.gpu.zeros::<f32>(x.len())?);
            let n = x.len() as u32;
            let args = (device_x.ptr(), y.ptr(), n);
            cases.push(Case::new(job.kernel, job.signs.name, LaunchShape::linear(n, BLOCK), args));
            arrays.push((x, device_x, y));
        }
        let reports = cx.measure_in_turn(self.gpu, cases)?;
        for (job, (x, _, y)) in jobs.iter().zip(arrays) {
            let differences = differences(&y.download()?, references(&x, |_, x| (job.reference)(x)));
            if !differences.none() {
                self.wrong.get_or_insert((job.kernel.name, differences));
            }
        }
        Ok(reports)
    }
}

fn us(report: &LaunchReport) -> Option<f64> {
    report.time().map(|time| time.us())
}

fn spread(values: &[f64]) -> f64 {
    largest(values) / smallest(values) - 1.0
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn smallest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
