//! `diagnose`: a pattern of addresses that a diagnosis names, put right.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_REQUESTS, LOAD_SECTORS, STORE_REQUESTS, STORE_SECTORS, ratio, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "diagnose",
    title: "give neighbouring threads neighbouring pixels",
    task: include_str!("diagnose/task.md"),
    hint: include_str!("diagnose/hint.md"),
    start: include_str!("diagnose/start.rs"),
    solution: include_str!("diagnose/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4";
const KERNEL: &str = "brighten";
const WIDTH: u32 = 512;
const HEIGHT: u32 = 301;
const FACTOR: f32 = 1.25;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every pixel equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("load_sectors", SECTION, "sectors of a load", at_most(4.5)).on_machine(),
        Claim::new("store_sectors", SECTION, "sectors of a store", at_most(4.5)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.9)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let image = noise(WIDTH * HEIGHT, 41);
    let (input, result) = (gpu.upload(&image)?, gpu.zeros::<f32>(image.len())?);
    let args = (input.ptr(), result.ptr(), WIDTH, HEIGHT, FACTOR);
    let shape = LaunchShape::linear(WIDTH * HEIGHT, 256);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let wrong = differences(&result.download()?, image.iter().map(|pixel| pixel * FACTOR));
    attempt.holds("results", wrong.none(), wrong.to_string());
    record(attempt, "load_sectors", ratio(&yours, LOAD_SECTORS, LOAD_REQUESTS));
    record(attempt, "store_sectors", ratio(&yours, STORE_SECTORS, STORE_REQUESTS));
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
