//! `uniform`: which values are the same for the whole warp?
//!
//! Known before a run, from the PTX ([`warpwise_simt::uniformity`]); seen in runs of the machine; and acted on by ptxas, which keeps
//! what it proves uniform in UR registers.

use warpwise_kernels::divergence::branch_paths;
use warpwise_kernels::vecadd::vecadd;
use warpwise_nvtools::nvdisasm::{Instruction, ListingOptions};
use warpwise_simt::isa::{Op, Program, Special};
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::uniformity::{BlockShape, Class, Uniformity, Watcher, analyse};

use super::code::{sass, text};
use super::input::noise;
use crate::claim::{Claim, at_least, equal, holds};
use crate::lab::{Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "uniform",
    chapter: 1,
    sections: "ch1 §6",
    question: "which values are the same for the whole warp?",
    kernels: &["vecadd", "branch_paths", "mix"],
    text: include_str!("../../../docs/labs/uniform.md"),
    claims,
    run,
};

const SECTION: &str = "ch1 §6";
const ARCH: &str = "sm_120";

fn claims() -> Vec<Claim> {
    let machine = |id: &str, statement: &str, relation| Claim::new(id, SECTION, statement, relation).on_machine();
    vec![
        machine("sizes", "block numbers are uniform; sizes and parameters are not even in the warp", holds("each is")),
        machine("thread", "threadIdx.x, i and what is loaded from a[i] vary", holds("each does")),
        machine("counter", "branch_paths: the counter of a loop with a uniform bound is uniform in the loop", holds("it is")),
        machine("warp_in_1d", "threadIdx.x / 32 in a 1-D block", equal("uniform")),
        machine("warp_in_rows_of_32", "threadIdx.x / 32 where blockDim.x is a multiple of 32", equal("uniform")),
        machine("warp_in_any", "threadIdx.x / 32 where nothing is known of the block", equal("varying"))
            .note("the chapter lists it as uniform: with rows of 48 a warp has the end of one row and the beginning of the next"),
        machine("sound", "results called uniform that a run saw differ between lanes", equal(0)),
        machine("complete", "results called varying that no run saw differ", equal(0)),
        machine("guards", "branches called uniform at which a run saw lanes part", equal(0)),
        Claim::new("in_ur", SECTION, "branch_paths on sm_120: instructions of the uniform datapath", at_least(1.0)).recorded(),
        Claim::new("loop_in_ur", SECTION, "branch_paths on sm_120: the loop's counter and its jump are uniform: UISETP, BRA.U", holds("both are there"))
            .recorded(),
        Claim::new("n_in_ur", SECTION, "vecadd on sm_120: n is compared from a UR register", holds("it is")).recorded(),
    ]
}

const N: u32 = 150;
const STEPS: u32 = 37;
const BLOCK: u32 = 64;

/// A kernel, how many arrays it reads, and whether it has a number of steps.
struct Subject {
    kernel: &'static str,
    inputs: usize,
    steps: bool,
}

static SUBJECTS: [Subject; 3] = [
    Subject { kernel: "vecadd", inputs: 2, steps: false },
    Subject { kernel: "branch_paths", inputs: 1, steps: true },
    Subject { kernel: "mix", inputs: 2, steps: false },
];

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    known(cx)?;
    seen(cx)?;
    kept(cx)
}

fn program(cx: &LabContext<'_>, kernel: &str) -> Result<std::sync::Arc<Program>, LabError> {
    cx.bench().code.program(kernel).map_err(|error| LabError::Other(error.to_string()))
}

