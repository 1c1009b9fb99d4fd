//! `guard`: ask once for the whole block.

use crate::backend::LaunchShape;
use crate::claim::{Claim, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "guard",
    title: "ask once for the whole block",
    task: include_str!("guard/task.md"),
    hint: include_str!("guard/hint.md"),
    start: include_str!("guard/start.rs"),
    solution: include_str!("guard/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §7";
const KERNEL: &str = "eight_each";
/// Elements of a thread.
const EACH: u32 = 8;
const N: u32 = 400_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("small", SECTION, "so it does for 5, 2,047, 2,048 and 2,049 elements", holds("none differs")),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.9)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(1.05)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 10);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let shape = |n: u32| LaunchShape::linear(n.div_ceil(EACH), 256);
    let args = (input.ptr(), output.ptr(), N);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape(N), args, args)?;
    let expected = |n: u32| x.iter().take(n as usize).map(|x| 0.5 * x + 1.0);
    let of_all = differences(&output.download()?, expected(N));
    attempt.holds("results", of_all.none(), of_all.to_string());
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    record(attempt, "time", time_ratio(&yours, &before));
    let mut wrong = None;
    for n in [5, 2_047, 2_048, 2_049] {
        let output = gpu.zeros::<f32>(n as usize)?;
        let case = attempt.case_yours(KERNEL, "", shape(n), (input.ptr(), output.ptr(), n))?.unlisted().untimed();
        attempt.measure_in_turn(&gpu, vec![case])?;
        let differences = differences(&output.download()?, expected(n));
        if !differences.none() {
            wrong.get_or_insert(format!("n = {n}: {differences}"));
        }
    }
    attempt.holds("small", wrong.is_none(), wrong.unwrap_or_default());
    Ok(())
}
