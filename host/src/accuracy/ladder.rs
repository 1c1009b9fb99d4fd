//! The memory ladder: how long a dependent access takes at each level, and how much a level gives to one SM and to all.
//!
//! Latencies are read off the SM's clock inside the kernel. Bandwidths are the slope between two launches that differ in what
//! they read alone, so that launch and first touch cancel.

use super::cases::{Case, Class, Set};
use super::inputs::{Input, bind};
use super::run::{flush, launch};
use crate::backend::{Gpu, GpuError};
use crate::error::CommandError;
use crate::numbers::{Time, quantile};
use crate::workbench::Workbench;

/// What a rung is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Cycles,
    /// Of one SM.
    BytesPerCycle,
    /// Of the whole device; 10⁹ bytes.
    GigabytesPerSecond,
}

impl Unit {
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::BytesPerCycle => "bytes/cycle",
            Unit::GigabytesPerSecond => "GB/s",
        }
    }
}

/// One question to the memory hierarchy.
#[derive(Debug, PartialEq, Eq)]
pub struct Rung {
    /// As reports name it.
    pub name: &'static str,
    pub unit: Unit,
    probe: Probe,
}

#[derive(Debug, PartialEq, Eq)]
enum Probe {
    /// Hops through so many lines of 128 bytes, `warm` of them before the clock starts.
    Chase { lines: u32, warm: u32, hops: u32 },
    /// Hops through shared memory.
    ChaseShared { hops: u32 },
    /// Two launches of `read_global`.
    Read { blocks: u32, threads: u32, turn: u32, less: Part, more: Part },
    /// `read_shared` on one SM, with so many passes and with twice as many.
    ReadShared { passes: u32 },
}

/// What each block of a launch of `read_global` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// 16 bytes each.
    fours: u32,
    parts: u32,
    passes: u32,
}

const LINE_WORDS: u32 = 32;

const fn chase(name: &'static str, lines: u32, warm: u32) -> Rung {
    Rung { name, unit: Unit::Cycles, probe: Probe::Chase { lines, warm, hops: 4096 } }
}

const fn part(kib: u32, parts: u32, passes: u32) -> Part {
    Part { fours: kib * 64, parts, passes }
}

const fn one_sm(name: &'static str, turn: u32, less: Part, more: Part) -> Rung {
    let probe = Probe::Read { blocks: 1, threads: 1024, turn, less, more };
    Rung { name, unit: Unit::BytesPerCycle, probe }
}

const fn all_sms(name: &'static str, blocks: u32, turn: u32, less: Part, more: Part) -> Rung {
    let probe = Probe::Read { blocks, threads: 1024, turn, less, more };
    Rung { name, unit: Unit::GigabytesPerSecond, probe }
}

/// A chase through so many lines of L2, each of them warmed three times: after one pass some of what was there before is still there.
const fn chase_l2(name: &'static str, lines: u32) -> Rung {
    chase(name, lines, 3 * lines)
}

/// From the nearest level to the farthest. Two blocks of 1,024 threads fill each of the 132 SMs of an H200.
pub static RUNGS: &[Rung] = &[
    Rung { name: "shared, latency", unit: Unit::Cycles, probe: Probe::ChaseShared { hops: 8192 } },
    chase("L1, latency", 128, 256),
    chase_l2("L2 near, latency", 1 << 15),
    chase_l2("L2 16 MiB, latency", 1 << 17),
    chase_l2("L2 24 MiB, latency", 3 << 16),
    chase_l2("L2 32 MiB, latency", 1 << 18),
    chase_l2("L2 far, latency", 5 << 16),
    chase_l2("L2 48 MiB, latency", 3 << 17),
    chase("DRAM, latency", 1 << 20, 16),
    Rung { name: "shared, one SM", unit: Unit::BytesPerCycle, probe: Probe::ReadShared { passes: 1024 } },
    one_sm("L1, one SM", 0, part(64, 1, 64), part(64, 1, 192)),
    one_sm("L2, one SM", 1, part(64, 64, 128), part(64, 64, 256)),
    one_sm("DRAM, one SM", 0, part(8 << 10, 1, 1), part(24 << 10, 1, 1)),
    all_sms("L2, all SMs", 264, 1, part(64, 256, 16), part(64, 256, 48)),
    all_sms("DRAM, all SMs", 264, 0, part(256, 512, 1), part(1024, 512, 1)),
];

/// Launches of a chase, of which the median counts: on a GPU lines may collide with what others left.
const CHASES: usize = 5;

