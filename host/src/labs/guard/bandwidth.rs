//! The pace that memory sets: scalar and four-wide addition against a copy, and what the guard costs beside it.
//!
//! On a GPU with much bandwidth an SM is full of warps before the memory is busy. Then what sets the pace of scalar addition is how long
//! a warp lives, the guard's few cycles in it included; where memory does, they are lost in the wait for it.

use cuda_std::host::DevicePtr;
use warpwise_kernels::vecadd::{VECADD4_ELEMENTS, vecadd, vecadd_unguarded, vecadd4, vecadd4_unguarded};
use warpwise_nvtools::nvdisasm::ListingOptions;

use super::{BLOCK, per_warp};
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchReport, LaunchShape};
use crate::ceilings::Ceilings;
use crate::claim::format::{integer, percent};
use crate::claim::{Claim, at_least, equal, holds, less_than};
use crate::lab::{Case, LabContext, LabError};
use crate::labs::code::sass;
use crate::labs::counters::{INSTRUCTIONS, counter, record};
use crate::labs::input::{differences, noise};
use crate::numbers::Time;

/// Elements of the comparison, without the odd one: on the machine and on a GPU.
const LARGE_MACHINE: u32 = 1 << 22;
const LARGE_GPU: u32 = 1 << 28;

/// Bytes that an addition reads and writes for each element.
const BYTES: u64 = 3 * size_of::<f32>() as u64;

/// Memory sets the pace of the scalar form where the four-wide one, with four times the bytes in flight, is at most this share faster.
const PACED_BY_MEMORY_MAX: f64 = 0.05;

/// The guard compares, leaves, and has the arrays' addresses fetched behind that and not before: a few cycles each for the first two, and
/// 26 from a constant to its use (on Ampere: Huerta et al., MICRO 2025, table 2).
const DELAY_CYCLES_MAX: f64 = 40.0;

/// The architecture whose accesses are looked at, and elements of the check against the CPU: no multiple of four.
const ARCH: &str = "sm_90";
const SMALL: u32 = 1_003;

