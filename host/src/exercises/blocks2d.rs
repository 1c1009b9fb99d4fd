//! `blocks2d`: let neighbours in a warp read neighbouring pixels.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_REQUESTS, LOAD_SECTORS, STORE_REQUESTS, STORE_SECTORS, ratio, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "blocks2d",
    title: "let neighbours in a warp read neighbouring pixels",
    task: include_str!("blocks2d/task.md"),
    hint: include_str!("blocks2d/hint.md"),
    start: include_str!("blocks2d/start.rs"),
    solution: include_str!("blocks2d/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §4";
const KERNEL: &str = "negative";
const SIZE: u32 = 472;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("load_sectors", SECTION, "sectors that a warp's load touches", at_most(5.0)).on_machine(),
        Claim::new("store_sectors", SECTION, "sectors that a warp's store touches", at_most(5.0)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.9)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(SIZE * SIZE, 8);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    // As many blocks along x as along y would need, so that either way round the image is covered.
    let shape = LaunchShape::new([SIZE.div_ceil(32), SIZE.div_ceil(8), 1], [32, 8, 1]);
    let args = (input.ptr(), output.ptr(), SIZE);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let differences = differences(&output.download()?, x.iter().map(|x| 1.0 - x));
    attempt.holds("results", differences.none(), differences.to_string());
    record(attempt, "load_sectors", ratio(&yours, LOAD_SECTORS, LOAD_REQUESTS));
    record(attempt, "store_sectors", ratio(&yours, STORE_SECTORS, STORE_REQUESTS));
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
