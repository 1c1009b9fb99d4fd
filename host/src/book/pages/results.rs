//! What a run found, from the JSON that `labs` writes: claims with verdicts, kernels, tables, plots, notes.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::plots;
use crate::book::words;
use crate::claim::format::{integer, microseconds, percent, real};
use crate::lab::Lab;

/// The results of the first lab of a run.
pub fn found(run: &Value) -> Markup {
    let lab = &run["labs"][0];
    let device = lab["kernels"][0]["device"].as_str();
    html! {
        section aria-labelledby="found" {
            h2 #found { "What the run found" }
            p.from {
                (text(&lab["backend"])) " backend" @if let Some(device) = device { ", " (device) }
                @if let Some(seconds) = lab["seconds"].as_f64() { ", " (format!("{seconds:.1}")) " s" }
                ". " (toolchain(&run["toolchain"]))
            }
            (summary(list(&lab["claims"])))
        }
        @if !list(&lab["kernels"]).is_empty() {
            section aria-labelledby="rows" { h2 #rows { "Kernels, as they ran" } (kernels(list(&lab["kernels"]))) }
        }
        @if !list(&lab["plots"]).is_empty() {
            section.figures {
                @for plot in list(&lab["plots"]) {
                    figure { (PreEscaped(plots::svg(plot))) figcaption { (text(&plot["title"])) } }
                }
            }
        }
        @for found in list(&lab["tables"]) { section { h3 { (text(&found["title"])) } (table(found)) } }
        @for note in list(&lab["notes"]) { p.aside { (text(note)) } }
        section aria-labelledby="claims" {
            h2 #claims { "Claims" }
            ul.claims { @for claim in list(&lab["claims"]) { (judged(claim)) } }
        }
    }
}

/// The claims of a lab that has not run on this device.
pub fn listed(lab: &Lab) -> Markup {
    html! {
        section aria-labelledby="claims" {
            h2 #claims { "What it claims" }
            p.from { "No run on this device is recorded yet." }
            ul.claims {
                @for claim in (lab.claims)() {
                    li.open { span.verdict { "open" } div {
                        p { (claim.statement) }
                        p.numbers { "expected " (claim.relation) @if let Some(note) = &claim.note { "; " (note) } }
                    } span.from { (claim.section) } }
                }
            }
        }
    }
}

fn toolchain(tools: &Value) -> String {
    let known = ["rustc", "llvm", "ptxas"].iter().filter_map(|name| Some(format!("{name} {}", tools[*name].as_str()?)));
    known.collect::<Vec<_>>().join(", ")
}

fn summary(claims: &[Value]) -> Markup {
    let count = |verdict: &str| claims.iter().filter(|claim| claim["verdict"] == verdict).count();
    html! {
        p.summary {
            span.chip.holds { b { (count("holds")) } " hold" } " "
            span.chip.fails { b { (count("fails")) } " fail" } " "
            span.chip.not-run { b { (count("not-run")) } " not run here" }
        }
    }
}

fn judged(claim: &Value) -> Markup {
    let verdict = text(&claim["verdict"]);
    let in_words = claim["expected"].as_str().is_some_and(|expected| expected.starts_with(|c: char| c.is_alphabetic()));
    let numbers = match (claim["found"].as_str(), in_words && verdict == "holds") {
        (_, true) => None,
        (Some(found), _) if claim["expected"] == format!("= {found}") => Some(format!("= {found}")),
        (Some(found), _) => Some(format!("found {found}, expected {}", text(&claim["expected"]))),
        (None, _) => Some(format!("expected {}", text(&claim["expected"]))),
    };
    let below = [numbers, claim["why"].as_str().map(str::to_owned), claim["note"].as_str().map(str::to_owned)];
    let below: Vec<String> = below.into_iter().flatten().collect();
    html! {
        li class=(verdict) id={ "claim-" (text(&claim["id"])) } {
            span.verdict { (verdict.replace('-', " ")) }
            div { p { (text(&claim["statement"])) } @if !below.is_empty() { p.numbers { (below.join("; ")) } } }
            span.from { (text(&claim["section"])) }
        }
    }
}

fn kernels(rows: &[Value]) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for column in ["kernel", "registers", "spills", "occupancy", "limited by", "time"] { th scope="col" { (column) } } } }
            tbody { @for row in rows { tr { @for cell in kernel_cells(row) { td { (cell) } } } } }
        } }
    }
}

fn kernel_cells(row: &Value) -> [String; 6] {
    let name = match text(&row["variant"]) {
        "" => text(&row["kernel"]).to_owned(),
        variant => format!("{}, {variant}", text(&row["kernel"])),
    };
    let registers = format!("{} ({})", row["registers"]["value"], text(&row["registers"]["source"]));
    let bytes = |way: &str| row[way].as_u64().unwrap_or(0);
    let spills = match (bytes("spill_store_bytes"), bytes("spill_load_bytes")) {
        (0, 0) => "–".to_owned(),
        (out, back) => format!("{out} B out, {back} B in"),
    };
    let occupancy = &row["occupancy"];
    let share = |name: &str| occupancy[name].as_f64().map(percent);
    let seen = share("achieved").map(|seen| format!(" ({seen} seen)")).unwrap_or_default();
    let limiters: Vec<&str> = list(&occupancy["limiters"]).iter().map(text).collect();
    let times: Vec<String> = list(&row["times"]).iter().map(time).collect();
    let times = match times.is_empty() {
        true => row["no_time"].as_str().unwrap_or("–").to_owned(),
        false => times.join("; "),
    };
    [name, registers, spills, share("theoretical").unwrap_or_default() + &seen, limiters.join(", "), times]
}

/// `16.3 µs modelled (41,000 cycles, sass)`.
fn time(time: &Value) -> String {
    let us = time["us"].as_f64().map(microseconds).unwrap_or_default();
    match time["cycles"].as_i64() {
        Some(cycles) => format!("{us} modelled ({} cycles, {})", integer(cycles.into()), text(&time["isa"])),
        None => format!("{us} measured ({} samples)", time["samples"]),
    }
}

fn table(table: &Value) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for column in list(&table["columns"]) { th scope="col" { (text(column)) } } } }
            tbody { @for row in list(&table["rows"]) { tr {
                @for (value, column) in list(row).iter().zip(list(&table["columns"])) {
                    td { @if column == "instruction" { (words::instruction(text(value))) } @else { (cell(value)) } }
                }
            } } }
        } }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => integer(whole.into()),
            (None, Some(value)) => real(value),
            _ => String::new(),
        },
        other => text(other).to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
