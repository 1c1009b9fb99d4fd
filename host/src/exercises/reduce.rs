//! `reduce`: steps through shared memory become shuffles.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, SHARED_ACCESSES, counter, record};
use crate::labs::input::differences;

pub static EXERCISE: Exercise = Exercise {
    lab: "reduce",
    title: "pass sums from lane to lane",
    task: include_str!("reduce/task.md"),
    hint: include_str!("reduce/hint.md"),
    start: include_str!("reduce/start.rs"),
    solution: include_str!("reduce/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch2 §3";
const BLOCK: u32 = 256;
const BLOCKS: u32 = 101;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every block's sum is exact", holds("none differs")),
        Claim::new("shared", SECTION, "passes through shared memory over those before", at_most(0.34)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(0.75)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x: Vec<f32> = (0..BLOCKS * BLOCK).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    let (device_x, sums) = (gpu.upload(&x)?, gpu.zeros::<f32>(BLOCKS as usize)?);
    let args = (device_x.ptr(), sums.ptr());
    let shape = LaunchShape::new([BLOCKS, 1, 1], [BLOCK, 1, 1]);
    let [before, yours] = attempt.run_both(&gpu, "add_up", shape, args, args)?;
    let differences = differences(&sums.download()?, x.chunks(BLOCK as usize).map(|block| block.iter().sum()));
    attempt.holds("results", differences.none(), differences.to_string());
    for (claim, name) in [("shared", SHARED_ACCESSES), ("instructions", INSTRUCTIONS)] {
        record(attempt, claim, counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?)));
    }
    Ok(())
}
