//! `launch`: what does a launch do, and what fails when?
//!
//! The arithmetic of the grid and its counters are here; shapes that are refused are in [`refused`], faults and what
//! is left of their context in [`faults`].

mod faults;
mod refused;

use std::time::{Duration, Instant};

use warpwise_kernels::slow::slow;
use warpwise_kernels::vecadd::vecadd;

use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, greater_than, holds};
use crate::lab::{Lab, LabContext, LabError};

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

/// Steps of `slow`: at four cycles or more each, over a millisecond on any of the devices.
const SLOW_STEPS: u32 = 1_000_000;

const LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const STORE_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";

fn claims() -> Vec<Claim> {
    let sectors = "a warp's 32 floats are 4 sectors, the last partly active warp's 3 are 1";
    let mut claims = vec![
        Claim::new("blocks", "ch1 §2", "n = 1,000,003 at 256 threads a block takes 3,907 blocks", equal(3907)),
        Claim::new("threads", "ch1 §2", "they are 1,000,192 threads", equal(1_000_192)),
        Claim::new("idle", "ch1 §2", "189 threads have no element", equal(189)),
        Claim::new("idle_lanes", "ch1 §2", "29 of them are lanes of a warp that has work too", equal(29)),
        Claim::new("idle_warps", "ch1 §2", "the others are 5 whole warps", equal(5)),
        Claim::new("result", "ch1 §2", "the sums equal the CPU's, bit for bit", holds("no element differs")),
        Claim::new("load_sectors", "ch1 §4", "the loads touch 250,002 sectors of 32 bytes", equal(250_002))
            .note(sectors),
        Claim::new("store_sectors", "ch1 §4", "the stores touch 125,001", equal(125_001)).note(sectors),
        Claim::new("registers", "ch1 §5", "vecadd takes 12 registers on sm_120", equal(12)).recorded(),
        Claim::new("allocated", "ch1 §9", "of which a thread occupies 16, in units of 8", equal(16)).recorded(),
        Claim::new("returns_at_once", "ch1 §1", "the launch call returns before the kernel ends", greater_than(2.0))
            .note("the time until the kernel has ended, over the time of the launch call"),
    ];
    claims.extend(refused::claims());
    claims.extend(faults::claims());
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    grid(cx);
    sums(cx)?;
    registers(cx)?;
    asynchronous(cx)?;
    refused::run(cx)?;
    faults::run(cx)
}

/// The grid is rounded up to whole blocks.
fn grid(cx: &mut LabContext<'_>) {
    let shape = LaunchShape::linear(N, BLOCK);
    let threads = shape.blocks() * shape.block_threads();
    let idle = threads - u64::from(N);
    let idle_lanes = u64::from(N.next_multiple_of(WARP) - N);
    cx.found("blocks", shape.blocks());
    cx.found("threads", threads);
    cx.found("idle", idle);
    cx.found("idle_lanes", idle_lanes);
    cx.found("idle_warps", (idle - idle_lanes) / u64::from(WARP));
}

fn sums(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let a: Vec<f32> = (0..N).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..N).map(|i| 1.0 / (i + 1) as f32).collect();
    let gpu = cx.gpu()?;
    let (device_a, device_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let c = gpu.zeros::<f32>(a.len())?;
    let args = (device_a.ptr(), device_b.ptr(), c.ptr(), N);
    let report = cx.measure(&gpu, &vecadd, "", LaunchShape::linear(N, BLOCK), args)?;
    let wrong = c.download()?.iter().zip(a.iter().zip(&b)).filter(|(c, (a, b))| **c != **a + **b).count();
    cx.holds("result", wrong == 0, format!("{wrong} elements differ"));
    for (claim, counter) in [("load_sectors", LOAD_SECTORS), ("store_sectors", STORE_SECTORS)] {
        match report.counter(counter) {
            Some(sectors) => cx.found(claim, sectors),
            None => cx.not_run(claim, "this backend does not count"),
        }
    }
    Ok(())
}

fn registers(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    /// A warp's registers are allocated in units of 256 (compute capability 7.0 on), 8 a thread.
    const UNIT: u32 = 8;
    let registers = cx.resources("vecadd", "sm_120")?.registers.value();
    cx.found("registers", registers);
    cx.found("allocated", registers.next_multiple_of(UNIT));
    Ok(())
}

/// Times the call and the wait apart. The first launch loads the kernel, so the second is timed.
fn asynchronous(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let values = gpu.upload(&[1_u32; WARP as usize])?;
    gpu.launch(&slow, 1, WARP, (values.ptr(), WARP, 1))?;
    gpu.synchronize()?;
    let started = Instant::now();
    gpu.launch(&slow, 1, WARP, (values.ptr(), WARP, SLOW_STEPS))?;
    let call = started.elapsed().max(Duration::from_nanos(1));
    gpu.synchronize()?;
    let whole = started.elapsed();
    cx.found("returns_at_once", whole.as_secs_f64() / call.as_secs_f64());
    Ok(())
}
