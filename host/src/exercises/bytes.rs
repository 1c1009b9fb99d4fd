//! `bytes`: neighbouring threads get neighbouring elements.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, SECTORS, SECTORS_IDEAL, counter, ratio, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "bytes",
    title: "ask for what you use",
    task: include_str!("bytes/task.md"),
    hint: include_str!("bytes/hint.md"),
    start: include_str!("bytes/start.rs"),
    solution: include_str!("bytes/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4 §7";
const ROWS: u32 = 503;
const COLUMNS: u32 = 104;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element is twice what it was", holds("none differs")),
        Claim::new("sectors", SECTION, "bytes of sectors over bytes asked for", at_most(1.01)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(1.0)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(ROWS * COLUMNS, 3);
    let (device_x, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (device_x.ptr(), y.ptr(), ROWS, COLUMNS);
    let [before, yours] = attempt.run_both(&gpu, "double", LaunchShape::linear(ROWS * COLUMNS, 256), args, args)?;
    let differences = differences(&y.download()?, x.iter().map(|x| 2.0 * x));
    attempt.holds("results", differences.none(), differences.to_string());
    record(attempt, "sectors", ratio(&yours, SECTORS, SECTORS_IDEAL));
    let fewer = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", fewer);
    Ok(())
}
