//! `occupancy`: fewer live sums, more resident warps.

use crate::backend::{LaunchReport, LaunchShape};
use crate::claim::{Claim, at_least, at_most, equal, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{FFMA_LANES, counter, record};
use crate::labs::input::noise;

pub static EXERCISE: Exercise = Exercise {
    lab: "occupancy",
    title: "fewer live sums, more resident warps",
    task: include_str!("occupancy/task.md"),
    hint: include_str!("occupancy/hint.md"),
    start: include_str!("occupancy/start.rs"),
    solution: include_str!("occupancy/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §9";
const KERNEL: &str = "tile_sum";
const ARCH: &str = "sm_120";
const N: u32 = 5_003;
const STEPS: u32 = 40;
/// Numbers of a thread.
const NUMBERS: u32 = 15;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every sum within a ten-thousandth of the exact one", holds("none is further")),
        Claim::new("registers", SECTION, "registers a thread on sm_120", at_most(40.0)).recorded(),
        Claim::new("spills", SECTION, "bytes spilled", equal(0)).recorded(),
        Claim::new("occupancy", SECTION, "occupancy at 256 threads a block", at_least(1.0))
            .on_device("RTX 5070")
            .recorded(),
        Claim::new("products", SECTION, "multiplications and additions over those before", at_most(1.05)).on_machine(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(NUMBERS * N, 12);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(N as usize)?);
    let args = (input.ptr(), output.ptr(), N, STEPS);
    let shape = LaunchShape::linear(N, 256);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let number = |k: u32, i: u32| f64::from(x[(k * N + i) as usize]);
    // The sum over steps, rows and columns is a product of sums.
    let shrinking: f64 = (0..STEPS).map(|step| 0.999_f64.powi(step as i32)).sum();
    let exact = (0..N).map(|i| {
        let (column, row): (f64, f64) = ((0..8).map(|k| number(k, i)).sum(), (8..NUMBERS).map(|k| number(k, i)).sum());
        shrinking * column * row
    });
    let scale = f64::from(STEPS * 56);
    let far = output
        .download()?
        .into_iter()
        .zip(exact)
        .find(|(found, exact)| (f64::from(*found) - exact).abs() > 1e-4 * scale);
    attempt.holds(
        "results",
        far.is_none(),
        far.map(|(found, exact)| format!("{found} for {exact}")).unwrap_or_default(),
    );
    let products =
        |report: &LaunchReport| ARITHMETIC.iter().map(|name| counter(report, name)).sum::<Result<f64, String>>();
    record(attempt, "products", products(&yours).and_then(|yours| Ok(yours / products(&before)?)));
    let resources = attempt.resources(&attempt.yours(KERNEL), ARCH)?;
    attempt.found("registers", resources.registers.value());
    attempt.found("spills", resources.spill_store_bytes + resources.spill_load_bytes);
    let occupancy = resources.occupancy(gpu.device().limits, shape)?.theoretical();
    attempt.found("occupancy", occupancy);
    Ok(())
}

/// Lanes that multiplied, added or did both.
const ARITHMETIC: [&str; 3] = [
    FFMA_LANES,
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
];
