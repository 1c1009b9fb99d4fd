//! `launch`: one kernel for any grid.

use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "launch",
    title: "one kernel for any grid",
    task: include_str!("launch/task.md"),
    hint: include_str!("launch/hint.md"),
    start: include_str!("launch/start.rs"),
    solution: include_str!("launch/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §2";
const KERNEL: &str = "triple";
const N: u32 = 20_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "a thread for each element: every element is right", holds("none differs")),
        Claim::new("few_blocks", SECTION, "12 blocks of 256 threads: every element is right", holds("none differs")),
        Claim::new("one_warp", SECTION, "one block of 32 threads: every element is right", holds("none differs")),
        Claim::new(
            "instructions",
            SECTION,
            "12 blocks: instructions over those of the kernel before on a full grid",
            less_than(1.2),
        )
        .on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let full = LaunchShape::linear(N, 256);
    let few = LaunchShape::new([12, 1, 1], [256, 1, 1]);
    let one = LaunchShape::new([1, 1, 1], [32, 1, 1]);
    for (claim, shape) in [("results", full), ("few_blocks", few), ("one_warp", one)] {
        let (wrong, reports) = run(attempt, &gpu, shape, full)?;
        let is_right = wrong.is_none();
        attempt.holds(claim, is_right, wrong.unwrap_or_default());
        // Few instructions that leave most undone are no gain.
        if claim == "few_blocks" && is_right {
            let ratio =
                counter(&reports[1], INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&reports[0], INSTRUCTIONS)?));
            record(attempt, "instructions", ratio);
        }
    }
    Ok(())
}

/// Runs the kernel before on a full grid and the reader's in a shape; what is wrong with the reader's elements, and both reports.
fn run(
    attempt: &mut Attempt<'_>,
    gpu: &Gpu,
    shape: LaunchShape,
    full: LaunchShape,
) -> Result<(Option<String>, Vec<LaunchReport>), LabError> {
    let x = noise(N, 3);
    let (device_x, before, yours) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?, gpu.zeros::<f32>(x.len())?);
    let blocks = format!("{} blocks", shape.blocks());
    let cases = vec![
        attempt.case_before(KERNEL, "", full, (device_x.ptr(), before.ptr(), N)),
        attempt.case_yours(KERNEL, &blocks, shape, (device_x.ptr(), yours.ptr(), N))?,
    ];
    let reports = attempt.measure_in_turn(gpu, cases)?;
    let differences = differences(&yours.download()?, x.iter().map(|x| 3.0 * x));
    Ok(((!differences.none()).then(|| differences.to_string()), reports))
}
