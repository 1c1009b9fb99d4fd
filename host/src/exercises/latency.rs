//! `latency`: four loads in flight.

use crate::backend::LaunchShape;
use crate::claim::{Claim, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_REQUESTS, counter, record, time_ratio};

pub static EXERCISE: Exercise = Exercise {
    lab: "latency",
    title: "four loads in flight",
    task: include_str!("latency/task.md"),
    hint: include_str!("latency/hint.md"),
    start: include_str!("latency/start.rs"),
    solution: include_str!("latency/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §8";
const KERNEL: &str = "four_chains";
/// Words of the table: 1 MiB, which L1 does not hold.
const WORDS: u32 = 1 << 18;
/// From an entry to its successor.
const TO_NEXT: u32 = 1_056;
const STRIDE: u32 = WORDS / 4;
const STEPS: u32 = 120;
const THREADS: u32 = 64;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every chain ends where the table leads", holds("none differs")),
        Claim::new("time", SECTION, "time over that before", less_than(0.5)),
        Claim::new("loads", SECTION, "loads over those before", less_than(1.01)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let table: Vec<u32> = (0..WORDS).map(|word| (word + TO_NEXT) % WORDS).collect();
    let (next, out) = (gpu.upload(&table)?, gpu.zeros::<u32>(THREADS as usize)?);
    let args = (next.ptr(), out.ptr(), STRIDE, STEPS);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(THREADS, THREADS), args, args)?;
    let end = |from: u32| (u64::from(from) + u64::from(STEPS * TO_NEXT)) % u64::from(WORDS);
    let found = out.download()?;
    let wrong =
        (0..).zip(&found).find(|(i, found)| u64::from(**found) != (0..4).map(|k| end(i + k * STRIDE)).sum::<u64>());
    attempt.holds(
        "results",
        wrong.is_none(),
        wrong.map(|(i, found)| format!("thread {i} has {found}")).unwrap_or_default(),
    );
    record(attempt, "time", time_ratio(&yours, &before));
    let loads = counter(&yours, LOAD_REQUESTS).and_then(|yours| Ok(yours / counter(&before, LOAD_REQUESTS)?));
    record(attempt, "loads", loads);
    Ok(())
}
