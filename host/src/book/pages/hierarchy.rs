//! The memory hierarchy as a table: what the model of a device is given, what a run of the lab on the machine finds, and what an H200
//! was measured to do. Each column says which of these it is.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;
use warpwise_simt::device::{Device, How};

use super::lab::Options;
use super::{layout, run_panel};
use crate::book::problem::Problem;
use crate::book::{Site, measured};
use crate::claim::format::real;
use crate::labs::hierarchy::LAB;

/// A level: its name here and in the lab's tables of latency and of rates, and the parameter that the model has for it.
struct Level {
    name: &'static str,
    latency: &'static str,
    rate: Option<&'static str>,
    parameter: &'static str,
}

static LEVELS: [Level; 5] = [
    Level {
        name: "shared memory",
        latency: "shared memory",
        rate: Some("shared memory"),
        parameter: "shared_latency_cycles",
    },
    Level { name: "L1", latency: "L1", rate: Some("L1"), parameter: "l1_hit_latency_cycles" },
    Level { name: "L2, near", latency: "L2, near", rate: Some("L2"), parameter: "l2_near_latency_cycles" },
    Level { name: "L2, far", latency: "L2, more than half full", rate: None, parameter: "l2_far_latency_cycles" },
    Level { name: "memory", latency: "memory", rate: Some("memory"), parameter: "dram_latency_cycles" },
];

pub async fn page(State(site): State<Arc<Site>>, Query(options): Query<Options>) -> Result<Html<String>, Problem> {
    let device = options.device()?;
    let recorded = site.recorded.load(&LAB, &device.name);
    let body = html! {
        section.lead {
            p.eyebrow { (LAB.sections) }
            h1 { "What each level of memory costs" }
            p { "Closer is faster and smaller. A load waits for the level that has its data: the cycles are of one that the next one waits for. "
                "The lab behind it: " a href="/labs/hierarchy" { "hierarchy" } "." }
        }
        section.live-only aria-labelledby="run" { h2 #run { "Run it on a device" }
            (run_panel::panel(&LAB, device, site.runs.going_on(&LAB).as_deref())) }
        div #results {
            section aria-labelledby="modelled" {
                h2 #modelled { (device.name) ", modelled" }
                (modelled(device, recorded.as_ref().map(|run| &run["labs"][0])))
            }
        }
        @if let Some((file, lab)) = measured::lab(LAB.id) {
            section aria-labelledby="measured" {
                h2 #measured { (measured::DEVICE) ", measured" }
                p.from { "Kept in docs/measurements/" (file) "." }
                (found(lab))
            }
        }
    };
    Ok(Html(layout::page_with("What each level of memory costs", "/explore", &["run.js"], &body).into_string()))
}

/// Registers, which no load comes from, and what there is of each level.
fn size(device: &Device, level: &Level) -> String {
    let limits = &device.limits;
    match level.name {
        "memory" => format!("{} GiB", device.dram_bytes >> 30),
        name if name.starts_with("L2") => format!("{} MiB, in all", device.l2_bytes >> 20),
        _ => format!("{} KiB an SM, both together", limits.l1_and_shared_bytes / 1024),
    }
}

fn modelled(device: &Device, run: Option<&Value>) -> Markup {
    // Where L2 is one part, none of it is far.
    let is_there = |level: &&Level| level.name != "L2, far" || device.parameters.l2_partitions > 1.0;
    let given = |level: &Level| device.provenance.iter().find(|known| known.name == level.parameter);
    let how = |how: How| match how {
        How::Sourced => "published",
        How::Measured => "measured",
        How::Calibrated => "calibrated",
        How::Estimated => "estimated",
    };
    html! {
        @if run.is_none() { p.from { "No run on this device is recorded yet. Run the lab, and what the machine finds stands beside what its model is given." } }
        div.wide { table.levels {
            thead { tr {
                th scope="col" { "level" } th scope="col" { "size" } th scope="col" { "cycles, given to the model" }
                @if run.is_some() { th scope="col" { "cycles, found by a run" } th scope="col" { "GB/s of all SMs, found by a run" } }
                th scope="col" { "where the given number is from" }
            } }
            tbody {
                tr { th scope="row" { "registers" } td { (device.limits.registers_per_sm / 256) " KiB an SM" } td { "none" }
                    @if run.is_some() { td { "–" } td { "–" } } td { "an instruction reads them as it issues" } }
                @for level in LEVELS.iter().filter(is_there) {
                    tr {
                        th scope="row" { (level.name) } td { (size(device, level)) }
                        td { (given(level).map_or("–".to_owned(), |known| real(known.value))) }
                        @if let Some(run) = run { td { (latency(run, level)) } td { (rate(run, level)) } }
                        td { @if let Some(known) = given(level) { (how(known.how)) ": " (known.from) } }
                    }
                }
            }
        } }
        @if !device.validated { p.aside { "The model of this device was never held against one." } }
    }
}

/// Latency and rate of a measured run.
fn found(lab: &Value) -> Markup {
    html! {
        div.wide { table.levels {
            thead { tr { th scope="col" { "level" } th scope="col" { "cycles, measured" } th scope="col" { "GB/s of all SMs, measured" } } }
            tbody { @for level in &LEVELS { tr { th scope="row" { (level.name) } td { (latency(lab, level)) } td { (rate(lab, level)) } } } }
        } }
    }
}

fn latency(lab: &Value, level: &Level) -> String {
    cell(lab, "a load that the next one waits for", level.latency, 1)
}

fn rate(lab: &Value, level: &Level) -> String {
    level.rate.map_or("–".to_owned(), |name| cell(lab, "what each level gives", name, 3))
}

/// A value in a lab's table, by how the table's title and the row begin.
fn cell(lab: &Value, title: &str, row: &str, column: usize) -> String {
    let begins = |table: &&Value| table["title"].as_str().is_some_and(|text| text.starts_with(title));
    let table = lab["tables"].as_array().and_then(|tables| tables.iter().find(begins));
    let rows = table.and_then(|table| table["rows"].as_array());
    let found = rows.and_then(|rows| rows.iter().find(|found| found[0] == row));
    found.and_then(|found| found[column].as_str()).unwrap_or("–").to_owned()
}
