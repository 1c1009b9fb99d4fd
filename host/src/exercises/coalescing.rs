//! `coalescing`: a thread a record becomes a thread every so many floats.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_SECTORS, STORE_REQUESTS, STORE_SECTORS, counter, ratio, record, time_ratio};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "coalescing",
    title: "let neighbouring lanes read neighbouring floats",
    task: include_str!("coalescing/task.md"),
    hint: include_str!("coalescing/hint.md"),
    start: include_str!("coalescing/start.rs"),
    solution: include_str!("coalescing/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4 §3";
const KERNEL: &str = "gain";
/// Records, and floats of each.
const N: u32 = 20_003;
const FLOATS: u32 = 8;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every float equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("loaded", SECTION, "sectors loaded over those before", at_most(0.2)).on_machine(),
        Claim::new("stored", SECTION, "sectors that a warp's store takes, whole warps", equal(4)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.8)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (x, gains) = (noise(FLOATS * N, 1), noise(FLOATS, 2));
    let (device_x, device_gains) = (gpu.upload(&x)?, gpu.upload(&gains)?);
    let y = gpu.zeros::<f32>(x.len())?;
    let args = (device_x.ptr(), device_gains.ptr(), y.ptr(), N);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let expected = x.iter().enumerate().map(|(i, x)| x * gains[i % FLOATS as usize]);
    let differences = differences(&y.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    let loaded = counter(&yours, LOAD_SECTORS).and_then(|yours| Ok(yours / counter(&before, LOAD_SECTORS)?));
    record(attempt, "loaded", loaded);
    // The last warp is not whole, and takes fewer.
    record(attempt, "stored", ratio(&yours, STORE_SECTORS, STORE_REQUESTS).map(f64::round));
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
