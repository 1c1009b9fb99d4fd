//! `trace`: two waits for memory become one, by asking early.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "trace",
    title: "wait for memory once, not twice",
    task: include_str!("trace/task.md"),
    hint: include_str!("trace/hint.md"),
    start: include_str!("trace/start.rs"),
    solution: include_str!("trace/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3";
const KERNEL: &str = "relayed";
const BLOCK: u32 = 256;
/// A block an SM or so: where nobody else hides the wait.
const N: u32 = 40 * BLOCK;
/// Elements of each array that belong to a thread.
const ROUNDS: u32 = 8;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(1.1)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.9)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (a, b) = (noise(ROUNDS * N, 31), noise(ROUNDS * N, 32));
    let arrays = || Ok::<_, LabError>((gpu.upload(&a)?, gpu.upload(&b)?, gpu.zeros::<f32>(N as usize)?));
    let ((a_before, b_before, c_before), (a_yours, b_yours, c)) = (arrays()?, arrays()?);
    let shape = LaunchShape::linear(N, BLOCK);
    let args_before = (a_before.ptr(), b_before.ptr(), c_before.ptr());
    let [before, yours] =
        attempt.run_both(&gpu, KERNEL, shape, args_before, (a_yours.ptr(), b_yours.ptr(), c.ptr()))?;
    let mirrored = |i: usize| i / BLOCK as usize * BLOCK as usize + BLOCK as usize - 1 - i % BLOCK as usize;
    let rounds = |i: usize| (0..ROUNDS as usize).map(move |round| round * N as usize + i);
    let sum = |i: usize| rounds(i).fold(0.0, |sum, at| sum + (a[at] + b[mirrored(at)]));
    let wrong = differences(&c.download()?, (0..N as usize).map(sum));
    attempt.holds("results", wrong.none(), wrong.to_string());
    let instructions = counter(&yours, INSTRUCTIONS).and_then(|i| Ok(i / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", instructions);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
