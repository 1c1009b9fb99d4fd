//! `relu`: does this branch hurt?

use cuda_std::host::DevicePtr;
use warpwise_kernels::maths;
use warpwise_kernels::relu::{relu, relu_long_arms};
use warpwise_nvtools::nvdisasm::ListingOptions;

use super::code::{sass, text};
use super::control_flow::{branches, choices, count};
use super::cost::{Cost, Pair, costs, over};
use super::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, WARPS, counter, ratio, record};
use super::input::{differences, noise, references};
use crate::backend::{DeviceBuffer, Gpu, LaunchShape};
use crate::claim::{Claim, at_least, equal, holds, less_than, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "relu",
    chapter: 3,
    sections: "ch3, the warp",
    question: "does this branch hurt?",
    kernels: &["relu", "relu_long_arms"],
    text: include_str!("../../../docs/labs/relu.md"),
    claims,
    run,
};

const SECTION: &str = "ch3, the warp";
const ARCH: &str = "sm_120";
const BLOCK: u32 = 256;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "chosen",
            SECTION,
            "relu: instructions that choose a number or run under a predicate",
            at_least(1.0),
        )
        .recorded(),
        Claim::new("branches", SECTION, "relu: branches but the guard and the one behind the end", equal(0)).recorded(),
        Claim::new("long_meets", SECTION, "relu_long_arms: places where the lanes wait for each other", equal(1))
            .recorded(),
        Claim::new(
            "short_time",
            SECTION,
            "relu, four patterns of signs: slowest time over fastest, less 1",
            less_than(0.03),
        ),
        Claim::new("short_instructions", SECTION, "relu: most instructions less fewest, of the four", equal(0))
            .on_machine(),
        Claim::new("agreed", SECTION, "long arms, all negative: time of the arms over all positive", near(1.0, 0.05)),
        Claim::new("by_warp", SECTION, "long arms, whole warps of one sign: over all positive", near(1.0, 0.05))
            .note("other warps on another path cost nothing"),
        Claim::new("mixed", SECTION, "long arms, both signs in every warp: over all positive", near(2.0, 0.1)),
        Claim::new("long_divergent", SECTION, "branches at which lanes part, a warp of both signs", equal(1))
            .on_machine(),
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
    ]
}

/// Which elements are positive.
struct Pattern {
    name: &'static str,
    is_positive: fn(usize) -> bool,
}

static PATTERNS: [Pattern; 4] = [
    Pattern { name: "all positive", is_positive: |_| true },
    Pattern { name: "all negative", is_positive: |_| false },
    Pattern { name: "whole warps of one sign", is_positive: |i| (i / 32).is_multiple_of(2) },
    Pattern { name: "both signs in every warp", is_positive: |i| i.is_multiple_of(2) },
];

/// What is run, and the first result that was wrong.
struct Elements<'a> {
    gpu: &'a Gpu,
    n: u32,
    /// By pattern: on the host, on the device.
    inputs: Vec<(Vec<f32>, DeviceBuffer<f32>)>,
    wrong: Option<String>,
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    listings(cx)?;
    let gpu = cx.gpu()?;
    // The short arms take a full chip, since memory is what they wait for; the long ones show it with a block for each SM.
    let sizes = if gpu.measures() { [1 << 26, 1 << 20] } else { [1 << 16, BLOCK * gpu.device().sm_count] };
    let mut wide = Elements::new(&gpu, sizes[0])?;
    short(cx, &mut wide)?;
    let mut narrow = Elements::new(&gpu, sizes[1])?;
    long(cx, &mut narrow)?;
    let wrong = wide.wrong.or(narrow.wrong);
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    Ok(())
}

/// What ptxas made of the two conditions.
fn listings(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let plain = ListingOptions::default();
    if let Some(short) = sass(cx, relu.name, ARCH, plain, &["chosen", "branches"])? {
        cx.found("chosen", choices(&short).len());
        cx.found("branches", branches(&short).others.len());
        let mut table = Table::new(format!("relu on {ARCH}: what became of the condition"), ["address", "instruction"]);
        for instruction in choices(&short) {
            table.row([format!("{:#06x}", instruction.address).into(), text(instruction).into()]);
        }
        cx.table(table);
    }
    if let Some(long) = sass(cx, relu_long_arms.name, ARCH, plain, &["long_meets"])? {
        cx.found("long_meets", count(&long.instructions, "BSYNC"));
    }
    Ok(())
}

