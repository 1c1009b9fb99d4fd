//! The schedulers of one SM, cycle by cycle: who issues, who waits and for what, from a trace of the cycle model.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::isa::Program;
use warpwise_simt::timing::{Completed, Issued, Observer, Placement, Timing};

use super::ask::Ask;
use super::small::{self, STEPS_MAX, Small};
use super::{Explorer, controls};
use crate::book::Site;
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::commands::trace::reason;

pub static EXPLORER: Explorer = Explorer {
    id: "schedulers",
    title: "Four schedulers at work",
    promise: "Cycle by cycle: which warp each scheduler lets issue, and what the others wait for.",
    section: "ch1 §8",
    lab: "latency",
    first: "device=RTX+5070&kernel=vecadd&blocks=96&block_x=256&block_y=1&n=24576&number=4",
    page,
};

const THREADS_MAX: i64 = 131_072;
/// Issues of the SM that are recorded and sent.
const RECORDED_MAX: usize = 12_000;

fn page() -> Markup {
    let knobs = html! {
        (controls::device())
        (small::knobs("vecadd", (96, 4096), 256, 24_576, 4))
    };
    html! {
        (controls::form(EXPLORER.id, &knobs))
        div.answer aria-live="polite" { p.headline #headline {} p.hint #hint {} }
        div.transport role="group" aria-label="Cycles" {
            button type="button" #back title="A cycle back (←)" { "◀" span.sr { "A cycle back" } }
            button type="button".primary #play { "Play" }
            button type="button" #forward title="A cycle forward (→)" { "▶" span.sr { "A cycle forward" } }
            button type="button" #next title="To the next cycle with an issue (↓)" { "Next issue" }
            input type="range" #at min="0" max="0" value="0" aria-label="Cycle";
        }
        div.schedulers #schedulers {}
        figure { figcaption { "All warps of the SM over time: a mark is an issue, a bar a load on its way" } canvas #timeline width="1120" height="420" role="img" aria-label="Issues of each warp by cycle" {} }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    device: String,
    kernel: String,
    blocks: i64,
    block_x: i64,
    block_y: i64,
    n: i64,
    number: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let Asked { blocks, n, number, .. } = asked;
    let small = Small { kernel: &asked.kernel, blocks, block: [asked.block_x, asked.block_y], n, number };
    let mut subject = small.subject(THREADS_MAX)?;
    let global = site.settings.global.clone();
    let done = site.machines.work(device, move |bench| {
        let resources = bench.resources(&subject.subject, &device.arch(), None).map_err(Problem::here)?;
        subject.regs = Some(resources.registers.value());
        let program = bench.executed(&subject.subject).map_err(Problem::here)?;
        let source = subject.source().map_err(Problem::here)?;
        let mut ready = subject.ready(&source, &program, device, &global).map_err(Problem::here)?;
        ready.launch.step_budget = Some(STEPS_MAX);
        let mut record = OfSm::default();
        let outcome = ready.machine.launch_traced(&ready.kernel, &ready.launch, &mut record);
        let report = outcome.map_err(|refused| Problem::input(refused.to_string()))?;
        let timing =
            report.timing.as_ref().ok_or_else(|| Problem::input("the launch ended before it could be timed"))?;
        Ok(record.json(&program, timing, report.fault.as_ref().map(ToString::to_string)))
    });
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

/// What the first SM did.
#[derive(Default)]
struct OfSm {
    issued: Vec<Issued>,
    arrived: Vec<Completed>,
    dropped: usize,
}

const SM: u32 = 0;

impl Observer for OfSm {
    fn issued(&mut self, event: &Issued) {
        match event.sm == SM && self.issued.len() < RECORDED_MAX {
            true => self.issued.push(*event),
            false => self.dropped += usize::from(event.sm == SM),
        }
    }

    fn completed(&mut self, event: &Completed) {
        if event.sm == SM && self.arrived.len() < RECORDED_MAX {
            self.arrived.push(*event);
        }
    }

    fn ended(&mut self, _: &Placement) {}
}

impl OfSm {
    /// Schedulers with their warps, each with its issues as `[cycle, pc, lanes]` and its loads as `[issue, arrival]`.
    fn json(&self, program: &Program, timing: &Timing, fault: Option<String>) -> Value {
        let mut warps: BTreeMap<(u32, u64, u32), Vec<[u64; 3]>> = BTreeMap::new();
        for event in &self.issued {
            let issue = [event.cycle, event.pc.into(), event.active.count_ones().into()];
            warps.entry((event.scheduler, event.block, event.warp_in_block)).or_default().push(issue);
        }
        let loads = |block: u64, warp: u32| -> Vec<[u64; 2]> {
            let own = self.arrived.iter().filter(|load| (load.block, load.warp_in_block) == (block, warp));
            own.map(|load| [load.issue_cycle, load.ready_cycle]).collect()
        };
        let warps = warps.iter().map(|((scheduler, block, warp), issues)| {
            json!({ "scheduler": scheduler, "block": block, "warp": warp, "issues": issues, "loads": loads(*block, *warp) })
        });
        let code = (0..program.code.len()).map(|pc| {
            let text = program.info.get(pc).map_or("", |info| &info.text);
            json!({ "text": text, "waits_for": reason(timing, pc as u32) })
        });
        let ended =
            timing.placements.iter().filter(|placement| placement.sm == SM).map(|placement| placement.end_cycle).max();
        json!({
            "warps": warps.collect::<Vec<_>>(), "code": code.collect::<Vec<_>>(), "dropped": self.dropped, "fault": fault,
            "cycles": self.issued.iter().map(|event| event.cycle).max().max(ended.filter(|_| self.dropped == 0)),
            "utilisation": timing.issue_utilisation(), "us": timing.us, "launch_cycles": timing.cycles,
            "isa": if program.control.is_empty() { "PTX" } else { "SASS" },
        })
    }
}
