//! `ids`: find warp and lane in a block of any shape.

use crate::backend::{Gpu, LaunchShape};
use crate::claim::{Claim, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;

pub static EXERCISE: Exercise = Exercise {
    lab: "ids",
    title: "find warp and lane in a block of any shape",
    task: include_str!("ids/task.md"),
    hint: include_str!("ids/hint.md"),
    start: include_str!("ids/start.rs"),
    solution: include_str!("ids/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §3–4";
const KERNEL: &str = "place";

fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "results",
            SECTION,
            "one-dimensional blocks of 96: each thread knows its warp and lane",
            holds("each does"),
        ),
        Claim::new("rows_of_16", SECTION, "blocks of 16 by 16", holds("each does")),
        Claim::new("rows_of_48", SECTION, "blocks of 48 by 4", holds("each does")),
        Claim::new("layers", SECTION, "blocks of 8 by 4 by 4", holds("each does")),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    for (claim, block) in
        [("results", [96, 1, 1]), ("rows_of_16", [16, 16, 1]), ("rows_of_48", [48, 4, 1]), ("layers", [8, 4, 4])]
    {
        let wrong = wrong(attempt, &gpu, block)?;
        attempt.holds(claim, wrong.is_none(), wrong.unwrap_or_default());
    }
    Ok(())
}

/// The first thread that is wrong about itself, in three blocks of a shape.
fn wrong(attempt: &mut Attempt<'_>, gpu: &Gpu, block: [u32; 3]) -> Result<Option<String>, LabError> {
    let shape = LaunchShape::new([3, 1, 1], block);
    let threads = shape.block_threads() as u32;
    let out = gpu.zeros::<u32>(3 * threads as usize)?;
    let variant = block.map(|size| size.to_string()).join("×");
    let case = attempt.case_yours(KERNEL, &variant, shape, (out.ptr(),))?;
    attempt.measure_in_turn(gpu, vec![case])?;
    // Whatever the shape, warps are cut from the line of all threads, x fastest.
    let found = out.download()?;
    let wrong = (0..).zip(&found).find(|(i, place)| **place != i % threads);
    Ok(wrong.map(|(i, place)| {
        let (tid, warp, lane) = (i % threads, place / 32, place % 32);
        format!("thread {tid} of its block says warp {warp}, lane {lane}")
    }))
}
