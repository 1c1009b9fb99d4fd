//! `bounds`: one check for a row in place of one for each element.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{BRANCHES, INSTRUCTIONS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "bounds",
    title: "check once",
    task: include_str!("bounds/task.md"),
    hint: include_str!("bounds/hint.md"),
    start: include_str!("bounds/start.rs"),
    solution: include_str!("bounds/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "beyond";
const N: u32 = 1_003;
const LEN: u32 = 65;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every distance equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("instructions", SECTION, "instructions over those before", at_most(0.67)).on_machine(),
        Claim::new("branches", SECTION, "branches over those before", at_most(0.5)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (x, pattern) = (noise(N * LEN, 7), noise(LEN, 8));
    let (device_x, device_pattern, y) = (gpu.upload(&x)?, gpu.upload(&pattern)?, gpu.zeros::<f32>(N as usize)?);
    let args = (device_x.ptr(), device_pattern.ptr(), y.ptr(), N, LEN);
    let [before, yours] = attempt.run_both(&gpu, "distance", LaunchShape::linear(N, 256), args, args)?;
    let expected = x.chunks(LEN as usize).map(|row| {
        row.iter().zip(&pattern).fold(0.0_f32, |sum, (x, pattern)| {
            let off = x - pattern;
            off.mul_add(off, sum)
        })
    });
    let differences = differences(&y.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    for (claim, name) in [("instructions", INSTRUCTIONS), ("branches", BRANCHES)] {
        record(attempt, claim, counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?)));
    }
    Ok(())
}
