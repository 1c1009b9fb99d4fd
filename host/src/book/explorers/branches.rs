//! A kernel's own branches: for each, whether it is known to be uniform before the kernel runs, and at how many of its executions
//! the lanes of a warp parted.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::device::Device;
use warpwise_simt::exec::{Effect, Event, Probe};
use warpwise_simt::isa::{Op, PredSrc, Program};
use warpwise_simt::uniformity::{BlockShape, Uniformity, analyse};

use super::ask::Ask;
use super::small::{self, Small};
use super::{Explorer, Parts};
use crate::book::Site;
use crate::book::condition::parse;
use crate::book::problem::Problem;
use crate::commands::subject::source_line;
use crate::listing::{SourcePlace, Sources};

pub static EXPLORER: Explorer = Explorer {
    id: "branches",
    title: "A kernel's branches, uniform or not",
    promise: "Every branch of a kernel: what is known of it before it runs, and how often a run saw a warp part there.",
    section: "ch1 §7",
    lab: "divergence",
    first: "kernel=by_lane&blocks=4&block_x=256&block_y=1&n=1003&number=4",
    parts,
};

const THREADS_MAX: i64 = 16_384;

fn parts() -> Parts {
    let knobs = small::knobs("by_lane", (4, 512), 256, 1003, 4);
    let figures = html! {
        div.wide { table #branches {
            thead { tr { @for column in ["source", "instruction", "known before", "by warps", "parted", "condition"] { th scope="col" { (column) } } } }
            tbody {}
        } }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    kernel: String,
    blocks: i64,
    block_x: i64,
    block_y: i64,
    n: i64,
    number: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let Asked { blocks, n, number, .. } = asked;
    let small = Small { kernel: &asked.kernel, blocks, block: [asked.block_x, asked.block_y], n, number };
    let subject = small.subject(THREADS_MAX)?;
    let shape = match asked.block_y {
        1 => BlockShape::OneDimensional,
        _ if asked.block_x % 32 == 0 => BlockShape::RowsOfWarps,
        _ => BlockShape::Any,
    };
    let global = site.settings.global.clone();
    let done = site.machines.work(Device::default_device(), move |bench| {
        let (source, mut ready) = small::of_ptx(&subject, &global)?;
        let program = &source.program;
        let mut counts = Counts(vec![[0; 2]; program.code.len()]);
        let outcome = ready.machine.launch_observed(&ready.kernel, &ready.launch, &mut counts);
        let report = outcome.map_err(|refused| Problem::input(refused.to_string()))?;
        let known = analyse(program, shape);
        let mut sources = Sources::of(&bench.kernels);
        let branches = (0..program.code.len() as u32).filter(|pc| is_conditional(program, *pc));
        let branches: Vec<Value> =
            branches.map(|pc| json(program, pc, counts.0[pc as usize], &known, &mut sources)).collect();
        Ok(json!({ "branches": branches, "fault": report.fault.as_ref().map(ToString::to_string) }))
    });
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

fn is_conditional(program: &Program, pc: u32) -> bool {
    let instr = &program.code[pc as usize];
    matches!(instr.op, Op::Branch { .. }) && instr.guard != PredSrc::TRUE
}

fn json(program: &Program, pc: u32, [executed, parted]: [u64; 2], known: &Uniformity, sources: &mut Sources) -> Value {
    let place = source_line(program, pc).map(|(file, line)| SourcePlace { file: file.to_string(), line });
    let rust = place.as_ref().and_then(|place| sources.line(place).map(str::to_owned));
    let name = place.map(|place| format!("{}:{}", place.file.rsplit('/').next().unwrap_or_default(), place.line));
    let condition = rust.as_deref().and_then(condition).filter(|condition| parse(condition).is_ok());
    json!({
        "text": program.info.get(pc as usize).map_or("", |info| &info.text), "place": name, "rust": rust, "condition": condition,
        "known": if known.guard(pc).is_uniform() { "uniform" } else { "varying" }, "executed": executed, "parted": parted,
    })
}

/// What stands between `if` or `while` and the brace of a line of Rust.
fn condition(line: &str) -> Option<&str> {
    let rest = line.split_once("if ").or(line.split_once("while "))?.1;
    Some(rest.split_once(" {")?.0.trim())
}

/// Executions of each instruction by a warp, and those at which some lanes jumped and others did not.
struct Counts(Vec<[u64; 2]>);

impl Probe for Counts {
    fn instruction(&mut self, event: &Event<'_>) {
        let step = event.step;
        if step.effect == Effect::Waiting {
            return;
        }
        let Some([executed, parted]) = self.0.get_mut(step.pc as usize) else { return };
        *executed += 1;
        if let Effect::Branch { taken } = step.effect {
            *parted += u64::from(taken != 0 && taken != step.active);
        }
    }
}