/// What the PTX tells before anything runs.
fn known(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let program = program(cx, vecadd.name)?;
    let uniformity = analyse(&program, BlockShape::OneDimensional);
    let of = |matches: &dyn Fn(&Op) -> bool| -> Vec<Class> {
        let places = (0..).zip(&program.code).filter(|(_, instr)| matches(&instr.op));
        places.filter_map(|(pc, _)| uniformity.result(pc)).collect()
    };
    let blocks = of(&|op| matches!(op, Op::Special(Special::BlockIdx(_))));
    let is_uniform = !blocks.is_empty() && blocks.iter().all(|class| class.is_uniform());
    // Parameters and sizes are words of the launch: no instruction of the program makes them.
    let reads_sizes = of(&|op| matches!(op, Op::Special(Special::ThreadIdx(1 | 2)))).is_empty();
    cx.holds("sizes", is_uniform && reads_sizes, format!("{blocks:?}"));
    let threads = of(&|op| matches!(op, Op::Special(Special::ThreadIdx(0))));
    let loads = of(&|op| matches!(op, Op::Load(_)));
    let varies = |classes: &[Class]| !classes.is_empty() && classes.iter().all(|class| !class.is_uniform());
    cx.holds("thread", varies(&threads) && loads.len() == 2 && varies(&loads), format!("{threads:?}, {loads:?}"));
    table(cx, &program, &uniformity);

    let program = self::program(cx, branch_paths.name)?;
    let uniformity = analyse(&program, BlockShape::OneDimensional);
    // The branches back to an earlier place that lanes take together are the loops'.
    let loops =
        (0..).zip(&program.code).filter(|(pc, instr)| matches!(instr.op, Op::Branch { target, .. } if target <= *pc));
    let guards: Vec<Class> = loops.map(|(pc, _)| uniformity.guard(pc)).collect();
    let all = !guards.is_empty() && guards.iter().all(|class| class.is_uniform());
    cx.holds("counter", all, format!("{guards:?}"));
    for (claim, shape) in [
        ("warp_in_1d", BlockShape::OneDimensional),
        ("warp_in_rows_of_32", BlockShape::RowsOfWarps),
        ("warp_in_any", BlockShape::Any),
    ] {
        cx.found(claim, warp_number(shape)?);
    }
    Ok(())
}

/// `threadIdx.x / 32` as PTX says it, and nothing else.
const WARP_NUMBER: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry warp_number(.param .u64 out) {
.reg .b32 %r<3>; .reg .b64 %d;
ld.param.u64 %d, [out];
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
st.global.u32 [%d], %r2;
ret;
}
";

fn warp_number(shape: BlockShape) -> Result<&'static str, LabError> {
    let module = warpwise_simt::ptx::Module::parse("warp_number.ptx", WARP_NUMBER);
    let program = module.and_then(|module| module.lower("warp_number"));
    let program = program.map_err(|error| LabError::Other(error.to_string()))?;
    let uniformity = analyse(&program, shape);
    let place = program.info.iter().position(|info| info.text.starts_with("shr"));
    let class = place.and_then(|pc| uniformity.result(pc as u32));
    Ok(if class.is_some_and(Class::is_uniform) { "uniform" } else { "varying" })
}

fn word(class: Class) -> &'static str {
    match class {
        Class::Uniform => "uniform",
        Class::LaneOf32 | Class::Varying => "varying",
    }
}

fn table(cx: &mut LabContext<'_>, program: &Program, uniformity: &Uniformity) {
    let mut table =
        Table::new("vecadd, a 1-D block: what each instruction makes", ["PTX", "is", "under a condition that is"]);
    for (pc, info) in (0..).zip(&program.info) {
        let result = uniformity.result(pc).map_or("", word);
        let is_plain = program.code[pc as usize].guard == warpwise_simt::isa::PredSrc::TRUE;
        let guard = if is_plain { "" } else { word(uniformity.guard(pc)) };
        table.row([(*info.text).into(), result.into(), guard.into()]);
    }
    cx.table(table);
}

