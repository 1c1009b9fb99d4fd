//! `launch`: what does a launch do, and what fails when?
//!
//! The arithmetic of the grid and its counters are here; shapes that are refused are in [`refused`], faults and what
//! is left of their context in [`faults`].

mod faults;
pub mod planted;
mod refused;

use std::time::Instant;

use warpwise_kernels::slow::slow;
use warpwise_kernels::vecadd::vecadd;
use warpwise_kernels::whoami::Identity;
use warpwise_simt::device::Device;

use crate::backend::LaunchShape;
use crate::claim::format::microseconds;
use crate::claim::{Claim, equal, holds};
use crate::lab::{Lab, LabContext, LabError};
use crate::labs::census::Census;
use crate::labs::counters::{LOAD_SECTORS, STORE_SECTORS, counter, record};
use crate::labs::input::{differences, noise};

pub static LAB: Lab = Lab {
    id: "launch",
    chapter: 1,
    sections: "ch1 §1–2",
    question: "what does a launch do, and what fails when?",
    kernels: &["vecadd", "vecadd_unguarded", "slow"],
    text: include_str!("../../../../docs/labs/launch.md"),
    claims,
    run,
};

/// Elements of the chapter's example, and threads a block.
const N: u32 = 1_000_003;
const BLOCK: u32 = 256;
const WARP: u32 = warpwise_simt::isa::WARP_SIZE as u32;

/// Steps of `slow`: at four cycles or more each, over ten milliseconds on any of the devices, and on the machine. A busy computer may
/// set the caller aside for a few of them right after the call.
const SLOW_STEPS: u32 = 10_000_000;

fn claims() -> Vec<Claim> {
    let sectors = "a warp's 32 floats are 4 sectors, the last partly active warp's 3 are 1";
    let mut claims = vec![
        Claim::new("blocks", "ch1 §2", "n = 1,000,003 at 256 threads a block: blocks", equal(3907)),
        Claim::new("threads", "ch1 §2", "their threads", equal(1_000_192)),
        Claim::new("idle", "ch1 §2", "threads that have no element", equal(189)),
        Claim::new("idle_lanes", "ch1 §2", "those of them in a warp that has work too", equal(29)),
        Claim::new("idle_warps", "ch1 §2", "whole warps that have none", equal(5)),
        Claim::new("result", "ch1 §2", "the sums equal the CPU's, bit for bit", holds("no element differs")),
        Claim::new("load_sectors", "ch1 §4", "sectors of 32 bytes that the loads touch", equal(250_002))
            .note(sectors)
            .on_machine(),
        Claim::new("store_sectors", "ch1 §4", "sectors that the stores touch", equal(125_001))
            .note(sectors)
            .on_machine(),
        Claim::new("registers", "ch1 §5", "registers of vecadd on sm_120", equal(12)).recorded(),
        Claim::new("allocated", "ch1 §9", "registers that a thread of it occupies", equal(16))
            .note("they are given to warps 256 at a time, eight a thread")
            .recorded(),
        Claim::new(
            "returns_at_once",
            "ch1 §1",
            "the launch call of slow returns before the kernel ends",
            holds("the context is busy when the call has returned"),
        ),
    ];
    claims.extend(refused::claims());
    claims.extend(faults::claims());
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    grid(cx)?;
    sums(cx)?;
    registers(cx)?;
    asynchronous(cx)?;
    refused::run(cx)?;
    faults::run(cx)
}

/// The grid is rounded up to whole blocks: who has no element, by the threads' own account.
fn grid(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let census = Census::take(&cx.gpu()?, LaunchShape::linear(N, BLOCK))?;
    let idle = |thread: &&Identity| thread.index_1d >= N;
    let idle_of = |warp: &[Identity]| warp.iter().filter(idle).count();
    let in_part = |warp: &&[Identity]| idle_of(warp) < warp.len();
    cx.found("blocks", census.blocks().count());
    cx.found("threads", census.identities.len());
    cx.found("idle", idle_of(&census.identities));
    cx.found("idle_lanes", census.warps().filter(in_part).map(idle_of).sum::<usize>());
    cx.found("idle_warps", census.count(|thread| !idle(&thread)).idle);
    Ok(())
}

fn sums(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let (a, b) = (noise(N, 12), noise(N, 13));
    let gpu = cx.gpu()?;
    let (device_a, device_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let c = gpu.zeros::<f32>(a.len())?;
    let args = (device_a.ptr(), device_b.ptr(), c.ptr(), N);
    let report = cx.measure(&gpu, &vecadd, "", LaunchShape::linear(N, BLOCK), args)?;
    let wrong = differences(&c.download()?, a.iter().zip(&b).map(|(a, b)| a + b));
    cx.holds("result", wrong.none(), wrong.to_string());
    record(cx, "load_sectors", counter(&report, LOAD_SECTORS));
    record(cx, "store_sectors", counter(&report, STORE_SECTORS));
    Ok(())
}

fn registers(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let device = Device::default_device();
    let resources = cx.resources(vecadd.name, &device.arch())?;
    let occupancy = resources.occupancy(&device.limits, LaunchShape::linear(BLOCK, BLOCK))?;
    cx.found("registers", resources.registers.value());
    cx.found("allocated", occupancy.allocated_registers_per_block / i64::from(BLOCK));
    Ok(())
}

/// Asks whether the kernel runs on when the call has returned; the two times are for the reader. The first launch loads the
/// kernel, so a second one is asked about.
fn asynchronous(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let values = gpu.upload(&[1_u32; WARP as usize])?;
    gpu.launch(&slow, 1, WARP, (values.ptr(), WARP, 1))?;
    gpu.synchronize()?;
    let started = Instant::now();
    gpu.launch(&slow, 1, WARP, (values.ptr(), WARP, SLOW_STEPS))?;
    let idle = gpu.is_idle()?;
    let call = started.elapsed();
    gpu.synchronize()?;
    let [call, whole] = [call, started.elapsed()].map(|time| microseconds(time.as_secs_f64() * 1e6));
    cx.holds("returns_at_once", !idle, "the kernel had ended");
    cx.note(format!(
        "slow: on this computer's clock the launch call took {call}, and the kernel had ended after {whole}"
    ));
    Ok(())
}
