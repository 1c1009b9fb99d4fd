//! `ragged`: give a row to a warp.

use crate::backend::LaunchShape;
use crate::claim::{Claim, greater_than, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, LOAD_SECTORS, THREAD_INSTRUCTIONS, counter, ratio, record, time_ratio};

pub static EXERCISE: Exercise = Exercise {
    lab: "ragged",
    title: "give a row to a warp",
    task: include_str!("ragged/task.md"),
    hint: include_str!("ragged/hint.md"),
    start: include_str!("ragged/start.rs"),
    solution: include_str!("ragged/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §7";
const KERNEL: &str = "row_sums";
const ROWS: u32 = 512;
/// Length of most rows, and of one in 32.
const SHORT: u32 = 24;
const LONG: u32 = 2_000;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every sum equals the CPU's", holds("none differs")),
        Claim::new("lanes", SECTION, "lanes that take part in an instruction, in the mean", greater_than(16.0))
            .on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.8)).on_machine(),
        Claim::new("sectors", SECTION, "sectors that loads touch, over those before", less_than(0.5)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.5)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let mut starts = vec![0_u32];
    for row in 0..ROWS {
        let length = if row % 32 == 5 { LONG } else { SHORT + row % 7 };
        starts.push(starts[row as usize] + length);
    }
    let values: Vec<u32> = (0..starts[ROWS as usize]).map(|i| i.wrapping_mul(2_654_435_761) >> 16).collect();
    let (device_starts, device_values) = (gpu.upload(&starts)?, gpu.upload(&values)?);
    let sums = gpu.zeros::<u32>(ROWS as usize)?;
    let args = (device_starts.ptr(), device_values.ptr(), sums.ptr(), ROWS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(32 * ROWS, 256), args, args)?;
    let row = |r: usize| &values[starts[r] as usize..starts[r + 1] as usize];
    let found = sums.download()?;
    let wrong = found
        .iter()
        .enumerate()
        .find(|(r, sum)| **sum != row(*r).iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)));
    attempt.holds(
        "results",
        wrong.is_none(),
        wrong.map(|(row, sum)| format!("row {row} has {sum}")).unwrap_or_default(),
    );
    record(attempt, "lanes", ratio(&yours, THREAD_INSTRUCTIONS, INSTRUCTIONS));
    for (claim, name) in [("instructions", INSTRUCTIONS), ("sectors", LOAD_SECTORS)] {
        record(attempt, claim, counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?)));
    }
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
