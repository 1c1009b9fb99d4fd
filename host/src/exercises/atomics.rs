//! `atomics`: the warp adds up first.

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{record, time_ratio};

pub static EXERCISE: Exercise = Exercise {
    lab: "atomics",
    title: "add up in the warp before you add atomically",
    task: include_str!("atomics/task.md"),
    hint: include_str!("atomics/hint.md"),
    start: include_str!("atomics/start.rs"),
    solution: include_str!("atomics/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4 §5";
const KERNEL: &str = "total";
const N: u32 = 20_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "the total, of which every order gives the same", equal(sum())),
        Claim::new("time", SECTION, "time over that before", less_than(0.5)),
    ]
}

/// Whole numbers from 0 to 6: their sums are exact in any order.
fn value(i: u32) -> f32 {
    (i % 7) as f32
}

fn sum() -> f64 {
    (0..N).map(|i| f64::from(value(i))).sum()
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x: Vec<f32> = (0..N).map(value).collect();
    let device_x = gpu.upload(&x)?;
    let [before, yours] = [gpu.zeros::<f32>(1)?, gpu.zeros::<f32>(1)?];
    // Once, since samples of a time would go on adding.
    let shape = LaunchShape::linear(N, 256);
    let case = attempt.case_yours(KERNEL, "", shape, (device_x.ptr(), yours.ptr(), N))?;
    attempt.measure_in_turn(&gpu, vec![case.unlisted().untimed()])?;
    attempt.found("results", yours.download()?.into_iter().map(f64::from).sum::<f64>());
    let args = |total: &crate::backend::DeviceBuffer<f32>| (device_x.ptr(), total.ptr(), N);
    let [was, is] = attempt.run_both(&gpu, KERNEL, shape, args(&before), args(&yours))?;
    record(attempt, "time", time_ratio(&is, &was));
    Ok(())
}
