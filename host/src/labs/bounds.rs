//! `bounds`: what does Rust's safety cost on a GPU?

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::maths;
use warpwise_kernels::slices::{filter_indexed, filter_iterator, filter_raw, filter_unchecked};
use warpwise_nvtools::nvdisasm::ListingOptions;

use super::code::sass;
use super::control_flow::branches;
use super::counters::{BRANCHES, INSTRUCTIONS, WARPS, counter, ratio, record, time_ratio, us};
use super::input::{differences, noise};
use super::launch::planted::{Planted, plant_apart};
use crate::backend::{LaunchReport, LaunchShape};
use crate::claim::{Claim, Value, at_least, at_most, equal, greater_than, holds, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};
use crate::pressure::Mix;

pub static LAB: Lab = Lab {
    id: "bounds",
    chapter: 0,
    sections: "beyond",
    question: "what does Rust's safety cost on a GPU?",
    kernels: &["filter_indexed", "filter_iterator", "filter_unchecked", "filter_raw"],
    text: include_str!("../../../docs/labs/bounds.md"),
    claims,
    run,
};

const SECTION: &str = "beyond";
const ARCH: &str = "sm_120";
const BLOCK: u32 = 256;
/// Weights of the filter: many, so that its loop is most of the kernel, and one more than a multiple of what is unrolled.
const TAPS: u32 = 65;

type Args = (DevicePtr<f32>, DevicePtr<f32>, DevicePtr<f32>, u32, u32, u32);

/// The four forms, the plainest last.
const FORMS: [&Kernel<Args>; 4] = [&filter_indexed, &filter_iterator, &filter_unchecked, &filter_raw];

