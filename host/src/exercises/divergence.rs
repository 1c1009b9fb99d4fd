//! `divergence`: two arms that do the same long work on different values become one.

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "divergence",
    title: "let the lanes differ in what they work on, not in the work",
    task: include_str!("divergence/task.md"),
    hint: include_str!("divergence/hint.md"),
    start: include_str!("divergence/start.rs"),
    solution: include_str!("divergence/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §7";
const KERNEL: &str = "settle";
const N: u32 = 20_003;
const STEPS: u32 = 512;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("divergent", SECTION, "branches at which the lanes of a warp part", equal(0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.6)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.8)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 17);
    let (device_x, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
    let args = (device_x.ptr(), y.ptr(), N, STEPS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let expected = x.iter().enumerate().map(|(i, &x)| settled(if i % 2 == 0 { x } else { 1.0 - x }));
    let differences = differences(&y.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    // The guard is no such branch: the last warp's lanes that leave do not come back.
    record(attempt, "divergent", counter(&yours, DIVERGENT_BRANCHES));
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}

/// What the kernel computes from a lane's number.
fn settled(x: f32) -> f32 {
    (0..STEPS).fold(x, |x, _| x * 0.5 + 0.25)
}
