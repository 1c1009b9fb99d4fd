//! What ptxas and the clock say: registers of three kernels, and what more resident warps are worth.

use warpwise_kernels::divergence::path_a;
use warpwise_kernels::occupancy::{HEAVY_TILE, ILP4_ELEMENTS, LIGHT_TILE, heavy, heavy_capped, ilp4, light};
use warpwise_kernels::vecadd::vecadd;
use warpwise_kernels::{maths, occupancy};
use warpwise_simt::isa::Isa;

use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, at_least, at_most, equal, greater_than, holds};
use crate::kernels::Resources;
use crate::lab::{Axis, LabContext, LabError, Mark, Plot, Table};
use crate::labs::counters::{LOCAL_LOAD_SECTORS, LOCAL_STORE_SECTORS, record};
use crate::labs::input::{Differences, differences, noise};

const SECTION: &str = "ch1 §9";
const LAB: &str = "ch1 §11, lab 1 B–D";
const NEEDS_SASS: &str = "needs SASS execution: PTX has no spills";

/// The architecture that the register counts are of.
const ARCH: &str = "sm_120";

/// Threads a block of the chapter's kernels.
const BLOCK: u32 = 256;

/// Threads a block where blocks are to be many, so that their number can be set in small steps.
const SMALL_BLOCK: u32 = 128;

/// Resident blocks as a share of the most: numerator and denominator.
const SHARES: [(u32, u32); 5] = [(1, 4), (1, 3), (1, 2), (3, 4), (1, 1)];