fn claims() -> Vec<Claim> {
    let claim = |id, statement, relation| Claim::new(id, SECTION, statement, relation);
    vec![
        claim("results", "the four forms equal the host function, bit for bit", holds("no element differs")),
        claim("calls_checked", "indexed and iterator: calls of a function that panics, in the PTX", equal(2))
            .note("one each: the check itself is a comparison and a branch")
            .recorded(),
        claim("calls_unchecked", "unchecked and raw: such calls", equal(0)).recorded(),
        claim("same_registers", "unchecked: registers more than raw", equal(0)).recorded(),
        claim("indexed_instructions", "indexed: instructions executed over those of raw", at_least(1.5)).on_machine(),
        claim("iterator_instructions", "iterator: instructions executed over those of raw", at_most(1.1)).on_machine(),
        claim("unchecked_instructions", "unchecked: instructions executed over those of raw", at_most(1.05))
            .on_machine(),
        claim("indexed_branches", "indexed: branches executed over those of raw", greater_than(2.0)).on_machine(),
        claim("indexed_time", "indexed: time over that of raw", at_least(1.05))
            .needs_sass()
            .note("on an H200 2.4; on an RTX 5070 the machine has both wait for L1, and finds 1.1"),
        claim("iterator_time", "iterator: time over that of raw", near(1.0, 0.05)),
        claim("unchecked_time", "unchecked: time over that of raw", near(1.0, 0.05)),
        claim("panic", "a slice too short: the launch fails at the synchronise", holds("it does")),
        claim("panic_trap", "the machine says that it was a trap", holds("it does")).on_machine(),
        claim("panic_ends", "afterwards the context refuses work", holds("it does")),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let reports = measured(cx)?;
    let listings = listings(cx)?;
    table(cx, &reports, &listings)?;
    panics(cx)
}

/// The four forms on the same input, timed in turn.
fn measured(cx: &mut LabContext<'_>) -> Result<Vec<LaunchReport>, LabError> {
    let gpu = cx.gpu()?;
    let n = if gpu.measures() { 1 << 24 } else { 1 << 17 };
    let len = n + TAPS - 1;
    let (x, weights) = (noise(len, 21), noise(TAPS, 22));
    let (device_x, device_weights) = (gpu.upload(&x)?, gpu.upload(&weights)?);
    let results = FORMS.iter().map(|_| gpu.zeros::<f32>(n as usize)).collect::<Result<Vec<_>, _>>()?;
    let case = |(kernel, y): (&&Kernel<Args>, &crate::backend::DeviceBuffer<f32>)| {
        let args = (device_x.ptr(), device_weights.ptr(), y.ptr(), len, TAPS, n);
        Case::new(kernel, "", LaunchShape::linear(n, BLOCK), args)
    };
    let reports = cx.measure_in_turn(&gpu, FORMS.iter().zip(&results).map(case).collect())?;
    let element = |i: u32| maths::dot(|k| x[(i + k) as usize], |k| weights[k as usize], TAPS, 0.0);
    let expected: Vec<f32> = (0..n).map(element).collect();
    let mut wrong = None;
    for (kernel, y) in FORMS.iter().zip(&results) {
        let differences = differences(&y.download()?, expected.iter().copied());
        if !differences.none() {
            wrong.get_or_insert(format!("{}: {differences}", kernel.name));
        }
    }
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    let [indexed, iterator, unchecked, raw] = &reports[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 4", reports.len())));
    };
    let over_raw = |report, name| Ok(counter(report, name)? / counter(raw, name)?);
    for (form, report) in [("indexed", indexed), ("iterator", iterator), ("unchecked", unchecked)] {
        record(cx, &format!("{form}_instructions"), over_raw(report, INSTRUCTIONS));
        record(cx, &format!("{form}_time"), time_ratio(report, raw));
    }
    record(cx, "indexed_branches", over_raw(indexed, BRANCHES));
    Ok(reports)
}

/// Instructions, and jumps among them, in the SASS of each form; nothing without the tools.
fn listings(cx: &mut LabContext<'_>) -> Result<Vec<Option<(usize, usize)>>, LabError> {
    let mut found = Vec::new();
    for kernel in FORMS {
        let function = sass(cx, kernel.name, ARCH, ListingOptions::default(), &[])?;
        found.push(function.map(|function| (Mix::of(&function).total(), branches(&function).others.len())));
    }
    let ptx = &cx.bench().kernels.ptx;
    let calls: Vec<usize> = FORMS.iter().map(|kernel| calls(ptx, kernel.name)).collect();
    cx.found("calls_checked", calls[0] + calls[1]);
    cx.found("calls_unchecked", calls[2] + calls[3]);
    Ok(found)
}

/// Calls in the body of an entry.
fn calls(ptx: &str, entry: &str) -> usize {
    let body = ptx.split(".entry ").find(|part| part.split('(').next() == Some(entry)).unwrap_or_default();
    let body = body.split("\n}").next().unwrap_or_default();
    body.lines().filter(|line| line.trim_start().starts_with("call")).count()
}

fn table(
    cx: &mut LabContext<'_>,
    reports: &[LaunchReport],
    listings: &[Option<(usize, usize)>],
) -> Result<(), LabError> {
    let mut table = Table::new(
        format!("a filter of {TAPS} weights, four ways"),
        ["form", &format!("registers, {ARCH}"), "in the SASS", "jumps", "executed, a warp", "branches, a warp", "µs"],
    );
    let mut registers = Vec::new();
    for ((kernel, report), listing) in FORMS.iter().zip(reports).zip(listings) {
        let resources = cx.resources(kernel.name, ARCH)?;
        registers.push(i64::from(resources.registers.value()));
        let cell = |value: Result<f64, String>| value.map_or_else(|_| Value::from("–"), Value::from);
        table.row([
            kernel.name.into(),
            resources.registers.value().into(),
            listing.map_or("–".into(), |(instructions, _)| Value::from(instructions)),
            listing.map_or("–".into(), |(_, jumps)| Value::from(jumps)),
            cell(ratio(report, INSTRUCTIONS, WARPS)),
            cell(ratio(report, BRANCHES, WARPS)),
            cell(us(report)),
        ]);
    }
    cx.found("same_registers", registers[2] - registers[3]);
    cx.table(table);
    Ok(())
}

/// A slice that is too short by one, planted.
fn panics(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let seen = plant_apart(cx, Planted::ShortSlice)?;
    let said = seen.synchronise.clone().unwrap_or_default();
    cx.holds("panic", seen.synchronise.is_some(), "the synchronise says that all is well");
    cx.holds("panic_trap", said.contains("trap"), said.clone());
    let refused = seen.later_launch.is_some() && seen.later_copy.is_some();
    cx.holds("panic_ends", refused, "work is accepted afterwards");
    cx.note(format!("A panic on a GPU has nobody to tell: {said}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_within_one_entry_only() {
        let ptx = ".visible .entry a(\n)\n{\n\tcall.uni f, ();\n\tret;\n\n}\n.visible .entry ab(\n)\n{\n\tcall f;\n\tcall g;\n}\n";
        assert_eq!((calls(ptx, "a"), calls(ptx, "ab"), calls(ptx, "b")), (1, 2, 0));
    }
}
