//! The schedulers of one SM, cycle by cycle: who issues, who waits and for what, from a trace of the cycle model.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::isa::Program;
use warpwise_simt::timing::{Completed, Issued, Observer, Placement, Stall, Timing, Waited};

use super::ask::Ask;
use super::controls::{self, Move, Transport};
use super::small::{self, Small};
use super::{Explorer, Parts};
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::book::{Site, words};

pub static EXPLORER: Explorer = Explorer {
    id: "schedulers",
    title: "Four schedulers at work",
    promise: "Cycle by cycle: which warp each scheduler lets issue, and what the others wait for.",
    section: "ch1 §8",
    lab: "latency",
    first: "device=RTX+5070&kernel=vecadd&blocks=96&block_x=256&block_y=1&n=24576&number=4",
    parts,
};

const THREADS_MAX: i64 = 131_072;
/// Issues of the SM that are recorded and sent, and as many arrivals and waits.
const RECORDED_MAX: usize = 12_000;

const TRANSPORT: Transport = Transport {
    what: "Cycles",
    place: "Cycle",
    moves: &[
        Move::new("back", "◀", "A cycle back (←)"),
        Move::new("play", "Play", "Play or pause (space)").main(),
        Move::new("forward", "▶", "A cycle forward (→)"),
        Move::new("next", "Next issue", "To the next cycle with an issue (↓)"),
    ],
    speeds: &[],
};

fn parts() -> Parts {
    let knobs = html! {
        (controls::device())
        (small::knobs("vecadd", (96, 4096), 256, 24_576, 4))
    };
    let figures = html! {
        p.key { span.on { "issues" } span.waits { "waits for memory, so many cycles more" } span.still { "waits for something else" } span.off { "ready, another one issues" } }
        div.schedulers #schedulers {}
        figure { figcaption { "All warps of the SM over time: a mark is an issue, a bar a load on its way" } canvas #timeline width="1120" height="420" role="img" aria-label="Issues of each warp by cycle" {} }
    };
    Parts { knobs, transport: Some(TRANSPORT), figures }
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
    let subject = small.subject(THREADS_MAX)?;
    let global = site.settings.global.clone();
    let done = site.machines.work(device, move |bench| {
        let small::OnDevice { mut ready, program, .. } = small::on_device(subject, bench, device, &global)?;
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
    waited: Vec<Waited>,
    dropped: usize,
    /// First cycle of which not everything is recorded.
    known_until: Option<u64>,
}

const SM: u32 = 0;

impl Observer for OfSm {
    fn issued(&mut self, event: &Issued) {
        match event.sm == SM && self.issued.len() < RECORDED_MAX {
            true => self.issued.push(*event),
            false => self.leave_out(event.sm, event.cycle),
        }
    }

    fn completed(&mut self, event: &Completed) {
        if event.sm == SM && self.arrived.len() < RECORDED_MAX {
            self.arrived.push(*event);
        }
    }

    fn ended(&mut self, _: &Placement) {}

    fn waits_of(&self) -> Option<u32> {
        Some(SM)
    }

    fn waited(&mut self, event: &Waited) {
        match self.waited.len() < 2 * RECORDED_MAX {
            true => self.waited.push(*event),
            false => self.leave_out(event.sm, event.from_cycle),
        }
    }
}

impl OfSm {
    fn leave_out(&mut self, sm: u32, cycle: u64) {
        self.dropped += usize::from(sm == SM);
        self.known_until = self.known_until.or((sm == SM).then_some(cycle));
    }

    /// Schedulers with their warps, each with its issues as `[cycle, pc, lanes]`, its loads as `[issue, arrival]`, and its waits as
    /// `[first cycle, end, pc of the instruction it stands before, reason]`, a reason by its place in `reasons`.
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
        let mut waits: BTreeMap<(u64, u32), Vec<[u64; 4]>> = BTreeMap::new();
        for event in &self.waited {
            let of_warp = waits.entry((event.block, event.warp_in_block)).or_default();
            let wait = [event.from_cycle, event.until_cycle, event.pc.into(), event.stall as u64];
            match of_warp.last_mut() {
                Some(last) if last[1] == wait[0] && last[2..] == wait[2..] => last[1] = wait[1],
                _ => of_warp.push(wait),
            }
        }
        let warps = warps.iter().map(|((scheduler, block, warp), issues)| {
            json!({ "scheduler": scheduler, "block": block, "warp": warp, "issues": issues, "loads": loads(*block, *warp),
                    "waits": waits.get(&(*block, *warp)) })
        });
        let code: Vec<&str> =
            (0..program.code.len()).map(|pc| program.info.get(pc).map_or("", |info| &info.text)).collect();
        let words = words::of_all(code.iter().copied());
        let ended =
            timing.placements.iter().filter(|placement| placement.sm == SM).map(|placement| placement.end_cycle).max();
        json!({
            "warps": warps.collect::<Vec<_>>(), "opcodes": code.iter().map(|text| words::opcode(text)).collect::<Vec<_>>(), "code": code, "words": words, "dropped": self.dropped, "fault": fault,
            "reasons": Stall::ALL.map(Stall::name),
            "cycles": self.known_until.or(self.issued.iter().map(|event| event.cycle).max().max(ended)),
            "utilisation": timing.issue_utilisation(), "us": timing.us, "launch_cycles": timing.cycles,
            "isa": if program.control.is_empty() { "PTX" } else { "SASS" },
        })
    }
}