/// What the device answers to the rung, in the rung's unit.
pub fn climb(bench: &Workbench, gpu: &Gpu, rung: &Rung) -> Result<f64, CommandError> {
    match rung.probe {
        Probe::Chase { lines, warm, hops } => {
            let inputs = [Input::Chain { lines, apart: LINE_WORDS }, Input::Out(2), Input::U32(warm), Input::U32(hops)];
            cycles_a_hop(bench, gpu, &case("chase", 1, 1), &inputs, hops)
        }
        Probe::ChaseShared { hops } => {
            cycles_a_hop(bench, gpu, &case("chase_shared", 1, 32), &[Input::Out(2), Input::U32(hops)], hops)
        }
        Probe::Read { blocks, threads, turn, less, more } => {
            let read = |part: Part| {
                let inputs = [
                    Input::Out(4 * part.fours * part.parts),
                    Input::Out(blocks * threads),
                    Input::U32(part.fours),
                    Input::U32(part.parts),
                    Input::U32(turn),
                    Input::U32(part.passes),
                ];
                let bytes = f64::from(blocks) * f64::from(part.fours) * 16.0 * f64::from(part.passes);
                Ok::<_, CommandError>((bytes, timed(bench, gpu, &case("read_global", blocks, threads), &inputs)?))
            };
            Ok(rate(bench, rung.unit, read(less)?, read(more)?))
        }
        Probe::ReadShared { passes } => {
            const THREADS: u32 = 1024;
            let read = |passes: u32| {
                let bytes = f64::from(THREADS) * 64.0 * f64::from(passes);
                let inputs = [Input::Out(THREADS), Input::U32(passes)];
                Ok::<_, CommandError>((bytes, timed(bench, gpu, &case("read_shared", 1, THREADS), &inputs)?))
            };
            Ok(rate(bench, rung.unit, read(passes)?, read(2 * passes)?))
        }
    }
}

fn case(kernel: &'static str, blocks: u32, threads: u32) -> Case {
    Case {
        kernel,
        size: "",
        class: Class::Memory,
        set: Set::Calibration,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared_bytes: 0,
        inputs: &[],
    }
}

fn timed(bench: &Workbench, gpu: &Gpu, case: &Case, inputs: &[Input]) -> Result<Time, CommandError> {
    let bound = bind(gpu, inputs)?;
    let _flushed = flush(bench, gpu)?;
    let report = launch(bench, gpu, case, bound.params, true)?;
    Ok(report.time().cloned().ok_or(GpuError::NoTime("a rung of the ladder ran without a clock"))?)
}

/// The median of some launches' own clocks, by hop.
fn cycles_a_hop(bench: &Workbench, gpu: &Gpu, case: &Case, inputs: &[Input], hops: u32) -> Result<f64, CommandError> {
    let bound = bind(gpu, inputs)?;
    let out = inputs.iter().filter(|input| !matches!(input, Input::U32(_))).position(|input| *input == Input::Out(2));
    let out = out.and_then(|index| bound.buffers.get(index)).ok_or(GpuError::NoReport)?;
    let mut found = Vec::new();
    // What is modelled is the same each time, and has a clock only where it is timed.
    let is_modelled = !gpu.measures();
    for _ in 0..if is_modelled { 1 } else { CHASES } {
        let _flushed = flush(bench, gpu)?;
        launch(bench, gpu, case, bound.params.clone(), is_modelled)?;
        let cycles = out.download()?.get(1).copied().unwrap_or_default();
        found.push(f64::from(cycles) / f64::from(hops));
    }
    found.sort_by(f64::total_cmp);
    Ok(quantile(&found, 0.5))
}

/// Bytes by time between two launches.
fn rate(bench: &Workbench, unit: Unit, (less_bytes, less): (f64, Time), (more_bytes, more): (f64, Time)) -> f64 {
    let bytes_per_us = (more_bytes - less_bytes) / (more.us() - less.us());
    match unit {
        Unit::GigabytesPerSecond => bytes_per_us / 1e3,
        Unit::Cycles | Unit::BytesPerCycle => bytes_per_us / clock_mhz(bench, &more),
    }
}

/// The SM's clock while the time was taken; the boost clock where that is not known.
fn clock_mhz(bench: &Workbench, time: &Time) -> f64 {
    match time {
        Time::Measured { clocks: Some(clocks), .. } => f64::from(clocks.sm_mhz_max),
        _ => f64::from(bench.device.boost_clock_mhz),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_a_latency_and_a_bandwidth() {
        for level in ["shared", "L1", "L2", "DRAM"] {
            let of = |unit| RUNGS.iter().any(|rung| rung.name.starts_with(level) && rung.unit == unit);
            assert!(of(Unit::Cycles) && of(Unit::BytesPerCycle), "{level}");
        }
    }

    #[test]
    fn a_launch_reads_whole_turns() {
        for rung in RUNGS {
            let Probe::Read { blocks, threads, turn, less, more } = rung.probe else { continue };
            for part in [less, more] {
                assert_eq!(part.fours % (4 * threads), 0, "{}", rung.name);
                assert!(part.parts.is_power_of_two(), "{}", rung.name);
                // What is to come from memory is read by one block alone.
                assert!(turn > 0 || blocks <= part.parts, "{}", rung.name);
            }
        }
    }
}
