//! `banks`: a column without conflicts.

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{SHARED_LOAD_PASSES, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "banks",
    title: "a column without conflicts",
    task: include_str!("banks/task.md"),
    hint: include_str!("banks/hint.md"),
    start: include_str!("banks/start.rs"),
    solution: include_str!("banks/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §10, ch3";
const KERNEL: &str = "transpose_square";
const SIZE: u32 = 512;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("passes", SECTION, "passes a load from shared memory takes", equal(1)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.9)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(SIZE * SIZE, 16);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), SIZE);
    let shape = LaunchShape::new([SIZE / 32, SIZE / 32, 1], [32, 8, 1]);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let expected = (0..SIZE * SIZE).map(|to| x[(to % SIZE * SIZE + to / SIZE) as usize]);
    let differences = differences(&output.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    // A warp's load brings 32 elements.
    let passes = counter(&yours, SHARED_LOAD_PASSES).map(|passes| passes / f64::from(SIZE * SIZE / 32));
    record(attempt, "passes", passes);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