pub fn claims() -> Vec<Claim> {
    let section = "ch1 §7";
    vec![
        Claim::new("instructions", section, "share of instructions that element 2²² + 1 adds", less_than(0.01))
            .on_machine(),
        Claim::new("time", section, "vecadd at 2²² + 1 against no guard at 2²²: share of time more", less_than(0.01))
            .note("on a GPU at 2²⁸ + 1 and 2²⁸, sampled in turn; where memory sets the pace, see `wide_time` and `delay`"),
        Claim::new(
            "wide_time",
            section,
            "the same of vecadd4, whose pace memory sets: share of time more",
            less_than(0.01),
        )
        .note("on a GPU at 2²⁸ + 1 and 2²⁸, sampled in turn"),
        Claim::new(
            "delay",
            section,
            "vecadd at 2²⁸ + 1 against no guard at 2²⁸: cycles that a warp's life is longer",
            less_than(DELAY_CYCLES_MAX),
        )
        .note("where memory does not set the pace this shows in the time: on an H200 21 cycles of 1,874, or 1.1%")
        .on_gpu(),
        Claim::new("wide", section, "vecadd4 on sm_90: accesses of 16 bytes, LDG.E.128 and STG.E.128", equal(3))
            .recorded(),
        Claim::new("wide_results", section, "vecadd4 of 1,003 elements equals the CPU", holds("no element differs")),
        Claim::new(
            "scalar_of_copy",
            section,
            "vecadd at 2²⁸: share of what the driver's copy of 1 GiB moves in this run",
            at_least(0.80),
        )
        .note("that copy is not the fastest one: of the ceiling in the report it is one to three percent less")
        .on_gpu(),
        Claim::new("wide_of_copy", section, "vecadd4, four elements a thread: share of the fastest copy", at_least(0.93))
            .note("more than 1 where memory loses time between reading and writing: it reads twice what it writes, a copy once")
            .on_gpu(),
        Claim::new("wide_of_read", section, "vecadd4: share of the bandwidth of reading alone", less_than(1.0)).on_gpu(),
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

/// The guarded kernels with one element more than a round number, against the unguarded ones at the round number; between them
/// the guarded one at the round number too, which tells what the guard costs from what the odd element does.
fn large(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let n = if gpu.measures() { LARGE_GPU } else { LARGE_MACHINE };
    let mut rota = Rota::new(gpu, n as usize + 1);
    let cases = cases(gpu, cx.device().l2_bytes, n, &mut rota)?;
    let before = cases.len() - COMPARED;
    let reports = cx.measure_in_turn(gpu, cases)?;
    let [odd, round, unguarded, four, four_odd, four_unguarded] = &reports[before..] else {
        return Err(LabError::Other(format!("{} launches were measured, not {COMPARED}", reports.len() - before)));
    };
    let more = counter(odd, INSTRUCTIONS).and_then(|odd| Ok(odd - counter(round, INSTRUCTIONS)?));
    record(cx, "instructions", more.and_then(|more| Ok(more / counter(round, INSTRUCTIONS)?)));
    match slower(odd, four) {
        Ok(slower) if slower > PACED_BY_MEMORY_MAX => {
            let slower = percent(slower);
            let reason = format!("memory does not set vecadd's pace here: it takes {slower} longer than vecadd4");
            cx.not_run("time", reason);
        }
        _ => record(cx, "time", slower(odd, unguarded)),
    }
    record(cx, "wide_time", slower(four_odd, four_unguarded));
    delay(cx, gpu, n, odd, unguarded)?;
    of_ceiling(cx, "scalar_of_copy", round, n, Ceilings::share_of_usual_copy)?;
    of_ceiling(cx, "wide_of_copy", four, n, |ceilings, bytes, time| Some(ceilings.share_of_copy(bytes, time)))?;
    of_ceiling(cx, "wide_of_read", four, n, Ceilings::share_of_read)?;
    per_warp(cx, n, &[("vecadd", round), ("vecadd_unguarded", unguarded)]);
    Ok(())
}

/// Launches that are compared, the last ones of [`cases`].
const COMPARED: usize = 6;

fn cases(gpu: &Gpu, l2_bytes: u64, n: u32, rota: &mut Rota<'_>) -> Result<Vec<Case>, LabError> {
    let (round, more) = (format!("n = 2^{}", n.ilog2()), format!("n = 2^{} + 1", n.ilog2()));
    let shape = |n| LaunchShape::linear(n, BLOCK);
    let scalar = |variant: &str, n, (a, b, c)| moving(Case::new(&vecadd, variant, shape(n), (a, b, c, n)), n);
    let wide = |variant: &str, n, (a, b, c)| moving(Case::new(&vecadd4, variant, shape4(n), (a, b, c, n)), n);
    let mut cases = Vec::new();
    // The first find an L2 that is not full yet, so that nothing has to make room and be written back. They are compared with none.
    let before = if gpu.measures() { 0 } else { 1 + l2_bytes.div_ceil(BYTES * u64::from(n)) };
    for _ in 0..before {
        cases.push(scalar("", n, rota.next()?).unlisted());
    }
    cases.push(scalar(&more, n + 1, rota.next()?));
    let guarded = scalar(&round, n, rota.next()?);
    cases.push(if gpu.measures() { guarded } else { guarded.unlisted().untimed() });
    cases.push(moving(Case::new(&vecadd_unguarded, &round, shape(n), rota.next()?), n));
    cases.push(wide(&round, n, rota.next()?));
    cases.push(wide(&more, n + 1, rota.next()?));
    cases.push(moving(Case::new(&vecadd4_unguarded, &round, shape4(n), rota.next()?), n));
    Ok(cases)
}

fn moving(case: Case, n: u32) -> Case {
    case.moving(BYTES * u64::from(n))
}

/// Arrays for the launches that are compared. Before each sample on a GPU L2 is overwritten, so there all of them share three arrays. On
/// the machine each launch has arrays of its own, of which nothing is in L2: what it finds there is what the one before it moved, and
/// that is the same for all.
struct Rota<'a> {
    gpu: &'a Gpu,
    len: usize,
    arrays: Vec<[DeviceBuffer<f32>; 3]>,
}

type Pointer = DevicePtr<f32>;

impl<'a> Rota<'a> {
    fn new(gpu: &'a Gpu, len: usize) -> Self {
        Self { gpu, len, arrays: Vec::new() }
    }

    /// Two arrays to read and one to write.
    fn next(&mut self) -> Result<(Pointer, Pointer, Pointer), GpuError> {
        let pointers = |[a, b, c]: &[DeviceBuffer<f32>; 3]| (a.ptr(), b.ptr(), c.ptr());
        let (measures, len) = (self.gpu.measures(), self.len);
        if let Some(shared) = self.arrays.first().filter(|_| measures) {
            return Ok(pointers(shared));
        }
        let array = || if measures { self.gpu.zeros(len) } else { self.gpu.uninitialised(len) };
        let arrays = [array()?, array()?, array()?];
        let next = pointers(&arrays);
        self.arrays.push(arrays);
        Ok(next)
    }
}

/// The share of time that the first took more.
fn slower(first: &LaunchReport, second: &LaunchReport) -> Result<f64, String> {
    let times = first.time().zip(second.time());
    times.map(|(first, second)| first.us() / second.us() - 1.0).ok_or_else(|| "there is no time".to_owned())
}

/// Cycles by which the guard lengthens the life of a warp: the SMs are full all the time, so that a life is the launch's time over the
/// number of warps that live one after the other in a place.
fn delay(
    cx: &mut LabContext<'_>,
    gpu: &Gpu,
    n: u32,
    guarded: &LaunchReport,
    unguarded: &LaunchReport,
) -> Result<(), LabError> {
    let Some((time, more)) = unguarded.time().filter(|_| gpu.measures()).zip(slower(guarded, unguarded).ok()) else {
        cx.not_run("delay", "needs hardware");
        return Ok(());
    };
    let device = gpu.device();
    let occupancy = cx.resources(vecadd.name, &device.arch)?.occupancy(device.limits, LaunchShape::linear(n, BLOCK))?;
    let places = occupancy.blocks_per_sm as f64 * f64::from(device.sm_count);
    let life_us = time.us() * places / f64::from(n / BLOCK);
    let life_cycles = life_us * f64::from(time.sm_mhz().unwrap_or(cx.device().boost_clock_mhz));
    cx.found("delay", more * life_cycles);
    cx.note(format!(
        "Scalar vecadd: a warp lives {} cycles, one without the guard {}.",
        integer(((1.0 + more) * life_cycles).round() as i128),
        integer(life_cycles.round() as i128),
    ));
    Ok(())
}

/// The share that a launch makes of a ceiling, where both are measured.
fn of_ceiling(
    cx: &mut LabContext<'_>,
    claim: &str,
    report: &LaunchReport,
    n: u32,
    share: impl Fn(&Ceilings, f64, &Time) -> Option<f64>,
) -> Result<(), LabError> {
    let ceilings = cx.ceilings()?;
    let time = report.time().filter(|time| time.is_measured() && ceilings.are_of(time));
    match time.and_then(|time| share(ceilings, (BYTES * u64::from(n)) as f64, time)) {
        Some(share) => cx.found(claim, share),
        None => cx.not_run(claim, "needs a GPU: at the machine's size the arrays are in L2"),
    }
    Ok(())
}
