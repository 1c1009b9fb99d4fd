//! `quiz`: three faults in ten lines.

use warpwise_nvtools::nvdisasm::ListingOptions;

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::code::sass;
use crate::labs::counters::{LOAD_REQUESTS, LOAD_SECTORS, STORE_REQUESTS, STORE_SECTORS, ratio, record, time_ratio};
use crate::labs::input::noise;

pub static EXERCISE: Exercise = Exercise {
    lab: "quiz",
    title: "three faults in ten lines",
    task: include_str!("quiz/task.md"),
    hint: include_str!("quiz/hint.md"),
    start: include_str!("quiz/start.rs"),
    solution: include_str!("quiz/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §5, ch4";
const KERNEL: &str = "exam";
const ARCH: &str = "sm_120";
/// Elements of a thread.
const EACH: u32 = 4;
const N: u32 = 200_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element within a millionth of the exact one", holds("none is further")),
        Claim::new("load_sectors", SECTION, "sectors that a warp's load touches", at_most(5.0)).on_machine(),
        Claim::new("store_sectors", SECTION, "sectors that a warp's store touches", at_most(5.0)).on_machine(),
        Claim::new("doubles", SECTION, "instructions for 64-bit numbers in the SASS: DADD, DMUL, DFMA, F2F", equal(0))
            .recorded(),
        Claim::new("time", SECTION, "time over that before", less_than(0.8)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 20);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), N);
    let shape = LaunchShape::linear(N.div_ceil(EACH), 256);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let exact = x.iter().map(|&x| f64::from(x)).map(|x| 0.1 * x + if x > 0.0 { 0.7 } else { -0.7 });
    let far = output.download()?.into_iter().zip(exact).find(|(found, exact)| (f64::from(*found) - exact).abs() > 1e-6);
    attempt.holds(
        "results",
        far.is_none(),
        far.map(|(found, exact)| format!("{found} for {exact}")).unwrap_or_default(),
    );
    record(attempt, "load_sectors", ratio(&yours, LOAD_SECTORS, LOAD_REQUESTS));
    record(attempt, "store_sectors", ratio(&yours, STORE_SECTORS, STORE_REQUESTS));
    record(attempt, "time", time_ratio(&yours, &before));
    let yours = attempt.yours(KERNEL);
    if let Some(function) = sass(attempt, &yours, ARCH, ListingOptions::default(), &["doubles"])? {
        let doubles = ["DADD", "DMUL", "DFMA", "F2F"];
        attempt
            .found("doubles", function.instructions.iter().filter(|own| doubles.contains(&own.base_opcode())).count());
    }
    Ok(())
}
