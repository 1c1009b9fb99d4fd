//! `codegen`: fused multiply-adds, asked for.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{FADD, FMUL, INSTRUCTIONS, counter, record};
use crate::labs::input::noise;

pub static EXERCISE: Exercise = Exercise {
    lab: "codegen",
    title: "fuse what nvcc would fuse",
    task: include_str!("codegen/task.md"),
    hint: include_str!("codegen/hint.md"),
    start: include_str!("codegen/start.rs"),
    solution: include_str!("codegen/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "beyond";
const N: u32 = 1_003;
const ROUNDS: u32 = 16;
const COEFFICIENTS: [f32; 8] = [0.031, -0.062, 0.093, -0.124, 0.155, -0.186, 0.217, 0.25];
/// Two roundings of a number below 1/2 in each of seven steps, and what the last round passes on of them.
const ERROR_MAX: f64 = 1e-6;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every result is the exact one's neighbour", holds("none is further off")),
        Claim::new("separate", SECTION, "multiplications and additions that stand alone", equal(0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(0.75)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 7);
    let (device_x, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
    let args = (device_x.ptr(), y.ptr(), N, ROUNDS);
    let [before, yours] = attempt.run_both(&gpu, "horner", LaunchShape::linear(N, 256), args, args)?;
    let errors = y.download()?.into_iter().zip(&x).map(|(y, x)| (f64::from(y) - exact(*x)).abs());
    let greatest = errors.fold(0.0, |greatest: f64, error| if error <= greatest { greatest } else { error });
    attempt.holds("results", greatest <= ERROR_MAX, format!("one is {greatest:e} off"));
    let separate = counter(&yours, FADD).and_then(|added| Ok(added + counter(&yours, FMUL)?));
    record(attempt, "separate", separate);
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    Ok(())
}

fn exact(x: f32) -> f64 {
    let round = |at: f64| COEFFICIENTS.iter().fold(0.0, |value, coefficient| value * at + f64::from(*coefficient));
    (0..ROUNDS).fold(f64::from(x), |at, _| round(at))
}
