//! The chapter's table of an A100 against the model of one, and where the model's numbers are from.

use warpwise_kernels::calibration::chain_ffma;
use warpwise_simt::device::{How, find};

use super::SECTION;
use super::latency::{through, through_shared};
use crate::backend::{Gpu, LaunchShape};
use crate::claim::format::real;
use crate::claim::{Claim, between, equal, near};
use crate::lab::{LabContext, LabError, Table};

const KIB: f64 = 1024.0;
const GIB: f64 = KIB * KIB * KIB;
const DEVICE: &str = "A100";

/// Memory that an L2 of 40 MiB holds near the SM, holds in all, and is too small for.
const NEAR_BYTES: u64 = 2 << 20;
const FAR_BYTES: u64 = 20 << 20;
const BEYOND_BYTES: u64 = 42 << 20;
const L1_BYTES: u64 = 16 << 10;

pub fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_machine();
    vec![
        machine("a100_registers", "A100: KiB of registers an SM", equal(256)),
        machine("a100_l1", "A100: KiB of L1 and shared memory an SM, about", equal(192)),
        machine("a100_l2", "A100: MiB of L2", equal(40)),
        machine("a100_memory", "A100: GiB of memory, of the larger board", equal(80)),
        machine("a100_bandwidth", "A100: bandwidth of memory, TB/s", near(2.0, 0.05)),
        machine("a100_shared_cycles", "A100: cycles from shared memory", between(20.0, 30.0)),
        machine("a100_l1_cycles", "A100: cycles from L1", between(20.0, 40.0))
            .note("20 to 30 for both in the chapter; L1 is slower, by some cycles of which the address takes five"),
        machine("a100_l2_cycles", "A100: cycles from the near half of L2", near(200.0, 0.1))
            .note("the far half takes about twice as long, of which the chapter says nothing"),
        machine("a100_memory_cycles", "A100: cycles from memory", between(400.0, 800.0)),
        machine("a100_register_cycles", "A100: cycles until the next instruction can use a register", between(4.0, 5.0))
            .note("the chapter says about 1: a register is read at once, but what computes it takes four cycles, and a loop around the chain a little"),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let device = find(DEVICE)?;
    let gpu = cx.machine(device, cx.options())?;
    let limits = &device.limits;
    let whole = |value: f64| value as u64;
    cx.found("a100_registers", limits.registers_per_sm * 4 / 1024);
    cx.found("a100_l1", limits.l1_and_shared_bytes / 1024);
    cx.found("a100_l2", whole(device.l2_bytes as f64 / KIB / KIB));
    cx.found("a100_memory", whole(device.dram_bytes as f64 / GIB));
    cx.found("a100_bandwidth", device.memory_bandwidth_gbs / 1e3);
    let shared = through_shared(&gpu)?;
    let l1 = through(&gpu, L1_BYTES, 0)?;
    let near = through(&gpu, NEAR_BYTES, 0)?;
    let far = through(&gpu, FAR_BYTES, 0)?;
    let memory = through(&gpu, BEYOND_BYTES, 0)?;
    let registers = through_registers(&gpu)?;
    for (claim, cycles) in [
        ("a100_shared_cycles", shared),
        ("a100_l1_cycles", l1),
        ("a100_l2_cycles", near),
        ("a100_memory_cycles", memory),
    ] {
        cx.found(claim, cycles);
    }
    cx.found("a100_register_cycles", registers);
    let columns = ["level", "chapter", "cycles", "size", "source of the latency"];
    let mut table = Table::new("the A100, chapter and model", columns);
    let from = |parameter: &str| {
        let found = device.provenance.iter().find(|known| known.name == parameter);
        found.map_or_else(String::new, |found| {
            let how = match found.how {
                How::Sourced => "",
                How::Measured => "measured: ",
                How::Calibrated => "calibrated: ",
                How::Estimated => "estimated: ",
            };
            format!("{how}{}", found.from)
        })
    };
    let both = format!("{} KiB an SM", limits.l1_and_shared_bytes / 1024);
    let l2 = format!("{} MiB", device.l2_bytes >> 20);
    let rows = [
        (
            "registers",
            "~1",
            registers,
            format!("{} KiB an SM", limits.registers_per_sm / 256),
            "a chain of FFMA".to_owned(),
        ),
        ("shared memory", "~20–30", shared, both.clone(), from("shared_latency_cycles")),
        ("L1", "~20–30", l1, both, from("l1_hit_latency_cycles")),
        ("L2, near", "~200", near, l2.clone(), from("l2_near_latency_cycles")),
        ("L2, far", "", far, l2, from("l2_far_latency_cycles")),
        ("memory", "~400–800", memory, "40 or 80 GB".to_owned(), from("dram_latency_cycles")),
    ];
    for (level, chapter, cycles, size, source) in rows {
        table.row([level.into(), chapter.into(), real(cycles).into(), size.into(), source.into()]);
    }
    cx.table(table);
    Ok(())
}

/// Cycles a step of a chain of multiply-adds, each of which waits for the one before: the slope between two lengths, of one warp.
fn through_registers(gpu: &Gpu) -> Result<f64, LabError> {
    const STEPS: u32 = 2_048;
    let y = gpu.zeros::<f32>(32)?;
    let us = |steps: u32| -> Result<f64, LabError> {
        let report = gpu.profile(&chain_ffma, LaunchShape::linear(32, 32), None, (y.ptr(), steps))?;
        report.time().map(|time| time.us()).ok_or_else(|| LabError::Other("the chain has no time".to_owned()))
    };
    let slope_us = (us(2 * STEPS)? - us(STEPS)?) / f64::from(STEPS);
    Ok(slope_us * f64::from(find(DEVICE)?.boost_clock_mhz))
}
