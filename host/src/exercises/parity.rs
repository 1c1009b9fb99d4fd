//! `parity`: regroup the elements, keep the results.

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, less_than, near};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{
    DIVERGENT_BRANCHES, INSTRUCTIONS, LOAD_REQUESTS, LOAD_SECTORS, counter, ratio, record, time_ratio,
};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "parity",
    title: "regroup the elements, keep the results",
    task: include_str!("parity/task.md"),
    hint: include_str!("parity/hint.md"),
    start: include_str!("parity/start.rs"),
    solution: include_str!("parity/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch2, warp divergence";
const KERNEL: &str = "two_ways";
const N: u32 = 12_288;
const STEPS: u32 = 1_024;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("divergent", SECTION, "branches at which the lanes of a warp part", equal(0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.6)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.8)),
        Claim::new("sectors", SECTION, "the price: sectors that a load touches, which were 4", near(8.0, 0.01))
            .on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 18);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), N, STEPS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let expected = x.iter().enumerate().map(|(i, &x)| {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        (0..STEPS).fold(x, |value, _| value * (sign * 0.5) + sign * 0.25)
    });
    let differences = differences(&output.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    record(attempt, "divergent", counter(&yours, DIVERGENT_BRANCHES));
    let instructions = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", instructions);
    record(attempt, "time", time_ratio(&yours, &before));
    record(attempt, "sectors", ratio(&yours, LOAD_SECTORS, LOAD_REQUESTS));
    Ok(())
}
