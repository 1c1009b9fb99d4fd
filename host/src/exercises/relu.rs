//! `relu`: sort, so that the lanes of a warp agree.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "relu",
    title: "sort, so that the lanes of a warp agree",
    task: include_str!("relu/task.md"),
    hint: include_str!("relu/hint.md"),
    start: include_str!("relu/start.rs"),
    solution: include_str!("relu/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3, the warp";
const KERNEL: &str = "relu_of";
/// A full chip: only where warps compete for the schedulers does work that is saved save time.
const N: u32 = 48 * 1_536;
const STEPS: u32 = 512;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("divergent", SECTION, "warps whose lanes part", at_most(1.0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.65)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.9)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 19);
    let mut order: Vec<u32> = (0..N).collect();
    order.sort_by_key(|&i| x[i as usize] <= 0.0);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let order = gpu.upload(&order)?;
    let args = (input.ptr(), output.ptr(), order.ptr(), N, STEPS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let expected = x.iter().map(|&x| if x > 0.0 { (0..STEPS).fold(x, |value, _| value * 0.5 + 0.25) } else { 0.0 });
    let differences = differences(&output.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    record(attempt, "divergent", counter(&yours, DIVERGENT_BRANCHES));
    let instructions = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", instructions);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
