//! One of the labs' kernels in a launch of one's own: device, block size, n; and what the machine says of it. It stands on a page of its
//! own and, with the lab's kernels alone, in the panel of each lab.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::device::Device;
use warpwise_simt::machine::{Mode, Report};
use warpwise_simt::timing::{Stall, Timing};

use super::ask::{Ask, within};
use super::small::{self, Small};
use super::{Explorer, Parts, controls};
use crate::book::Site;
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::claim::format::{integer, microseconds, percent, real};
use crate::kernels::Resources;
use crate::lab::Lab;
use crate::labs::counters::{INSTRUCTIONS, LOAD_SECTORS, STORE_SECTORS, THREAD_INSTRUCTIONS};

pub static EXPLORER: Explorer = Explorer {
    id: "launch",
    title: "Any kernel, any launch",
    promise: "Choose a kernel, a device, a block size and n: time, occupancy, waves, and what the warps wait for.",
    section: "ch1 §2, ch3",
    lab: "launch",
    first: "device=RTX+5070&kernel=vecadd&block=256&n=65536&number=4",
    parts,
};

const N_MAX: i64 = 131_072;

fn parts() -> Parts {
    of_kernels("vecadd", small::offered().collect())
}

/// The panel of a lab, if any of its kernels can be launched with a list of numbers. `None` for the others.
pub fn of_lab(lab: &Lab) -> Option<Markup> {
    let kernels: Vec<&'static str> = small::offered().filter(|name| lab.kernels.contains(name)).collect();
    let parts = of_kernels(kernels.first()?, kernels);
    Some(html! { div.explorer.embedded data-explorer=(EXPLORER.id) { (super::figure(&EXPLORER, &parts)) } })
}

fn of_kernels(first: &str, kernels: Vec<&'static str>) -> Parts {
    let names: Vec<(&str, &str)> = kernels.iter().map(|name| (*name, *name)).collect();
    let knobs = html! {
        (controls::choice("kernel", "Kernel", &names, first))
        (controls::device())
        (controls::number("block", "Threads a block", (1, 1024), 256))
        (controls::number("n", "n, elements", (1, N_MAX), 65_536))
        (controls::number("number", "Its other numbers", (0, 64), 4))
        button.primary #launch type="submit" { "Launch it" }
    };
    let figures = html! { div.wide { table #found { tbody {} } } };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    device: String,
    kernel: String,
    block: i64,
    n: i64,
    number: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let block = within("the block", asked.block, 1, 1024)?;
    let n = within("n", asked.n, 1, N_MAX)?;
    let blocks = (n + block - 1) / block;
    let small = Small { kernel: &asked.kernel, blocks, block: [block, 1], n, number: asked.number };
    let subject = small.subject(N_MAX + 1024)?;
    let global = site.settings.global.clone();
    let done = site.machines.work(device, move |bench| {
        let name = subject.subject.clone();
        let small::OnDevice { mut ready, program, resources } = small::on_device(subject, bench, device, &global)?;
        ready.launch.mode = Mode::Timed;
        let outcome = ready.machine.launch(&ready.kernel, &ready.launch);
        let report = outcome.map_err(|refused| Problem::input(refused.to_string()))?;
        let timing = report.timing.as_ref();
        let time = timing.map_or("no time".to_owned(), |timing| microseconds(timing.us));
        let isa = if program.control.is_empty() { "PTX" } else { "SASS" };
        Ok(json!({
            "kernel": name, "device": device.name, "us": timing.map(|timing| timing.us), "time": time,
            "blocks": blocks, "threads": blocks * block, "idle": blocks * block - n,
            "fault": report.fault.as_ref().map(ToString::to_string),
            "rows": rows(&report, &resources, device, [blocks, block, n], isa),
        }))
    });
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

/// What, how much, and what that means.
fn rows(
    report: &Report,
    resources: &Resources,
    device: &Device,
    [blocks, block, n]: [i64; 3],
    isa: &str,
) -> Vec<[String; 3]> {
    let whole = |value: i64| integer(value.into());
    let counted = |name: &str| report.counters.get(name).map(|value| value.as_f64());
    let mut rows = Vec::new();
    let mut row = |what: &str, value: String, note: String| rows.push([what.to_owned(), value, note]);
    if let Some(timing) = &report.timing {
        let note = format!(
            "{} cycles of {isa} on the {}, what a launch costs included",
            whole(timing.cycles as i64),
            device.name
        );
        row("time, modelled", microseconds(timing.us), note);
    }
    let threads = format!(
        "{} blocks of {} make {} threads for {} elements",
        whole(blocks),
        whole(block),
        whole(blocks * block),
        whole(n)
    );
    row("threads without an element", whole(blocks * block - n), threads);
    let residency = &report.residency;
    let waves = blocks as f64 / residency.blocks().max(1) as f64;
    let slots = format!("{} SMs hold {} blocks each", residency.sm_count, residency.blocks_per_sm);
    row("waves", real((waves * 100.0).round() / 100.0), slots);
    let limiters: Vec<&str> = residency.occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
    let achieved = report
        .timing
        .as_ref()
        .map_or(String::new(), |timing| format!("; seen on average {}", percent(timing.achieved_occupancy)));
    row(
        "occupancy",
        percent(residency.occupancy.theoretical()),
        format!("limited by {}{achieved}", limiters.join(" and ")),
    );
    let spills = match (resources.spill_store_bytes, resources.spill_load_bytes) {
        (0, 0) => "no spills".to_owned(),
        (out, back) => format!("{out} B of spills out, {back} B in"),
    };
    row(
        "registers a thread",
        resources.registers.value().to_string(),
        format!("by {}; {spills}", resources.registers.source()),
    );
    if let (Some(all), Some(lanes)) = (counted(INSTRUCTIONS), counted(THREAD_INSTRUCTIONS)) {
        row(
            "instructions of warps",
            whole(all as i64),
            format!("{} of 32 lanes active on average, of {isa}", real(lanes / all.max(1.0))),
        );
    }
    if let (Some(loaded), Some(stored)) = (counted(LOAD_SECTORS), counted(STORE_SECTORS)) {
        row(
            "sectors of 32 bytes",
            whole((loaded + stored) as i64),
            format!("{} loaded, {} stored", whole(loaded as i64), whole(stored as i64)),
        );
    }
    if let Some(timing) = &report.timing {
        row(
            "schedulers issue",
            percent(timing.issue_utilisation()),
            "of the cycles in which their SM has a warp".to_owned(),
        );
        row("warps wait most for", waits(timing), "shares of the time in which warps were there".to_owned());
    }
    rows
}

/// The three commonest states of warps that did not issue.
fn waits(timing: &Timing) -> String {
    let total = timing.stalls.total().max(1) as f64;
    let mut waits: Vec<(Stall, u64)> =
        timing.stalls.iter().filter(|(stall, cycles)| *stall != Stall::Selected && *cycles > 0).collect();
    waits.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let words =
        waits.iter().take(3).map(|(stall, cycles)| format!("{} {}", stall.name(), percent(*cycles as f64 / total)));
    words.collect::<Vec<_>>().join(", ")
}
