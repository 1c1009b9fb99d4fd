//! The stepper: one warp of a small launch, instruction by instruction, under any model of divergence; forward and backward, since
//! the whole walk is recorded first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::device::Device;
use warpwise_simt::exec::{Effect, Event, Probe};
use warpwise_simt::isa::{Mask, Program, WARP_SIZE};

use super::ask::{Ask, within};
use super::controls::{self, Move, Transport};
use super::small::{self, Small};
use super::{Explorer, Parts};
use crate::backend::options::parse_divergence;
use crate::book::Site;
use crate::book::problem::Problem;
use crate::commands::step::changes;
use crate::commands::subject::source_line;
use crate::listing::{SourcePlace, Sources};

pub static EXPLORER: Explorer = Explorer {
    id: "stepper",
    title: "A warp, step by step",
    promise: "Walk a warp through an if: who is active, who waits where, where they meet, and what it cost.",
    section: "ch1 §7",
    lab: "divergence",
    first: "kernel=by_lane&blocks=1&block_x=64&block_y=1&n=60&number=2&model=converge&of_block=0&warp=0",
    parts,
};

const THREADS_MAX: i64 = 4096;
/// Steps that are recorded and sent.
const RECORDED_MAX: usize = 4000;

const TRANSPORT: Transport = Transport {
    what: "Steps",
    place: "Step",
    moves: &[
        Move::new("first", "«", "To the first step (Home)"),
        Move::new("back", "◀", "A step back (←)"),
        Move::new("forward", "▶", "A step forward (→)").main(),
        Move::new("part", "Next parting or meeting", "To the next step at which lanes part or meet (↓)"),
        Move::new("last", "»", "To the last step (End)"),
    ],
    speeds: &[],
};

fn parts() -> Parts {
    let models = [
        ("converge", "Since Volta: lanes rejoin, all make progress"),
        ("lockstep", "Before Volta: one side, then the other"),
        ("adversarial:1", "Any order that is allowed (seed 1)"),
        ("adversarial:2", "Any order that is allowed (seed 2)"),
    ];
    let knobs = html! {
        (small::knobs("by_lane", (1, 128), 64, 60, 2))
        (controls::choice("model", "Divergence", &models, "converge"))
        (controls::number("of_block", "Block", (0, 127), 0))
        (controls::number("warp", "Warp of it", (0, 31), 0))
    };
    let figures = html! {
        div.lanes #lanes role="img" aria-label="The lanes of the warp" {}
        p.key { span.on { "executes" } span.off { "active, guard false" } span.waits { "elsewhere, or waits" } span.gone { "has ended" } }
        div.figures.two {
            figure { figcaption { "PTX; the marked line has just been executed" } div.code #code tabindex="0" {} }
            figure { figcaption { "What changed, and who stands where" } div #state {} }
        }
        figure { figcaption { "Instructions issued so far, beside what the longest way of any one lane would have cost" } div #cost {} }
    };
    Parts { knobs, transport: Some(TRANSPORT), figures }
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
    model: String,
    of_block: i64,
    warp: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let Asked { blocks, n, number, .. } = asked;
    let small = Small { kernel: &asked.kernel, blocks, block: [asked.block_x, asked.block_y], n, number };
    let subject = small.subject(THREADS_MAX)?;
    let warps = (asked.block_x * asked.block_y + 31) / 32;
    let block = within("the block", asked.of_block, 0, blocks - 1)? as u64;
    let warp = within("the warp", asked.warp, 0, warps - 1)? as usize;
    let divergence = parse_divergence(&asked.model).map_err(|error| Problem::input(error).for_a_script())?;
    let global = site.settings.global.clone();
    let done = site.machines.work(Device::default_device(), move |bench| {
        let (source, mut ready) = small::of_ptx(&subject, &global)?;
        ready.launch.divergence = divergence;
        let mut walk = Walk { block, warp, steps: Vec::new(), executed: 0, by_lane: [0; WARP_SIZE] };
        let outcome = ready.machine.launch_observed(&ready.kernel, &ready.launch, &mut walk);
        let report = outcome.map_err(|refused| Problem::input(refused.to_string()))?;
        let fault = report.fault.as_ref().map(ToString::to_string);
        Ok(json!({
            "code": code(&source.program, &mut Sources::of(&bench.kernels)), "steps": walk.steps, "executed": walk.executed,
            "longest": walk.by_lane.iter().max(), "fault": fault,
        }))
    });
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

/// The program's lines with their sources.
fn code(program: &Program, sources: &mut Sources) -> Vec<Value> {
    let line = |pc: usize| {
        let text = program.info.get(pc).map_or("", |info| &info.text);
        let place = source_line(program, pc as u32).map(|(file, line)| SourcePlace { file: file.to_string(), line });
        let rust = place.as_ref().and_then(|place| sources.line(place).map(str::to_owned));
        let place = place.map(|place| format!("{}:{}", place.file.rsplit('/').next().unwrap_or_default(), place.line));
        json!({ "text": if text.is_empty() { "exit" } else { text }, "place": place, "rust": rust })
    };
    (0..program.code.len()).map(line).collect()
}

/// What one warp did.
struct Walk {
    block: u64,
    warp: usize,
    steps: Vec<Value>,
    executed: u64,
    /// Steps in which each lane was active: what the warp would issue if all lanes went that lane's way.
    by_lane: [u64; WARP_SIZE],
}

impl Probe for Walk {
    fn instruction(&mut self, event: &Event<'_>) {
        let [x, y, z] = event.block.index().map(u64::from);
        let [grid_x, grid_y, _] = event.grid.dim.map(u64::from);
        let is_ours = x + grid_x * (y + grid_y * z) == self.block && event.warp == self.warp;
        if !is_ours || event.step.effect == Effect::Waiting {
            return;
        }
        self.executed += 1;
        let step = event.step;
        for (lane, count) in self.by_lane.iter_mut().enumerate() {
            *count += u64::from(step.active >> lane & 1);
        }
        if self.steps.len() < RECORDED_MAX {
            let text = event.grid.kernel().program().info.get(step.pc as usize).map_or("", |info| &info.text);
            let splits: Vec<(u32, Mask, bool)> = event.block.warps()[event.warp].splits().collect();
            self.steps.push(json!({
                "pc": step.pc, "active": step.active, "on": step.on, "changes": changes(event, text), "splits": splits,
                "longest": self.by_lane.iter().max(), "live": event.block.warps()[event.warp].live(),
            }));
        }
    }
}
