//! `sass`: read the SASS, and find what runs at a fraction of the speed.

use warpwise_nvtools::nvdisasm::ListingOptions;

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::code::sass;
use crate::labs::counters::{record, time_ratio};
use crate::labs::input::noise;

pub static EXERCISE: Exercise = Exercise {
    lab: "sass",
    title: "read the SASS, and find what runs at a fraction of the speed",
    task: include_str!("sass/task.md"),
    hint: include_str!("sass/hint.md"),
    start: include_str!("sass/start.rs"),
    solution: include_str!("sass/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §5";
const KERNEL: &str = "polynomial_of";
const ARCH: &str = "sm_120";
const N: u32 = 100_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element within a millionth of the exact one", holds("none is further")),
        Claim::new("doubles", SECTION, "instructions for 64-bit numbers in the SASS: DADD, DMUL, DFMA, F2F", equal(0))
            .recorded(),
        Claim::new("registers", SECTION, "registers a thread over those before", at_most(1.0)).recorded(),
        Claim::new("time", SECTION, "time over that before", less_than(0.8)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 9);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), N);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let exact = x.iter().map(|&x| f64::from(x)).map(|x| ((0.1 * x - 0.3) * x + 0.7) * x + 0.9);
    let far = output.download()?.into_iter().zip(exact).find(|(found, exact)| (f64::from(*found) - exact).abs() > 1e-6);
    attempt.holds(
        "results",
        far.is_none(),
        far.map(|(found, exact)| format!("{found} for {exact}")).unwrap_or_default(),
    );
    record(attempt, "time", time_ratio(&yours, &before));
    let (before, yours) = (attempt.before(KERNEL), attempt.yours(KERNEL));
    let registers =
        |kernel: &str| attempt.resources(kernel, ARCH).map(|resources| f64::from(resources.registers.value()));
    let ratio = registers(&yours)? / registers(&before)?;
    attempt.found("registers", ratio);
    if let Some(function) = sass(attempt, &yours, ARCH, ListingOptions::default(), &["doubles"])? {
        let doubles = ["DADD", "DMUL", "DFMA", "F2F"];
        let found = function.instructions.iter().filter(|own| doubles.contains(&own.base_opcode())).count();
        attempt.found("doubles", found);
    }
    Ok(())
}
