//! `stencil`: seven reads of global memory become one, through a tile with a halo.

use warpwise_simt::checks::Checks;

use crate::backend::{BackendKind, GpuError, IsaChoice, LaunchRequest, LaunchShape, MachineOptions};
use crate::claim::{Claim, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_REQUESTS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "stencil",
    title: "read each cell once, into a tile with a halo",
    task: include_str!("stencil/task.md"),
    hint: include_str!("stencil/hint.md"),
    start: include_str!("stencil/start.rs"),
    solution: include_str!("stencil/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch2";
const KERNEL: &str = "smooth";
const BLOCK: u32 = 256;
const RADIUS: usize = 3;
const N: u32 = 10_007;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every cell equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("loads", SECTION, "loads of global memory over those before", less_than(0.25)).on_machine(),
        Claim::new("silent", SECTION, "what the checks find", equal("nothing")).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 21);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
    let args = (input.ptr(), output.ptr(), N);
    let shape = LaunchShape::linear(N, BLOCK);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let cell = |cell: usize| cell.checked_sub(RADIUS).and_then(|cell| x.get(cell)).copied();
    let expected = (0..x.len()).map(|own| (own..=own + 2 * RADIUS).filter_map(cell).fold(0.0, |sum, cell| sum + cell));
    let wrong = differences(&output.download()?, expected);
    attempt.holds("results", wrong.none(), wrong.to_string());
    record(attempt, "loads", counter(&yours, LOAD_REQUESTS).and_then(|l| Ok(l / counter(&before, LOAD_REQUESTS)?)));
    if gpu.kind() == BackendKind::Sim {
        let options = MachineOptions { checks: Checks::ALL, isa: IsaChoice::Ptx, ..attempt.options() };
        let gpu = attempt.machine(attempt.device(), options)?;
        let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
        let request = LaunchRequest::named(attempt.yours(KERNEL), shape, &(input.ptr(), output.ptr(), N));
        let found = match gpu.run_in_turn(vec![request]).and_then(|_| output.download()) {
            Ok(_) => "nothing".to_owned(),
            Err(GpuError::Fault(fault)) => fault.message.clone(),
            Err(error) => return Err(error.into()),
        };
        attempt.found("silent", found);
    }
    Ok(())
}
