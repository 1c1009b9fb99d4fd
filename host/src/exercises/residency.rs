//! `residency`: a block that takes less shared memory lets others in.

use warpwise_simt::device::Device;

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_least, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "residency",
    title: "make room for the neighbours",
    task: include_str!("residency/task.md"),
    hint: include_str!("residency/hint.md"),
    start: include_str!("residency/start.rs"),
    solution: include_str!("residency/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3 §1";
const KERNEL: &str = "turn_rows";
const BLOCK: u32 = 256;
const ROWS: u32 = 32;
const BLOCKS: u32 = 11;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every row is turned around", holds("no element differs")),
        Claim::new("blocks", SECTION, "blocks that an SM of an RTX 5070 holds", at_least(6.0)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(BLOCKS * ROWS * BLOCK, 5);
    let (device_x, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (device_x.ptr(), y.ptr());
    let shape = LaunchShape::new([BLOCKS, 1, 1], [BLOCK, 1, 1]);
    attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let expected = x.chunks(BLOCK as usize).flat_map(|row| row.iter().rev().copied());
    let differences = differences(&y.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    let resources = attempt.resources(&attempt.yours(KERNEL), "sm_120")?;
    let occupancy = resources.occupancy(&Device::default_device().limits, shape)?;
    attempt.found("blocks", occupancy.blocks_per_sm);
    Ok(())
}
