//! How long a load takes that the next one waits for, by how much memory is walked through.
//!
//! One thread follows a chain through lines of 128 bytes in an order of chance; the SM's clock is read before and after. It walks through
//! all lines once before the clock starts, so what is measured is where lines stay, not where they come from the first time: in a chain
//! longer than L2 each has been evicted before its turn comes again.

use warpwise_kernels::calibration::{chase, chase_shared};
use warpwise_simt::device::Device;

use super::SECTION;
use crate::backend::{Gpu, LaunchShape};
use crate::claim::format::{integer, real};
use crate::claim::{Claim, at_least, between, holds, less_than};
use crate::lab::{Axis, LabContext, LabError, Mark, Plot, Table};
use crate::random::{Random, generator};

pub const LINE_BYTES: u64 = 128;
const LINE_WORDS: u32 = 32;

/// Hops that are timed.
const HOPS: u32 = 2_048;

/// Footprints that lie in L1 or a little beyond; KiB.
const SMALL_KIB: [u64; 15] = [4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256];

/// Footprints around L2, in sixteenths of it: on the machine, and on a GPU, whose L2 does not evict the oldest line first and so holds
/// some of a chain that is a little too long.
const L2_SIXTEENTHS_MACHINE: [u64; 4] = [1, 4, 9, 18];
const L2_SIXTEENTHS_GPU: [u64; 4] = [1, 4, 12, 40];

/// Dynamic shared memory of a block that the L1 is looked at with: the driver sets aside what all blocks need that an SM holds.
const SHARED_BYTES: [u32; 3] = [0, 1_536, 16_384];

/// Where a line is found at the latest that is no longer in L1, as a multiple of what L1 takes.
const BEYOND_L1: f64 = 1.5;

pub fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "levels",
            SECTION,
            "each level is slower than the one before: shared, L1, L2, memory",
            holds("it is"),
        ),
        Claim::new("l1", SECTION, "a load that L1 has, over one from shared memory", between(0.8, 2.0)),
        Claim::new("l2", SECTION, "a load that L2 has, over one that L1 has", at_least(4.0)),
        Claim::new("dram", SECTION, "a load from memory, over one that the near half of L2 has", at_least(1.5)),
        Claim::new("hundreds", SECTION, "cycles until a load from memory is there", between(300.0, 1_000.0)),
        Claim::new(
            "far",
            SECTION,
            "a load from far within L2, over a near one, where L2 has two halves",
            at_least(1.3),
        ),
        Claim::new("one_half", SECTION, "the same where L2 is one: share more", less_than(0.1)),
        Claim::new(
            "carveout",
            SECTION,
            "largest footprint that L1 holds, more shared memory over none",
            less_than(0.75),
        ),
        Claim::new("carveout_each", SECTION, "each larger carve-out leaves a smaller L1", holds("it does")),
        Claim::new(
            "carveout_size",
            SECTION,
            "what L1 holds is at most what the carve-out leaves, and at least half of it",
            holds("it is"),
        ),
    ]
}

/// Latencies of the levels, in cycles.
struct Levels {
    shared: f64,
    l1: f64,
    near: f64,
    far: f64,
    dram: f64,
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let device = cx.device();
    let shared = through_shared(gpu)?;
    let mut curve = Vec::new();
    for kib in SMALL_KIB {
        curve.push((kib << 10, through(gpu, kib << 10, 0)?));
    }
    for sixteenths in if gpu.measures() { L2_SIXTEENTHS_GPU } else { L2_SIXTEENTHS_MACHINE } {
        cx.progress("chase");
        let bytes = device.l2_bytes / 16 * sixteenths;
        curve.push((bytes, through(gpu, bytes, 0)?));
    }
    let [.., near, _, far, dram] = curve[..] else {
        return Err(LabError::Other("the curve is too short".to_owned()));
    };
    let levels = Levels { shared, l1: curve[2].1, near: near.1, far: far.1, dram: dram.1 };
    judge(cx, device, &levels);
    table(cx, gpu, &levels);
    let mut plot = Plot::new("latency by footprint", Axis::log("bytes walked through"), Axis::linear("cycles a hop"));
    let points = |curve: &[(u64, f64)]| -> Vec<(f64, f64)> {
        curve.iter().map(|(bytes, cycles)| (*bytes as f64, *cycles)).collect()
    };
    plot = plot.series("no shared memory", Mark::Line, points(&curve));
    let held = carveouts(cx, gpu, &levels, &curve)?;
    for (shared_bytes, curve) in held {
        plot = plot.series(
            format!("{} B of shared memory a block", integer(shared_bytes.into())),
            Mark::Line,
            points(&curve),
        );
    }
    cx.plot(plot);
    Ok(())
}