pub fn claims() -> Vec<Claim> {
    let recorded = |id, statement, relation| Claim::new(id, LAB, statement, relation).recorded();
    vec![
        recorded("light", "registers of light on sm_120", equal(22)),
        recorded("light_occupancy", "its occupancy, percent", equal(100)),
        recorded("heavy", "registers of heavy", equal(80)),
        recorded("heavy_occupancy", "its occupancy, percent", equal(50)),
        recorded("heavy_spills", "its spills, bytes a thread", equal(0)),
        recorded("capped", "registers of heavy_capped, the same code", equal(40)),
        recorded("capped_occupancy", "its occupancy, percent", equal(100)),
        recorded("capped_spills", "its spills, bytes a thread, out and in", greater_than(0.0)),
        Claim::new(
            "results",
            LAB,
            "each kernel equals the shared host function, bit for bit",
            holds("no element differs"),
        ),
        Claim::new("winner", LAB, "time of heavy_capped at full occupancy over heavy at half", greater_than(1.0)),
        Claim::new("spill_traffic", LAB, "local memory sectors of heavy_capped, which decide it", greater_than(0.0))
            .on_machine(),
        Claim::new(
            "warps_help",
            SECTION,
            "memory-bound: time at a quarter of the warps over that at all",
            at_least(1.2),
        ),
        Claim::new(
            "warps_saturate",
            SECTION,
            "memory-bound: time at three quarters of the warps over that at all",
            at_most(1.1),
        )
        .note("the bandwidth is full"),
        Claim::new(
            "ilp",
            SECTION,
            "time of four chains a thread at a quarter of the warps over one at all",
            at_most(1.02),
        )
        .note("both keep the pipes busy; what is left is how blocks start and end"),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    registers(cx)?;
    let gpu = cx.gpu()?;
    let wrong = tiles(cx, &gpu)?;
    memory_bound(cx, &gpu)?;
    let wrong = wrong.or(chains(cx, &gpu)?);
    let otherwise = wrong.map(|(kernel, differences)| format!("{kernel}: {differences}"));
    cx.holds("results", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

/// The three kernels as ptxas sees them on the chapter's architecture, whatever device the run is on.
fn registers(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let limits = warpwise_simt::device::Device::default_device();
    let shape = LaunchShape::linear(BLOCK, BLOCK);
    let spilled = |resources: &Resources| resources.spill_store_bytes + resources.spill_load_bytes;
    for (kernel, claim) in [(light.name, "light"), (heavy.name, "heavy"), (heavy_capped.name, "capped")] {
        let resources = cx.resources(kernel, ARCH)?;
        let occupancy = resources.occupancy(&limits.limits, shape)?;
        cx.found(claim, resources.registers.value());
        cx.found(&format!("{claim}_occupancy"), (100.0 * occupancy.theoretical()).round() as i64);
        if claim != "light" {
            cx.found(&format!("{claim}_spills"), spilled(&resources));
        }
    }
    Ok(())
}

type Wrong = Option<(&'static str, Differences)>;

fn wrong(kernel: &'static str, differences: Differences) -> Wrong {
    (!differences.none()).then_some((kernel, differences))
}

/// The tiled kernels, a few steps each.
fn tiles(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Wrong, LabError> {
    const STEPS: u32 = 16;
    let n = gpu.device().sm_count * BLOCK;
    let shape = LaunchShape::linear(n, BLOCK);
    let values = HEAVY_TILE.0 + HEAVY_TILE.1;
    let x = noise(values as u32 * n, 8);
    let device_x = gpu.upload(&x)?;
    let mut wrong_result = None;
    let mut reports = Vec::new();
    let cases = [
        (&light, expected::<{ LIGHT_TILE.0 }, { LIGHT_TILE.1 }> as fn(&[f32], u32, u32) -> Vec<f32>),
        (&heavy, expected::<{ HEAVY_TILE.0 }, { HEAVY_TILE.1 }>),
        (&heavy_capped, expected::<{ HEAVY_TILE.0 }, { HEAVY_TILE.1 }>),
    ];
    for (kernel, expected) in cases {
        let y = gpu.zeros::<f32>(n as usize)?;
        reports.push(cx.measure(gpu, kernel, "", shape, (device_x.ptr(), y.ptr(), n, STEPS))?);
        wrong_result = wrong_result.or(wrong(kernel.name, differences(&y.download()?, expected(&x, n, STEPS))));
    }
    let [_, uncapped, capped] = &reports[..] else { return Ok(wrong_result) };
    record(
        cx,
        "winner",
        us(capped).zip(us(uncapped)).map(|(capped, uncapped)| capped / uncapped).ok_or_else(needs_sass),
    );
    let traffic = capped.counters.as_ref().filter(|counters| counters.isa == Isa::Sass).map(|counters| {
        let sectors = |name| counters.get(name).unwrap_or(0.0);
        sectors(LOCAL_LOAD_SECTORS) + sectors(LOCAL_STORE_SECTORS)
    });
    record(cx, "spill_traffic", traffic.ok_or_else(needs_sass));
    Ok(wrong_result)
}

fn needs_sass() -> String {
    NEEDS_SASS.to_owned()
}

/// What the host makes of a tiled kernel's input.
fn expected<const ROWS: usize, const COLUMNS: usize>(x: &[f32], n: u32, steps: u32) -> Vec<f32> {
    let element = |k: usize, i: usize| x[k * n as usize + i];
    let thread = |i| {
        let column = std::array::from_fn::<f32, ROWS, _>(|k| element(k, i));
        let row = std::array::from_fn::<f32, COLUMNS, _>(|k| element(ROWS + k, i));
        maths::outer_products(column, row, steps)
    };
    (0..n as usize).map(thread).collect()
}

/// `vecadd` with fewer and fewer resident blocks: shared memory that it does not use keeps the others out.
fn memory_bound(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let full = gpu.device().limits.max_threads_per_sm * gpu.device().sm_count;
    let n = if gpu.measures() { 1 << 26 } else { 4 * full };
    let resources = cx.resources(vecadd.name, &gpu.device().arch)?;
    let mut points = Vec::new();
    for share in SHARES {
        let Some(shape) = crowded(&resources, gpu, LaunchShape::linear(n, SMALL_BLOCK), share)? else { continue };
        // A context of its own and arrays that nobody wrote: nothing of them is in L2.
        let cold = cx.gpu()?;
        let [a, b, c] = [(); 3].map(|()| cold.uninitialised::<f32>(n as usize));
        let (a, b, c) = (a?, b?, c?);
        let occupancy = resources.occupancy(gpu.device().limits, shape)?.theoretical();
        let variant = format!("at {}", crate::claim::format::percent(occupancy));
        let report = cx.measure(&cold, &vecadd, &variant, shape, (a.ptr(), b.ptr(), c.ptr(), n))?;
        points.extend(us(&report).map(|us| (100.0 * occupancy, us)));
    }
    let time_at = |percent: f64| points.iter().find(|(at, _)| (at - percent).abs() < 1.0).map(|(_, us)| *us);
    let over_full = |percent| {
        let times = time_at(percent).zip(time_at(100.0));
        times.map(|(some, full)| some / full).ok_or_else(|| format!("no time at {percent}% and at full occupancy"))
    };
    record(cx, "warps_help", over_full(25.0));
    record(cx, "warps_saturate", over_full(75.0));
    let source = gpu.time_source();
    let [time, rate] = [format!("µs, {source}"), format!("GB/s, {source}")];
    let mut table = Table::new("memory-bound: vecadd by occupancy", ["occupancy", &time, &rate]);
    for (percent, us) in &points {
        let bytes = 3.0 * 4.0 * f64::from(n);
        table.row([format!("{percent:.0}%").into(), (*us).into(), (bytes / us / 1000.0).into()]);
    }
    cx.table(table);
    let (x, y) = (Axis::linear("occupancy (%)"), Axis::linear(time));
    cx.plot(Plot::new("vecadd: more warps help until the bandwidth is full", x, y).series(
        "vecadd",
        Mark::Line,
        points,
    ));
    Ok(())
}

/// The shape with so much dynamic shared memory that only a share of the blocks that would fit do. `None` where a block may
/// not have that much without opting in.
fn crowded(
    resources: &Resources,
    gpu: &Gpu,
    shape: LaunchShape,
    share: (u32, u32),
) -> Result<Option<LaunchShape>, LabError> {
    let limits = gpu.device().limits;
    let blocks = resources.occupancy(limits, shape)?.blocks_per_sm as u32 * share.0 / share.1;
    if share.0 == share.1 {
        return Ok(Some(shape));
    }
    let granularity = limits.shared_granularity_bytes;
    let a_block = limits.shared_per_sm_bytes / blocks.max(1) / granularity * granularity;
    let bytes = a_block - limits.shared_reserved_per_block_bytes;
    Ok((bytes <= limits.shared_per_block_bytes).then(|| shape.with_dynamic_shared(bytes)))
}

/// The same elements, one a thread with all warps resident, or four a thread with a quarter of them.
fn chains(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Wrong, LabError> {
    const STEPS: u32 = 256;
    let device = gpu.device();
    let elements = device.sm_count * device.limits.max_threads_per_sm;
    let threads = elements / occupancy::ILP4_ELEMENTS as u32;
    let x = noise(elements, 9);
    let device_x = gpu.upload(&x)?;
    let expected: Vec<f32> = x.iter().map(|&x| maths::path_a(x, STEPS)).collect();

    let y = gpu.zeros::<f32>(x.len())?;
    let full = LaunchShape::linear(elements, SMALL_BLOCK);
    let one = cx.measure(gpu, &path_a, "1 chain, full", full, (device_x.ptr(), y.ptr(), elements, STEPS))?;
    let first = wrong(path_a.name, differences(&y.download()?, expected.iter().copied()));

    let y = gpu.zeros::<f32>(x.len())?;
    let resources = cx.resources(ilp4.name, &device.arch)?;
    let quarter = crowded(&resources, gpu, LaunchShape::linear(threads, SMALL_BLOCK), (1, ILP4_ELEMENTS as u32))?;
    let Some(quarter) = quarter else {
        cx.not_run("ilp", "a block of this device may not have enough shared memory to keep the others out");
        return Ok(first);
    };
    let four = cx.measure(gpu, &ilp4, "4 chains, quarter", quarter, (device_x.ptr(), y.ptr(), threads, STEPS))?;
    let second = wrong(ilp4.name, differences(&y.download()?, expected));
    let ratio = us(&four).zip(us(&one)).map(|(four, one)| four / one);
    record(cx, "ilp", ratio.ok_or_else(|| "there is no time".to_owned()));
    Ok(first.or(second))
}

fn us(report: &LaunchReport) -> Option<f64> {
    report.time().map(|time| time.us())
}
