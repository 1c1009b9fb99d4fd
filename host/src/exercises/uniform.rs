//! `uniform`: compute what is the block's once a warp.

use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::isa::{AluKind, Op};
use warpwise_simt::uniformity::{BlockShape, analyse};

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_least, at_most, holds};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::code::sass;
use crate::labs::input::{differences, noise};

pub static EXERCISE: Exercise = Exercise {
    lab: "uniform",
    title: "compute what is the block's once a warp",
    task: include_str!("uniform/task.md"),
    hint: include_str!("uniform/hint.md"),
    start: include_str!("uniform/start.rs"),
    solution: include_str!("uniform/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch1 §6";
const KERNEL: &str = "scale_by_block";
const ARCH: &str = "sm_120";
const N: u32 = 5_003;
const SEED: u32 = 77;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every element equals the CPU's, bit for bit", holds("none differs")),
        Claim::new("known", SECTION, "the generator's products are uniform, as the PTX tells", holds("they are"))
            .on_machine(),
        Claim::new(
            "uniform",
            SECTION,
            "UIMAD and other arithmetic on the uniform datapath, sm_120: instructions",
            at_least(3.0),
        )
        .recorded(),
        Claim::new("registers", SECTION, "registers a thread over those before, sm_120", at_most(1.0)).recorded(),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let x = noise(N, 15);
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let args = (input.ptr(), output.ptr(), N, SEED);
    attempt.run_both(&gpu, KERNEL, LaunchShape::linear(N, 256), args, args)?;
    let expected = (0..).zip(&x).map(|(i, x)| factor(i / 256) * x);
    let differences = differences(&output.download()?, expected);
    attempt.holds("results", differences.none(), differences.to_string());
    let (before, yours) = (attempt.before(KERNEL), attempt.yours(KERNEL));
    let program = attempt.bench().code.program(&yours).map_err(|error| LabError::Other(error.to_string()))?;
    let uniformity = analyse(&program, BlockShape::OneDimensional);
    // The products of the generator come after the index, which is a product too, and varies with the thread.
    let is_product = |op: &Op| matches!(op, Op::Alu(alu) if matches!(alu.kind, AluKind::Mul | AluKind::Mad) && alu.ty.bits() == 32 && !alu.ty.is_float());
    let products = (0..).zip(&program.code).filter(|(_, instr)| is_product(&instr.op));
    let uniform = products.filter(|(pc, _)| uniformity.result(*pc).is_some_and(|class| class.is_uniform())).count();
    attempt.holds("known", uniform > 0, "every product varies");
    let registers =
        |kernel: &str| attempt.resources(kernel, ARCH).map(|resources| f64::from(resources.registers.value()));
    let ratio = registers(&yours)? / registers(&before)?;
    attempt.found("registers", ratio);
    if let Some(function) = sass(attempt, &yours, ARCH, ListingOptions::default(), &["uniform"])? {
        let arithmetic = ["UIMAD", "USHF", "ULOP3", "UI2FP", "UFMUL", "UIADD3", "UI2F"];
        let found = function.instructions.iter().filter(|own| arithmetic.contains(&own.base_opcode())).count();
        attempt.found("uniform", found);
    }
    Ok(())
}

/// The factor of a block.
fn factor(block: u32) -> f32 {
    let word = (0..8).fold(SEED ^ block, |word, _| word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    (word >> 8) as f32 / 16_777_216.0
}
