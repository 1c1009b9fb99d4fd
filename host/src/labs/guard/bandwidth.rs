//! The pace that memory sets: scalar and four-wide addition against a copy, and what the guard costs beside it.

use warpwise_kernels::vecadd::{VECADD4_ELEMENTS, vecadd, vecadd_unguarded, vecadd4};
use warpwise_nvtools::nvdisasm::ListingOptions;

use super::{BLOCK, per_warp};
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, at_least, equal, holds, less_than};
use crate::lab::{Case, LabContext, LabError};
use crate::labs::code::sass;
use crate::labs::counters::{INSTRUCTIONS, counter, record};
use crate::labs::input::{differences, noise};

/// Elements of the comparison, without the odd one: on the machine and on a GPU.
const LARGE_MACHINE: u32 = 1 << 22;
const LARGE_GPU: u32 = 1 << 28;

/// Bytes that an addition reads and writes for each element.
const BYTES: u64 = 3 * size_of::<f32>() as u64;

/// The architecture whose accesses are looked at, and elements of the check against the CPU: no multiple of four.
const ARCH: &str = "sm_90";
const SMALL: u32 = 1_003;

pub fn claims() -> Vec<Claim> {
    let section = "ch1 §7";
    vec![
        Claim::new("instructions", section, "share of instructions that element 2²² + 1 adds", less_than(0.01))
            .on_machine(),
        Claim::new("time", section, "vecadd at 2²² + 1 against no guard at 2²²: share of time more", less_than(0.01))
            .note("on a GPU at 2²⁸ + 1 and 2²⁸, sampled in turn"),
        Claim::new("wide", section, "vecadd4 on sm_90: accesses of 16 bytes, LDG.E.128 and STG.E.128", equal(3))
            .recorded(),
        Claim::new("wide_results", section, "vecadd4 of 1,003 elements equals the CPU", holds("no element differs")),
        Claim::new("scalar_of_copy", section, "vecadd at 2²⁸: share of a copy's bandwidth in this run", at_least(0.80))
            .on_gpu(),
        Claim::new("wide_of_copy", section, "vecadd4, four elements a thread: the same share", at_least(0.93)).on_gpu(),
    ]
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    wide(cx, gpu)?;
    large(cx, gpu)
}

/// What the four-wide form compiles to, and that it adds.
fn wide(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    if let Some(function) = sass(cx, vecadd4.name, ARCH, ListingOptions::default(), &["wide"])? {
        let is_wide = |opcode: &str| matches!(opcode, "LDG.E.128" | "STG.E.128");
        cx.found("wide", function.instructions.iter().filter(|i| is_wide(&i.opcode)).count());
    }
    let (a, b) = (noise(SMALL, 3), noise(SMALL, 4));
    let (device_a, device_b, c) = (gpu.upload(&a)?, gpu.upload(&b)?, gpu.zeros::<f32>(a.len())?);
    gpu.launch_shaped(&vecadd4, shape4(SMALL), (device_a.ptr(), device_b.ptr(), c.ptr(), SMALL))?;
    let found = differences(&c.download()?, a.iter().zip(&b).map(|(a, b)| a + b));
    cx.holds("wide_results", found.none(), found.to_string());
    Ok(())
}

fn shape4(n: u32) -> LaunchShape {
    LaunchShape::linear(n.div_ceil(VECADD4_ELEMENTS), BLOCK)
}

/// The guarded kernel with one element more than a round number, against the unguarded one at the round number; between them
/// the guarded one at the round number too, which tells what the guard costs from what the odd element does.
fn large(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let n = if gpu.measures() { LARGE_GPU } else { LARGE_MACHINE };
    let [a, b, c] = [0, 1, 2].map(|_| gpu.zeros::<f32>(n as usize + 1));
    let (a, b, c) = (a?, b?, c?);
    let (a, b, c) = (a.ptr(), b.ptr(), c.ptr());
    let (round, more) = (format!("n = 2^{}", n.ilog2()), format!("n = 2^{} + 1", n.ilog2()));
    let shape = |n| LaunchShape::linear(n, BLOCK);
    let guarded = Case::new(&vecadd, &round, shape(n), (a, b, c, n)).moving(BYTES * u64::from(n));
    let cases = vec![
        Case::new(&vecadd, more, shape(n + 1), (a, b, c, n + 1)).moving(BYTES * u64::from(n + 1)),
        if gpu.measures() { guarded } else { guarded.unlisted().untimed() },
        Case::new(&vecadd_unguarded, &round, shape(n), (a, b, c)).moving(BYTES * u64::from(n)),
        Case::new(&vecadd4, &round, shape4(n), (a, b, c, n)).moving(BYTES * u64::from(n)),
    ];
    let reports = cx.measure_in_turn(gpu, cases)?;
    let [odd, round, unguarded, four] = &reports[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 4", reports.len())));
    };
    let more = counter(odd, INSTRUCTIONS).and_then(|odd| Ok(odd - counter(round, INSTRUCTIONS)?));
    record(cx, "instructions", more.and_then(|more| Ok(more / counter(round, INSTRUCTIONS)?)));
    let times = odd.time().zip(unguarded.time());
    let slower = times.map(|(odd, unguarded)| odd.us() / unguarded.us() - 1.0);
    record(cx, "time", slower.ok_or_else(|| "there is no time".to_owned()));
    of_copy(cx, "scalar_of_copy", round, n)?;
    of_copy(cx, "wide_of_copy", four, n)?;
    per_warp(cx, n, &[("vecadd", round), ("vecadd_unguarded", unguarded)]);
    Ok(())
}

/// The share of the copy bandwidth, where both are measured.
fn of_copy(cx: &mut LabContext<'_>, claim: &str, report: &LaunchReport, n: u32) -> Result<(), LabError> {
    let ceilings = cx.ceilings()?;
    match report.time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
        Some(time) => cx.found(claim, ceilings.share_of_copy((BYTES * u64::from(n)) as f64, time)),
        None => cx.not_run(claim, "needs a GPU: at the machine's size the arrays are in L2"),
    }
    Ok(())
}
