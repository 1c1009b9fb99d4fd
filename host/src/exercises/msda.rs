//! `msda`: a thread a result becomes a warp a result, a lane a channel.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_SECTORS, STORE_SECTORS, counter, record, time_ratio};
use crate::labs::input::{differences, noise};
use crate::random::{Random, generator};

pub static EXERCISE: Exercise = Exercise {
    lab: "msda",
    title: "give each lane a channel, and each scattered row a whole warp",
    task: include_str!("msda/task.md"),
    hint: include_str!("msda/hint.md"),
    start: include_str!("msda/start.rs"),
    solution: include_str!("msda/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4 §4";
const KERNEL: &str = "pool";
/// Rows and their floats; results, and the rows that each adds up.
const ROWS: u32 = 3_001;
const CHANNELS: u32 = 32;
const N: u32 = 4_003;
const PICKED: u32 = 4;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every sum equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("loaded", SECTION, "sectors loaded over those before", at_most(0.3)).on_machine(),
        Claim::new("stored", SECTION, "sectors stored over those before", at_most(0.2)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.7)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(ROWS * CHANNELS, 4);
    let mut random = generator(5);
    let picked: Vec<u32> = (0..N * PICKED).map(|_| random.random_range(0..ROWS)).collect();
    let (device_x, device_picked) = (gpu.upload(&x)?, gpu.upload(&picked)?);
    let y = gpu.zeros::<f32>((N * CHANNELS) as usize)?;
    let args = (device_x.ptr(), device_picked.ptr(), y.ptr(), N);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 64), args, args)?;
    let sum = |i: u32| {
        let rows = &picked[(i / CHANNELS * PICKED) as usize..][..PICKED as usize];
        rows.iter().fold(0.0_f32, |sum, row| sum + x[(row * CHANNELS + i % CHANNELS) as usize])
    };
    let differences = differences(&y.download()?, (0..N * CHANNELS).map(sum));
    attempt.holds("results", differences.none(), differences.to_string());
    for (claim, name) in [("loaded", LOAD_SECTORS), ("stored", STORE_SECTORS)] {
        let ratio = counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?));
        record(attempt, claim, ratio);
    }
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
