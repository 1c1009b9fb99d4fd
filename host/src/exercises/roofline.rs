//! `roofline`: four vectors share one pass over the matrix.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, equal, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{FFMA, LOAD_SECTORS, counter, record};
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "roofline",
    title: "more work for each weight",
    task: include_str!("roofline/task.md"),
    hint: include_str!("roofline/hint.md"),
    start: include_str!("roofline/start.rs"),
    solution: include_str!("roofline/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch3 §6";
const ROWS: u32 = 203;
const COLUMNS: u32 = 256;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every result equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("sectors", SECTION, "sectors loaded over those before", at_most(0.67)).on_machine(),
        Claim::new("work", SECTION, "multiply-adds over those before", equal(1)).on_machine(),
        Claim::new("stack", SECTION, "local memory a thread, bytes", equal(0)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let (a, x) = (noise(ROWS * COLUMNS, 1), noise(4 * COLUMNS, 2));
    let (matrix, vectors, y) = (gpu.upload(&a)?, gpu.upload(&x)?, gpu.zeros::<f32>(4 * ROWS as usize)?);
    let args = (matrix.ptr(), vectors.ptr(), y.ptr(), ROWS, COLUMNS);
    let [before, yours] = attempt.run_both(&gpu, "four_products", LaunchShape::linear(32 * ROWS, 256), args, args)?;
    let rows = a.chunks(COLUMNS as usize);
    let expected = rows.flat_map(|row| x.chunks(COLUMNS as usize).map(|vector| product(row, vector)));
    let differences = differences(&y.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    for (claim, name) in [("sectors", LOAD_SECTORS), ("work", FFMA)] {
        record(attempt, claim, counter(&yours, name).and_then(|yours| Ok(yours / counter(&before, name)?)));
    }
    let resources = attempt.resources(&attempt.yours("four_products"), "sm_120")?;
    attempt.found("stack", resources.stack_bytes);
    Ok(())
}

/// A sum a lane, then the lanes two by two.
fn product(row: &[f32], vector: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 32];
    for (k, (weight, value)) in row.iter().zip(vector).enumerate() {
        lanes[k % 32] = weight.mul_add(*value, lanes[k % 32]);
    }
    for distance in [16, 8, 4, 2, 1] {
        lanes = std::array::from_fn(|lane| lanes[lane] + lanes[lane ^ distance]);
    }
    lanes[0]
}
