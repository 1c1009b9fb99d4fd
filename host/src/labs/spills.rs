//! `spills`: where do values go that do not fit?

use warpwise_kernels::local::{TABLE, runtime_index};
use warpwise_kernels::maths;
use warpwise_kernels::occupancy::{HEAVY_TILE, heavy};
use warpwise_nvtools::nvdisasm::{Function, ListingOptions};
use warpwise_simt::rewrite::Bounds;

use super::code::{NO_TOOLS, sass};
use super::counters::{INSTRUCTIONS, LOCAL_LOAD_SECTORS, LOCAL_STORE_SECTORS, WARPS, counter, ratio, record, us};
use super::input::{Differences, differences, noise};
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, Value, at_least, equal, greater_than, holds};
use crate::kernels::Resources;
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};
use crate::pressure::{Made, Mix, Variant, code, make};
use crate::workbench::WorkbenchError;

pub static LAB: Lab = Lab {
    id: "spills",
    chapter: 3,
    sections: "ch3 §3",
    question: "where do values go that do not fit?",
    kernels: &["heavy", "runtime_index"],
    text: include_str!("../../../docs/labs/spills.md"),
    claims,
    run,
};

const SECTION: &str = "ch3 §3";
/// The architecture that the claims on what ptxas made are of.
const ARCH: &str = "sm_120";
/// Registers a thread at most, from what `heavy` takes by itself down to the least that ptxas goes to.
const CAPS: [u32; 8] = [80, 72, 64, 56, 48, 40, 32, 24];
/// Those of them that the machine runs, which takes its time over spills.
const CAPS_MACHINE: [u32; 4] = [80, 64, 40, 24];
const BLOCK: u32 = 256;
/// Outer products that `heavy` adds up; elements of its table that `runtime_index` does.
const STEPS: u32 = 8;
const NEEDS_SASS: &str = "needs SASS execution: PTX has no spills";

