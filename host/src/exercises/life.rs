//! `life`: wait for both, not for one after the other.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "life",
    title: "wait for both, not for one after the other",
    task: include_str!("life/task.md"),
    hint: include_str!("life/hint.md"),
    start: include_str!("life/start.rs"),
    solution: include_str!("life/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §8, §10";
const KERNEL: &str = "two_walks";
/// Steps of a walk.
const STEPS: u32 = 128;
/// Few threads, so that no others hide what a thread waits.
const N: u32 = 48 * 32;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(1.05)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.95))
            .note("a thread's life is what it waits for"),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (a, b) = (noise(N, 13), noise(N, 14));
    let c = gpu.zeros::<f32>(N as usize)?;
    let shape = LaunchShape::linear(N, 32);
    // Each version reads arrays that nobody has read before.
    let (before_a, before_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let (yours_a, yours_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let args_before = (before_a.ptr(), before_b.ptr(), c.ptr(), N, STEPS);
    let args_yours = (yours_a.ptr(), yours_b.ptr(), c.ptr(), N, STEPS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args_before, args_yours)?;
    let walk = |from: f32| (0..STEPS).fold(from, |at, _| at * 0.75 + 0.125);
    let differences = differences(&c.download()?, a.iter().zip(&b).map(|(&a, &b)| walk(a) + walk(b)));
    attempt.holds("results", differences.none(), differences.to_string());
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
