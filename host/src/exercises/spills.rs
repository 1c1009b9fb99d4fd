//! `spills`: an array that is indexed by a value leaves local memory.

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{INSTRUCTIONS, LOCAL_LOAD_SECTORS, LOCAL_STORE_SECTORS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "spills",
    title: "get an array out of local memory",
    task: include_str!("spills/task.md"),
    hint: include_str!("spills/hint.md"),
    start: include_str!("spills/start.rs"),
    solution: include_str!("spills/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3 §3";
const KERNEL: &str = "from_turn";
const N: u32 = 5_003;
const TURN: u32 = 3;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every sum equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("stack", SECTION, "local memory a thread, bytes", equal(0)),
        Claim::new("sectors", SECTION, "sectors of local memory that move", equal(0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(1.0)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(8 * N, 13);
    let (device_x, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
    let args = (device_x.ptr(), y.ptr(), N, TURN);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let sum = |i| (0..8).fold(0.0, |sum, k| sum + x[((TURN + k) % 8 * N + i) as usize]);
    let differences = differences(&y.download()?, (0..N).map(sum));
    attempt.holds("results", differences.none(), differences.to_string());
    let resources = attempt.resources(&attempt.yours(KERNEL), "sm_120")?;
    attempt.found("stack", resources.stack_bytes);
    let sectors =
        counter(&yours, LOCAL_LOAD_SECTORS).and_then(|loads| Ok(loads + counter(&yours, LOCAL_STORE_SECTORS)?));
    record(attempt, "sectors", sectors);
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    Ok(())
}