fn claims() -> Vec<Claim> {
    let recorded = |id, statement, relation| Claim::new(id, SECTION, statement, relation).recorded();
    let machine = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_machine();
    vec![
        recorded("fits", "heavy capped at 80 registers: bytes spilled", equal(0)),
        recorded("grows", "the lower the cap, the more bytes are spilled", holds("they never become fewer")),
        recorded("least", "caps from 80 down: the first with which it spills", equal(72)),
        recorded(
            "instructions",
            "LDL and STL are in the SASS of every version that spills, and of no other",
            holds("they are"),
        ),
        machine("no_traffic", "at 80 registers: sectors of local memory", equal(0)),
        machine(
            "traffic",
            "the more bytes are spilled, the more sectors of local memory are moved",
            holds("they never become fewer"),
        ),
        machine("more_instructions", "at 24 registers: instructions executed over those at 80", greater_than(1.2)),
        Claim::new(
            "results",
            SECTION,
            "every version gives the host function's result, bit for bit",
            holds("no element differs"),
        ),
        Claim::new("slower", SECTION, "time at 40 registers, full occupancy, over that at 80", at_least(2.0))
            .note("on an H200 more than sixfold: at twice the occupancy"),
        Claim::new("fastest", SECTION, "bytes spilled by the fastest version", equal(0)),
        recorded("index_spills", "runtime_index, an array indexed by a value: bytes spilled", equal(0)),
        recorded("index_stack", "its local memory a thread, bytes: 16 floats", equal(64)),
        recorded("index_instructions", "LDL and STL are in its SASS all the same", holds("they are")),
        machine("index_stores", "writing its array, the same element in all lanes: sectors a warp", equal(64)).note(
            "16 elements of 32 lanes of 4 bytes: local memory is interleaved, so neighbouring lanes are neighbours",
        ),
        machine("index_loads", "reading it, lanes at different elements: sectors a warp and read", equal(32))
            .note("lanes at the same element would share 4"),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    compiled(cx)?;
    let wrong = capped(cx)?;
    let wrong = wrong.or(indexed(cx)?);
    let otherwise = wrong.map(|(kernel, differences)| format!("{kernel}: {differences}"));
    cx.holds("results", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

/// `heavy` under each cap, as ptxas makes it for the claims' architecture.
fn compiled(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let variant = |cap| Variant {
        kernel: heavy.name.to_owned(),
        arch: ARCH.to_owned(),
        bounds: Bounds { max_registers: Some(cap), ..Bounds::default() },
    };
    let variants = CAPS.map(variant);
    let made = make(cx.bench(), &variants, &|_| ())?.into_iter().collect::<Result<Vec<_>, _>>();
    let made = made.map_err(|error| WorkbenchError::Tool(error.into()))?;
    let bytes: Vec<u32> = made.iter().map(|made| spilled(&made.resources)).collect();
    cx.found("fits", bytes[0]);
    cx.holds("grows", bytes.is_sorted(), format!("{bytes:?}"));
    let first = CAPS.iter().zip(&bytes).find(|(_, bytes)| **bytes > 0).map(|(cap, _)| *cap);
    cx.found("least", first.map_or(Value::from("none"), Value::from));
    let codes = match code::listings(cx.bench(), &variants, &made.iter().collect::<Vec<_>>()) {
        Err(error) if code::is_missing(&error) => vec![None; made.len()],
        other => other?,
    };
    let mut table = Table::new(
        format!("heavy on {ARCH}, 256 threads a block, by the registers it may have"),
        ["at most", "registers", "spilled out, bytes", "back in, bytes", "STL", "LDL", "blocks an SM", "occupancy"],
    );
    let limits = &warpwise_simt::device::Device::default_device().limits;
    let mut odd = None;
    for ((cap, Made { resources, .. }), listing) in CAPS.iter().zip(&made).zip(&codes) {
        let occupancy = resources.occupancy(limits, LaunchShape::linear(BLOCK, BLOCK))?;
        let local = listing.as_ref().and_then(|listing| listing.function(heavy.name)).map(accesses);
        if let Some((stores, loads)) = local
            && (stores > 0 && loads > 0) != resources.spills()
        {
            odd.get_or_insert(format!("at {cap}: {stores} STL, {loads} LDL"));
        }
        let cell = |value: Option<usize>| value.map_or("–".into(), Value::from);
        table.row([
            (*cap).into(),
            resources.registers.value().into(),
            resources.spill_store_bytes.into(),
            resources.spill_load_bytes.into(),
            cell(local.map(|local| local.0)),
            cell(local.map(|local| local.1)),
            occupancy.blocks_per_sm.into(),
            crate::claim::format::percent(occupancy.theoretical()).into(),
        ]);
    }
    match codes.iter().all(Option::is_some) {
        true => cx.holds("instructions", odd.is_none(), odd.unwrap_or_default()),
        false => cx.not_run("instructions", NO_TOOLS),
    }
    cx.table(table);
    Ok(())
}

fn spilled(resources: &Resources) -> u32 {
    resources.spill_store_bytes + resources.spill_load_bytes
}

/// STL and LDL of a function.
fn accesses(function: &Function) -> (usize, usize) {
    let mix = Mix::of(function);
    (mix.count("STL"), mix.count("LDL"))
}

type Wrong = Option<(&'static str, Differences)>;

/// Runs `heavy` under each cap on the device of the run.
fn capped(cx: &mut LabContext<'_>) -> Result<Wrong, LabError> {
    let caps = if cx.bench().measures() { &CAPS[..] } else { &CAPS_MACHINE };
    let mut wrong = None;
    let mut runs = Vec::new();
    for &cap in caps {
        let Some(gpu) = cx.gpu_capped(heavy.name, cap)? else { break };
        let (report, differences) = run_heavy(cx, &gpu, cap)?;
        if !differences.none() {
            wrong.get_or_insert((heavy.name, differences));
        }
        let spilled = spilled(&cx.resources_capped(heavy.name, &gpu.device().arch, cap)?);
        runs.push((cap, spilled, report));
    }
    if runs.len() < caps.len() {
        for claim in ["no_traffic", "traffic", "more_instructions", "slower", "fastest"] {
            cx.not_run(claim, NEEDS_SASS);
        }
        return Ok(wrong);
    }
    traffic(cx, &runs);
    times(cx, &runs);
    Ok(wrong)
}

/// On a GPU more blocks than an SM holds, so that occupancy matters; on the machine one each.
fn run_heavy(cx: &mut LabContext<'_>, gpu: &Gpu, cap: u32) -> Result<(LaunchReport, Differences), LabError> {
    let n = BLOCK * gpu.device().sm_count * if gpu.measures() { 16 } else { 1 };
    let x = noise((HEAVY_TILE.0 + HEAVY_TILE.1) as u32 * n, 8);
    let (input, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(n as usize)?);
    let shape = LaunchShape::linear(n, BLOCK);
    let case = Case::new(&heavy, format!("at most {cap}"), shape, (input.ptr(), y.ptr(), n, STEPS)).capped(cap);
    let report = cx.measure_in_turn(gpu, vec![case])?.pop();
    let report = report.ok_or_else(|| LabError::Other("no report of heavy".to_owned()))?;
    let element = |k: usize, i: u32| x[k * n as usize + i as usize];
    let expected = (0..n).map(|i| {
        let column = std::array::from_fn::<f32, { HEAVY_TILE.0 }, _>(|k| element(k, i));
        let row = std::array::from_fn::<f32, { HEAVY_TILE.1 }, _>(|k| element(HEAVY_TILE.0 + k, i));
        maths::outer_products(column, row, STEPS)
    });
    let differences = differences(&y.download()?, expected);
    Ok((report, differences))
}

fn traffic(cx: &mut LabContext<'_>, runs: &[(u32, u32, LaunchReport)]) {
    let sectors: Result<Vec<f64>, String> = runs
        .iter()
        .map(|(_, _, report)| Ok(counter(report, LOCAL_LOAD_SECTORS)? + counter(report, LOCAL_STORE_SECTORS)?))
        .collect();
    match sectors {
        Ok(sectors) => {
            cx.found("no_traffic", sectors[0]);
            cx.holds("traffic", sectors.is_sorted(), format!("{sectors:?}"));
            let points = runs.iter().zip(&sectors).map(|((cap, _, _), sectors)| (f64::from(*cap), *sectors));
            let (x, y) = (Axis::linear("registers at most"), Axis::linear("sectors of local memory"));
            cx.plot(Plot::new("heavy: what a cap on registers moves", x, y).series("local", Mark::Line, points));
        }
        Err(reason) => {
            cx.not_run("no_traffic", reason.clone());
            cx.not_run("traffic", reason);
        }
    }
    let more = counter(&runs[runs.len() - 1].2, INSTRUCTIONS)
        .and_then(|capped| Ok(capped / counter(&runs[0].2, INSTRUCTIONS)?));
    record(cx, "more_instructions", more);
}

fn times(cx: &mut LabContext<'_>, runs: &[(u32, u32, LaunchReport)]) {
    let times: Result<Vec<(u32, u32, f64)>, String> =
        runs.iter().map(|(cap, spilled, report)| Ok((*cap, *spilled, us(report)?))).collect();
    let times = match times {
        Ok(times) => times,
        Err(reason) => {
            cx.not_run("slower", reason.clone());
            cx.not_run("fastest", reason);
            return;
        }
    };
    let at = |cap| times.iter().find(|(at, _, _)| *at == cap).map_or(f64::NAN, |(_, _, us)| *us);
    cx.found("slower", at(40) / at(80));
    let fastest = times.iter().min_by(|a, b| a.2.total_cmp(&b.2));
    cx.found("fastest", fastest.map_or(0, |(_, spilled, _)| *spilled));
    let points = times.iter().map(|(cap, _, us)| (f64::from(*cap), *us));
    let (x, y) = (Axis::linear("registers at most"), Axis::linear("time (µs)"));
    cx.plot(Plot::new("heavy: time by its cap on registers", x, y).series("time", Mark::Line, points));
}

/// Local memory without a spill.
fn indexed(cx: &mut LabContext<'_>) -> Result<Wrong, LabError> {
    let resources = cx.resources(runtime_index.name, ARCH)?;
    cx.found("index_spills", spilled(&resources));
    cx.found("index_stack", resources.stack_bytes);
    if let Some(function) = sass(cx, runtime_index.name, ARCH, ListingOptions::default(), &["index_instructions"])? {
        let (stores, loads) = accesses(&function);
        cx.holds("index_instructions", stores > 0 && loads > 0, format!("{stores} STL, {loads} LDL"));
    }
    let gpu = cx.gpu()?;
    let n = if gpu.measures() { 1 << 20 } else { 1 << 14 };
    let x = noise(TABLE as u32 * n, 9);
    let (input, y) = (gpu.upload(&x)?, gpu.zeros::<f32>(n as usize)?);
    let shape = LaunchShape::linear(n, BLOCK);
    let report = cx.measure(&gpu, &runtime_index, "", shape, (input.ptr(), y.ptr(), n, STEPS))?;
    record(cx, "index_stores", ratio(&report, LOCAL_STORE_SECTORS, WARPS));
    let loads = ratio(&report, LOCAL_LOAD_SECTORS, WARPS).map(|sectors| sectors / f64::from(STEPS));
    record(cx, "index_loads", loads);
    let expected = (0..n).map(|i| {
        let table: [f32; TABLE] = std::array::from_fn(|k| x[k * n as usize + i as usize]);
        maths::jumps(&table, i, STEPS)
    });
    let differences = differences(&y.download()?, expected);
    Ok((!differences.none()).then_some((runtime_index.name, differences)))
}
