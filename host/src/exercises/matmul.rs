//! `matmul`: a block brings tiles into shared memory.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{FFMA, LOAD_REQUESTS, LOAD_SECTORS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "matmul",
    title: "fetch together what all need",
    task: include_str!("matmul/task.md"),
    hint: include_str!("matmul/hint.md"),
    start: include_str!("matmul/start.rs"),
    solution: include_str!("matmul/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3 §5";
const N: u32 = 96;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("loads", SECTION, "loads over those before", at_most(0.07)).on_machine(),
        Claim::new("sectors", SECTION, "sectors loaded over those before", at_most(0.13)).on_machine(),
        Claim::new("work", SECTION, "multiply-adds over those before", equal(1)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (a, b) = (noise(N * N, 1), noise(N * N, 2));
    let (device_a, device_b, c) = (gpu.upload(&a)?, gpu.upload(&b)?, gpu.zeros::<f32>(a.len())?);
    let args = (device_a.ptr(), device_b.ptr(), c.ptr(), N);
    let shape = LaunchShape::new([N / 16, N / 16, 1], [16, 16, 1]);
    let [before, yours] = attempt.run_both(&gpu, "product", shape, args, args)?;
    let element = |i: u32| {
        let (row, column) = (i / N, i % N);
        (0..N).fold(0.0_f32, |sum, k| a[(row * N + k) as usize].mul_add(b[(k * N + column) as usize], sum))
    };
    let differences = differences(&c.download()?, (0..N * N).map(element));
    attempt.holds("results", differences.none(), differences.to_string());
    for (claim, name) in [("loads", LOAD_REQUESTS), ("sectors", LOAD_SECTORS), ("work", FFMA)] {
        record(attempt, claim, counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?)));
    }
    Ok(())
}