fn judge(cx: &mut LabContext<'_>, device: &Device, levels: &Levels) {
    let Levels { shared, l1, near, far, dram } = *levels;
    let found = format!("{} {} {} {} {}", real(shared), real(l1), real(near), real(far), real(dram));
    // In L1 and shared memory lie in the same array: one may be a little sooner than the other.
    cx.holds("levels", shared < 1.05 * l1 && l1 < near && near <= 1.1 * far && far < dram, found);
    cx.found("l1", l1 / shared);
    cx.found("l2", near / l1);
    cx.found("dram", dram / near);
    cx.found("hundreds", dram);
    let two = device.parameters.l2_partitions > 1.0;
    let (applies, other) = if two { ("far", "one_half") } else { ("one_half", "far") };
    cx.found(applies, if two { far / near } else { far / near - 1.0 });
    cx.not_run(other, format!("the L2 of the {} has {}", device.name, if two { "two halves" } else { "one part" }));
}

fn table(cx: &mut LabContext<'_>, gpu: &Gpu, levels: &Levels) {
    let source = gpu.time_source();
    let mut table = Table::new(format!("a load that the next one waits for, {source}"), ["found in", "cycles", "ns"]);
    let mhz = f64::from(cx.device().boost_clock_mhz);
    let Levels { shared, l1, near, far, dram } = *levels;
    for (name, cycles) in
        [("shared memory", shared), ("L1", l1), ("L2, near", near), ("L2, more than half full", far), ("memory", dram)]
    {
        table.row([name.into(), real(cycles).into(), real(cycles / mhz * 1e3).into()]);
    }
    cx.table(table);
}

/// Where L1 ends, by the shared memory of a block; the curves with more than none.
#[allow(clippy::type_complexity)]
fn carveouts(
    cx: &mut LabContext<'_>,
    gpu: &Gpu,
    levels: &Levels,
    without: &[(u64, f64)],
) -> Result<Vec<(u32, Vec<(u64, f64)>)>, LabError> {
    let columns = ["shared memory a block", "blocks an SM", "carve-out", "L1", "largest footprint at L1's latency"];
    let mut table = Table::new("what the carve-out leaves to L1", columns);
    let mut curves = Vec::new();
    let mut ends = Vec::new();
    let mut exact = None;
    for shared_bytes in SHARED_BYTES {
        let mut curve = Vec::new();
        for kib in SMALL_KIB {
            let known = without.iter().find(|(bytes, _)| shared_bytes == 0 && *bytes == kib << 10);
            let cycles = known.map_or_else(|| through(gpu, kib << 10, shared_bytes), |(_, cycles)| Ok(*cycles))?;
            curve.push((kib << 10, cycles));
        }
        let end = curve
            .iter()
            .take_while(|(_, cycles)| *cycles < BEYOND_L1 * levels.l1)
            .last()
            .map_or(0, |(bytes, _)| *bytes);
        let (blocks, carveout) = carveout(cx, gpu, shared_bytes)?;
        let left = u64::from(gpu.device().limits.l1_and_shared_bytes).saturating_sub(carveout);
        if end > left || 2 * end < left {
            exact.get_or_insert(format!("{left} bytes are left, and {end} are held"));
        }
        let kib = |bytes: u64| format!("{} KiB", real(bytes as f64 / 1024.0));
        table.row([
            format!("{} B", integer(shared_bytes.into())).into(),
            blocks.into(),
            kib(carveout).into(),
            kib(left).into(),
            kib(end).into(),
        ]);
        ends.push(end);
        if shared_bytes > 0 {
            curves.push((shared_bytes, curve));
        }
    }
    cx.table(table);
    if let [first, .., last] = ends[..] {
        cx.found("carveout", last as f64 / first as f64);
    }
    cx.holds("carveout_each", ends.windows(2).all(|pair| pair[1] < pair[0]), format!("{ends:?} bytes"));
    cx.holds("carveout_size", exact.is_none(), exact.unwrap_or_default());
    Ok(curves)
}