impl<'a> Elements<'a> {
    fn new(gpu: &'a Gpu, n: u32) -> Result<Self, LabError> {
        let numbers = noise(n, 31);
        let mut inputs = Vec::new();
        for pattern in &PATTERNS {
            let signed = numbers.iter().enumerate().map(|(i, x)| {
                let size = x.abs() + 0.5;
                if (pattern.is_positive)(i) { size } else { -size }
            });
            let signed: Vec<f32> = signed.collect();
            let device = gpu.upload(&signed)?;
            inputs.push((signed, device));
        }
        Ok(Self { gpu, n, inputs, wrong: None })
    }

    fn shape(&self) -> LaunchShape {
        LaunchShape::linear(self.n, BLOCK)
    }

    /// Compares results, pattern by pattern.
    fn compare(
        &mut self,
        kernel: &str,
        outputs: &[DeviceBuffer<f32>],
        reference: impl Fn(f32) -> f32 + Sync,
    ) -> Result<(), LabError> {
        for ((x, _), (y, pattern)) in self.inputs.iter().zip(outputs.iter().zip(&PATTERNS)) {
            let differences = differences(&y.download()?, references(x, |_, x| reference(x)));
            if !differences.none() {
                self.wrong.get_or_insert(format!("{kernel}, {}: {differences}", pattern.name));
            }
        }
        Ok(())
    }

    fn outputs(&self) -> Result<Vec<DeviceBuffer<f32>>, LabError> {
        Ok(PATTERNS.iter().map(|_| self.gpu.zeros::<f32>(self.n as usize)).collect::<Result<_, _>>()?)
    }
}

fn short(cx: &mut LabContext<'_>, elements: &mut Elements<'_>) -> Result<(), LabError> {
    let outputs = elements.outputs()?;
    let args = |k: usize| -> (DevicePtr<f32>, DevicePtr<f32>, u32) {
        (elements.inputs[k].1.ptr(), outputs[k].ptr(), elements.n)
    };
    // A first launch finds its elements elsewhere than a later one does.
    for k in 0..PATTERNS.len() {
        elements.gpu.profile(&relu, elements.shape(), None, args(k))?;
    }
    let cases = (0..PATTERNS.len()).map(|k| Case::new(&relu, PATTERNS[k].name, elements.shape(), args(k)));
    let cases = cases.collect();
    let reports = cx.measure_in_turn(elements.gpu, cases)?;
    let times: Option<Vec<f64>> = reports.iter().map(|report| report.time().map(|time| time.us())).collect();
    record(cx, "short_time", times.map(|times| spread(&times)).ok_or_else(|| "there is no time".to_owned()));
    let counts: Result<Vec<f64>, String> = reports.iter().map(|report| counter(report, INSTRUCTIONS)).collect();
    record(cx, "short_instructions", counts.map(|counts| largest(&counts) - smallest(&counts)));
    elements.compare(relu.name, &outputs, |x| if x > 0.0 { x } else { 0.0 })
}

fn long(cx: &mut LabContext<'_>, elements: &mut Elements<'_>) -> Result<(), LabError> {
    let steps = if elements.gpu.measures() { [200, 2_000] } else { [256, 1_280] };
    let outputs = elements.outputs()?;
    let pairs = PATTERNS.iter().zip(&elements.inputs).zip(&outputs).map(|((pattern, (_, x)), y)| {
        let case =
            |steps| Case::new(&relu_long_arms, pattern.name, elements.shape(), (x.ptr(), y.ptr(), elements.n, steps));
        Pair::new(case(steps[0]), case(steps[1]))
    });
    let pairs = pairs.collect();
    let costs = costs(cx, elements.gpu, pairs)?;
    let [positive, negative, by_warp, mixed] = &costs[..] else {
        return Err(LabError::Other("four patterns were to be timed".to_owned()));
    };
    record(cx, "agreed", over(negative, positive));
    record(cx, "by_warp", over(by_warp, positive));
    record(cx, "mixed", over(mixed, positive));
    record(cx, "long_divergent", ratio(&mixed.more, DIVERGENT_BRANCHES, WARPS));
    table(cx, elements.gpu, &costs);
    elements.compare(relu_long_arms.name, &outputs, |x| maths::relu_long_arms(x, steps[1]))
}

fn table(cx: &mut LabContext<'_>, gpu: &Gpu, costs: &[Cost]) {
    let time = format!("µs, {}", gpu.time_source());
    let mut table = Table::new("cost of two long arms by the signs of the elements", ["elements", &time]);
    for (pattern, cost) in PATTERNS.iter().zip(costs) {
        table.row([pattern.name.into(), cost.us.unwrap_or(f64::NAN).into()]);
    }
    cx.table(table);
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
