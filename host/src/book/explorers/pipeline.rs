//! From source to SASS: a kernel's Rust, its PTX and its SASS side by side, line by line, with the registers that are alive at each
//! instruction; for any architecture and any cap on registers.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_kernels as kernels;
use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device::Device;

use super::ask::{Ask, within};
use super::{Explorer, Parts, controls};
use crate::book::problem::Problem;
use crate::book::{Site, words};
use crate::commands::sass::known_arch;
use crate::kernels::Sass;
use crate::listing::{Line, Listing, SourcePlace, Sources, ptx, sass};
use crate::toolbox::Target;
use crate::workbench::Workbench;

pub static EXPLORER: Explorer = Explorer {
    id: "pipeline",
    title: "From source to SASS",
    promise: "Point at a line of Rust, PTX or SASS and see what became of it; cap the registers and watch the spills come.",
    section: "ch1 §5",
    lab: "sass",
    first: "kernel=branch_paths&arch=sm_120&cap=0",
    parts,
};

/// Architectures that are offered; the page's address takes any that ptxas knows.
const ARCHS: [&str; 6] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"];

fn parts() -> Parts {
    let archs = ARCHS.map(|arch| (arch, arch));
    let names: Vec<(&str, &str)> = kernels::KERNELS.iter().map(|kernel| (kernel.name, kernel.name)).collect();
    let knobs = html! {
        (controls::choice("kernel", "Kernel", &names, "branch_paths"))
        (controls::choice("arch", "Architecture", &archs, "sm_120"))
        (controls::slider("cap", "At most so many registers (0: no cap)", (0, 255, 1), 0))
    };
    let figures = html! {
        div.pipeline {
            figure { figcaption { "Rust" } div.code #rust tabindex="0" {} }
            figure { figcaption { "PTX" } div.code #ptx tabindex="0" {} }
            figure { figcaption { "SASS, with the registers alive at each instruction" } div.code #sass tabindex="0" {} p.hint #words aria-live="polite" {} }
        }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    kernel: String,
    arch: String,
    cap: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let kernel = kernels::find(&asked.kernel).map(|kernel| kernel.name);
    let kernel =
        kernel.ok_or_else(|| Problem::input(format!("no kernel is called `{}`", asked.kernel)).for_a_script())?;
    let arch = known_arch(&asked.arch).map_err(|error| Problem::input(error.to_string()).for_a_script())?;
    let cap = match within("the cap", asked.cap, 0, 255)? {
        0 => None,
        cap => Some(within("the cap", cap, 16, 255)? as u32),
    };
    let done = site.machines.work(Device::default_device(), move |bench| compile(bench, kernel, &arch, cap));
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

fn compile(bench: &Workbench, kernel: &str, arch: &str, cap: Option<u32>) -> Result<Value, Problem> {
    let resources = bench.resources_strictly(kernel, arch, cap).map_err(|error| Problem::input(error.to_string()))?;
    let ptx = ptx::listing(&bench.kernels.ptx, kernel, false).unwrap_or_default();
    // Where the disassembler is missing, the rest is shown all the same.
    let (sass, missing) = match disassembled(bench, kernel, arch, cap) {
        Ok(listing) => (listing, None),
        Err(why) => (Listing::default(), Some(why)),
    };
    let counts = sass.life.as_ref().map_or(&[][..], |life| &life.counts);
    let lines = |listing: &Listing| -> Vec<Value> {
        listing.lines.iter().map(|line| json!({ "text": line.text, "place": place(line) })).collect()
    };
    let mut sass_lines = lines(&sass);
    for ((shown, line), counts) in sass_lines.iter_mut().zip(&sass.lines).zip(counts) {
        shown["live"] = line.is_instruction.then_some(counts.general).into();
    }
    for (shown, line) in sass_lines.iter_mut().zip(&sass.lines).filter(|(_, line)| line.is_instruction) {
        shown["opcode"] = words::opcode(&line.text).into();
    }
    Ok(json!({
        "kernel": kernel, "arch": arch, "registers": resources.registers.value(), "source": resources.registers.source(),
        "spill_store_bytes": resources.spill_store_bytes, "spill_load_bytes": resources.spill_load_bytes, "stack_bytes": resources.stack_bytes,
        "rust": rust(ptx.lines.iter().chain(&sass.lines), &mut Sources::of(&bench.kernels)),
        "ptx": lines(&ptx), "sass": sass_lines, "words": words::of_all(sass.lines.iter().map(|line| line.text.as_str())), "missing": missing,
    }))
}

/// The kernel's SASS with what is alive, or why there is none.
fn disassembled(bench: &Workbench, kernel: &str, arch: &str, cap: Option<u32>) -> Result<Listing, String> {
    let target = match cap {
        None => Target::arch(arch),
        cap => Target { arch: arch.to_owned(), entry: Some(kernel.to_owned()), max_registers: cap },
    };
    let ptx = &bench.kernels.ptx;
    let compiled = bench.tools.compile(ptx, &target).map_err(|error| error.to_string())?;
    let listing = bench.tools.sass_of(ptx, &target, ListingOptions::default()).map_err(|error| error.to_string())?;
    let sass = Sass::new(&compiled.cubin, listing).map_err(|error| error.to_string())?;
    sass::listing(&sass, kernel, true).map_err(|error| error.to_string())
}

/// `src/divergence.rs:94`, for lines of our own sources.
fn place(line: &Line) -> Option<String> {
    let place = line.source.as_ref().filter(|place| place.is_own())?;
    Some(format!("{}:{}", place.file, place.line))
}

/// Lines that stand between two that are named, if no more than this many, are shown as well.
const GAP_LINES: u32 = 3;

/// The source lines that any instruction names, and short gaps between them, file by file.
fn rust<'a>(lines: impl Iterator<Item = &'a Line>, sources: &mut Sources) -> Vec<Value> {
    let named = lines.filter_map(|line| line.source.as_ref()).filter(|place| place.is_own());
    let named: BTreeSet<(String, u32)> = named.map(|place| (place.file.clone(), place.line)).collect();
    let mut shown: Vec<Value> = Vec::new();
    let mut last: Option<(String, u32)> = None;
    for (file, line) in named {
        let from = match &last {
            Some((before, at)) if *before == file && line - at <= GAP_LINES => at + 1,
            _ => line,
        };
        for line in from..=line {
            let place = SourcePlace { file: file.clone(), line };
            let text = sources.written(&place).unwrap_or_default().to_owned();
            shown.push(json!({ "file": file, "line": line, "text": text, "place": format!("{file}:{line}") }));
        }
        last = Some((file, line));
    }
    shown
}