/// Blocks that an SM holds, and the smallest carve-out with room for all of them.
fn carveout(cx: &LabContext<'_>, gpu: &Gpu, shared_bytes: u32) -> Result<(i64, u64), LabError> {
    let limits = gpu.device().limits;
    let resources = cx.resources(chase.name, &gpu.device().arch)?;
    let shape = LaunchShape::linear(1, 1).with_dynamic_shared(shared_bytes);
    let blocks = resources.occupancy(limits, shape)?.blocks_per_sm;
    let granularity = limits.shared_granularity_bytes;
    let a_block = u64::from((shared_bytes + limits.shared_reserved_per_block_bytes).next_multiple_of(granularity));
    let needed = blocks as u64 * a_block;
    let sizes = limits.shared_carveouts_bytes.iter().map(|bytes| u64::from(*bytes));
    let fits = sizes.clone().find(|bytes| *bytes >= needed).or(sizes.max()).unwrap_or(0);
    Ok((blocks, fits))
}

/// Cycles a hop through so many bytes, after all of them were walked through once.
pub fn through(gpu: &Gpu, bytes: u64, shared_bytes: u32) -> Result<f64, LabError> {
    let lines = (bytes / LINE_BYTES) as u32;
    let (next, out) = (gpu.upload(&chain(lines))?, gpu.zeros::<u32>(2)?);
    let shape = LaunchShape::linear(1, 1).with_dynamic_shared(shared_bytes);
    launch(gpu, &chase, shape, (next.ptr(), out.ptr(), lines, HOPS))?;
    cycles_a_hop(&out.download()?)
}

/// Cycles a hop through shared memory.
pub fn through_shared(gpu: &Gpu) -> Result<f64, LabError> {
    let out = gpu.zeros::<u32>(2)?;
    launch(gpu, &chase_shared, LaunchShape::linear(32, 32), (out.ptr(), HOPS))?;
    cycles_a_hop(&out.download()?)
}

/// On a GPU once, since the kernel reads the clock itself; on the machine under the cycle model, without which there is no clock.
fn launch<A: cuda_std::host::KernelArgs>(
    gpu: &Gpu,
    kernel: &cuda_std::host::Kernel<A>,
    shape: LaunchShape,
    args: A,
) -> Result<(), LabError> {
    match gpu.measures() {
        true => gpu.launch_shaped(kernel, shape, args).map(drop)?,
        false => gpu.profile(kernel, shape, None, args).map(drop)?,
    }
    Ok(())
}

fn cycles_a_hop(out: &[u32]) -> Result<f64, LabError> {
    let cycles = out.get(1).copied().ok_or_else(|| LabError::Other("the chase has no result".to_owned()))?;
    Ok(f64::from(cycles) / f64::from(HOPS))
}

/// A cycle through all lines in an order of chance: the first word of each has the index of the next line's.
fn chain(lines: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (1..lines).collect();
    let mut random = generator(u64::from(lines));
    for place in (1..order.len()).rev() {
        order.swap(place, random.random_range(0..=place));
    }
    let mut next = vec![0; (lines * LINE_WORDS) as usize];
    let mut at = 0;
    for line in order {
        next[at as usize] = line * LINE_WORDS;
        at = line * LINE_WORDS;
    }
    next
}
