//! `predication`: make the other arm short enough not to need a branch.

use warpwise_nvtools::nvdisasm::ListingOptions;

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::code::sass;
use crate::labs::control_flow::branches;
use crate::labs::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, counter, record};
use crate::labs::input::noise;

pub static EXERCISE: Exercise = Exercise {
    lab: "predication",
    title: "make the other arm short enough not to need a branch",
    task: include_str!("predication/task.md"),
    hint: include_str!("predication/hint.md"),
    start: include_str!("predication/start.rs"),
    solution: include_str!("predication/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §7";
const KERNEL: &str = "lift";
const ARCH: &str = "sm_120";
const N: u32 = 20_003;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "results",
            SECTION,
            "every element within a millionth of where the steps lead",
            holds("none is further"),
        ),
        Claim::new("branches", SECTION, "branches in the SASS but the guard and the one behind the end", equal(0))
            .recorded(),
        Claim::new("divergent", SECTION, "branches at which the lanes of a warp part", equal(0)).on_machine(),
        Claim::new("instructions", SECTION, "instructions over those before", less_than(0.5)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 11);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), N);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let steps = |x: f32| if x > 0.0 { x } else { (0..32).fold(x, |v, _| v * 0.5 + 1.0) };
    let found = output.download()?;
    let far = found.iter().zip(&x).find(|(found, x)| (**found - steps(**x)).abs() > 1e-6);
    attempt.holds("results", far.is_none(), far.map(|(found, x)| format!("{found} from {x}")).unwrap_or_default());
    record(attempt, "divergent", counter(&yours, DIVERGENT_BRANCHES));
    let ratio = counter(&yours, INSTRUCTIONS).and_then(|yours| Ok(yours / counter(&before, INSTRUCTIONS)?));
    record(attempt, "instructions", ratio);
    let yours = attempt.yours(KERNEL);
    if let Some(function) = sass(attempt, &yours, ARCH, ListingOptions::default(), &["branches"])? {
        attempt.found("branches", branches(&function).others.len());
    }
    Ok(())
}
