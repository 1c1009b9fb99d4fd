//! `its`: the greatest of a warp, in whatever order its lanes run.

use warpwise_simt::checks::Checks;
use warpwise_simt::exec::Divergence;

use crate::backend::{BackendKind, Gpu, GpuError, IsaChoice, LaunchRequest, LaunchShape, MachineOptions};
use crate::claim::{Claim, equal, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::random::{Random, generator};

pub static EXERCISE: Exercise = Exercise {
    lab: "its",
    title: "let a warp find its greatest element without trusting its lanes to keep step",
    task: include_str!("its/task.md"),
    hint: include_str!("its/hint.md"),
    start: include_str!("its/start.rs"),
    solution: include_str!("its/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch2";
const KERNEL: &str = "warp_max";
const BLOCKS: u32 = 5;
const SEEDS: u64 = 8;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "each warp's greatest element is the CPU's", holds("none differs")),
        Claim::new("silent", SECTION, "what the checks find", equal("nothing")).on_machine(),
        Claim::new("any_order", SECTION, "adversarial orders of 8 in which a result is wrong", equal(0)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let mut random = generator(3);
    let x: Vec<u32> = (0..32 * BLOCKS).map(|_| random.random()).collect();
    let gpu = attempt.gpu()?;
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<u32>(BLOCKS as usize)?);
    let args = (input.ptr(), output.ptr());
    attempt.run_both(&gpu, KERNEL, LaunchShape::linear(32 * BLOCKS, 32), args, args)?;
    let wrong = wrong(&output.download()?, &x);
    attempt.holds("results", wrong == 0, format!("{wrong} differ"));
    if gpu.kind() != BackendKind::Sim {
        return Ok(());
    }
    let name = attempt.yours(KERNEL);
    let machine = |divergence, checks| {
        let options = MachineOptions { divergence, checks, isa: IsaChoice::Ptx, ..attempt.options() };
        attempt.machine(attempt.device(), options)
    };
    let checked = match results(&machine(Divergence::Converge, Checks::ALL)?, &name, &x) {
        Ok(_) => "nothing".to_owned(),
        Err(GpuError::Fault(fault)) => fault.message.clone(),
        Err(error) => return Err(error.into()),
    };
    let mut wrong_orders = 0;
    for seed in 0..SEEDS {
        let found = results(&machine(Divergence::Adversarial(seed), Checks::default())?, &name, &x)?;
        wrong_orders += usize::from(self::wrong(&found, &x) > 0);
    }
    attempt.found("silent", checked);
    attempt.found("any_order", wrong_orders);
    Ok(())
}

fn results(gpu: &Gpu, kernel: &str, x: &[u32]) -> Result<Vec<u32>, GpuError> {
    let (input, output) = (gpu.upload(x)?, gpu.zeros::<u32>(BLOCKS as usize)?);
    let args = (input.ptr(), output.ptr());
    gpu.run_in_turn(vec![LaunchRequest::named(kernel, LaunchShape::linear(32 * BLOCKS, 32), &args)])?;
    output.download()
}

fn wrong(found: &[u32], x: &[u32]) -> usize {
    x.chunks(32).zip(found).filter(|(warp, found)| warp.iter().max() != Some(found)).count()
}