/// What runs of the machine show.
fn seen(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let (mut unsound, mut unseen, mut parted) = (0, 0, 0);
    let mut table = Table::new(
        "known and seen: two runs of each kernel on other inputs",
        ["kernel", "results", "uniform", "varying", "seen to vary"],
    );
    for subject in &SUBJECTS {
        let program = program(cx, subject.kernel)?;
        let known = analyse(&program, BlockShape::OneDimensional);
        let mut watcher = Watcher::new(&program);
        for seed in [41, 42] {
            watch(cx, subject, &program, seed, &mut watcher)?;
        }
        let results: Vec<u32> = (0..program.code.len() as u32)
            .filter(|&pc| known.result(pc).is_some() && watcher.was_executed(pc))
            .collect();
        let is_uniform = |pc: &u32| known.result(*pc).is_some_and(Class::is_uniform);
        let (uniform, varying): (Vec<u32>, Vec<u32>) = results.iter().partition(|pc| is_uniform(pc));
        unsound += uniform.iter().filter(|pc| watcher.differed(**pc)).count();
        let not_seen: Vec<&u32> = varying.iter().filter(|pc| !watcher.differed(**pc)).collect();
        for pc in &not_seen {
            cx.note(format!(
                "{}: `{}` is called varying and was not seen to vary",
                subject.kernel, program.info[**pc as usize].text
            ));
        }
        unseen += not_seen.len();
        parted +=
            (0..).zip(&program.code).filter(|(pc, _)| known.guard(*pc).is_uniform() && watcher.parted(*pc)).count();
        let seen = varying.len() - not_seen.len();
        table.row([
            subject.kernel.into(),
            results.len().into(),
            uniform.len().into(),
            varying.len().into(),
            seen.into(),
        ]);
    }
    cx.table(table);
    cx.found("sound", unsound);
    cx.found("complete", unseen);
    cx.found("guards", parted);
    Ok(())
}

fn watch(
    cx: &LabContext<'_>,
    subject: &Subject,
    program: &Program,
    seed: u64,
    watcher: &mut Watcher,
) -> Result<(), LabError> {
    let problem = |error: &dyn std::fmt::Display| LabError::Other(error.to_string());
    let mut machine = Machine::new(cx.device());
    let bytes = u64::from(N) * 4;
    let mut params = Vec::new();
    for k in 0..=subject.inputs {
        let address = machine.alloc(bytes).map_err(|error| problem(&error))?;
        let x = noise(N, seed + k as u64);
        machine.write(address, bytemuck::cast_slice(&x)).map_err(|error| problem(&error))?;
        params.extend(address.to_le_bytes());
    }
    params.extend(N.to_le_bytes());
    if subject.steps {
        params.extend(STEPS.to_le_bytes());
    }
    let module = machine.load(cx.bench().code.variables()).map_err(|error| problem(&error))?;
    let kernel = machine.prepare(module, program).map_err(|error| problem(&error))?;
    let launch = Launch::new([N.div_ceil(BLOCK), 1, 1], [BLOCK, 1, 1], params);
    let report = machine.launch_observed(&kernel, &launch, watcher).map_err(|error| problem(&error))?;
    match report.fault {
        Some(fault) => Err(problem(&fault)),
        None => Ok(()),
    }
}

/// What ptxas kept in UR registers.
fn kept(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let plain = ListingOptions::default();
    if let Some(function) = sass(cx, branch_paths.name, ARCH, plain, &["in_ur", "loop_in_ur"])? {
        let uniform: Vec<&Instruction> =
            function.instructions.iter().filter(|own| is_of_the_uniform_path(own)).collect();
        cx.found("in_ur", uniform.len());
        let has = |opcode: &str| function.instructions.iter().any(|own| own.opcode.starts_with(opcode));
        cx.holds("loop_in_ur", has("UISETP") && has("BRA.U"), format!("{} instructions, none of these", uniform.len()));
        let mut table =
            Table::new(format!("branch_paths on {ARCH}: on the uniform datapath"), ["address", "instruction"]);
        for instruction in uniform.iter().take(SHOWN) {
            table.row([format!("{:#06x}", instruction.address).into(), text(instruction).into()]);
        }
        cx.table(table);
    }
    if let Some(function) = sass(cx, vecadd.name, ARCH, plain, &["n_in_ur"])? {
        let compares = function.instructions.iter().find(|own| own.base_opcode() == "ISETP");
        let found = compares.map(text);
        let from_ur = found.as_ref().is_some_and(|text| text.contains(" UR"));
        cx.holds("n_in_ur", from_ur, found.unwrap_or_else(|| "there is no ISETP".to_owned()));
    }
    Ok(())
}

/// Lines of the table.
const SHOWN: usize = 16;

/// `UISETP`, `ULOP3`, `BRA.U`: what works on UR registers and uniform predicates alone.
fn is_of_the_uniform_path(instruction: &Instruction) -> bool {
    let opcode = instruction.opcode.as_str();
    opcode.starts_with('U') || opcode.starts_with("BRA.U") || opcode.starts_with("S2UR") || opcode.starts_with("LDCU")
}
