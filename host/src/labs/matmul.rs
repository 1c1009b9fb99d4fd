//! `matmul`: how does reuse pay?

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::maths;
use warpwise_kernels::matmul::{TILE, TILE_16, matmul_naive, matmul_tiled, matmul_tiled_16};
use warpwise_kernels::matmul_register::{self as register, matmul_register};

use super::counters::{
    DRAM_READ_BYTES, FFMA, INSTRUCTIONS, LOAD_REQUESTS, LOAD_SECTORS, THREAD_INSTRUCTIONS, WARPS, counter, ratio,
    record, time_ratio, us,
};
use super::input::noise;
use super::roof::Roof;
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchReport, LaunchShape};
use crate::claim::{Claim, Value, at_least, at_most, equal, greater_than, holds, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "matmul",
    chapter: 3,
    sections: "ch3 §5",
    question: "how does reuse pay?",
    kernels: &["matmul_naive", "matmul_tiled_16", "matmul_tiled", "matmul_register"],
    text: include_str!("../../../docs/labs/matmul.md"),
    claims,
    run,
};

const SECTION: &str = "ch3 §5";
/// Rows of the matrices that are checked whole and counted, and of those that are timed on a GPU.
const SMALL: u32 = 256;
const LARGE_GPU: u32 = 4096;
/// Rows of those that come from DRAM.
const COLD: u32 = 128;
const SECTOR_BYTES: f64 = 32.0;

type Args = (DevicePtr<f32>, DevicePtr<f32>, DevicePtr<f32>, u32);

/// A kernel, the rows and columns of the product that a block computes together, and the block's shape. `reuse` is how many threads or sums
/// a value that was loaded once serves.
struct Form {
    kernel: &'static Kernel<Args>,
    tile: u32,
    block: [u32; 3],
    reuse: u32,
}

/// The naive one in the blocks of the chapter's tiled one, so that the same warps are compared.
static FORMS: [Form; 4] = [
    Form { kernel: &matmul_naive, tile: TILE_16, block: [TILE_16, TILE_16, 1], reuse: 1 },
    Form { kernel: &matmul_tiled_16, tile: TILE_16, block: [TILE_16, TILE_16, 1], reuse: TILE_16 },
    Form { kernel: &matmul_tiled, tile: TILE, block: [TILE, TILE, 1], reuse: TILE },
    Form {
        kernel: &matmul_register,
        tile: register::TILE,
        block: [register::BLOCK_THREADS, 1, 1],
        reuse: register::TILE,
    },
];

impl Form {
    fn shape(&self, n: u32) -> LaunchShape {
        LaunchShape::new([n / self.tile, n / self.tile, 1], self.block)
    }
}

fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_machine();
    let gpu = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_gpu();
    vec![
        Claim::new(
            "results",
            SECTION,
            "each product equals the host function's, bit for bit",
            holds("no element differs"),
        ),
        machine("loads", "loads a thread, naive over tiles of 16: how often they fall", equal(16)),
        machine("sectors", "sectors loaded, naive over tiles of 16: how often they fall", equal(8))
            .note("a warp covers two rows of 16, whose loads of b it shared before; the chapter's 16 is the loads'"),
        machine("naive_sectors", "naive: sectors that a warp loads in 16 steps", equal(64)),
        machine("tiled_sectors", "tiles of 16: sectors that a warp loads in 16 steps", equal(8)),
        machine("intensity_naive", "naive: operations for each byte that its warps load", equal(0.5)),
        machine("intensity_16", "tiles of 16", equal(4)),
        machine("intensity_32", "tiles of 32", equal(8)),
        machine("intensity_128", "blocks of 128, sums in registers", equal(32)),
        machine("least", "naive: bytes read from DRAM over those of the two matrices", near(1.0, 0.1))
            .note("caches serve the rest: fewer than a count of references in the source says"),
        machine("multiply_adds", "sums in registers: multiply-adds among its instructions", at_least(0.8)),
        machine("multiply_adds_tiled", "tiles of 16: multiply-adds among its instructions", at_most(0.5)),
        Claim::new("tiled_time", SECTION, "time of naive over tiles of 16", greater_than(1.0)).needs_sass(),
        gpu("block_time", "at 4,096: time of tiles of 16 over tiles of 32", greater_than(1.0)),
        gpu("register_time", "at 4,096: time of tiles of 32 over sums in registers", at_least(3.0)),
        gpu("register_rate", "at 4,096: sums in registers, share of the rate of multiply-adds", at_least(0.6)),
        gpu("naive_rate", "at 4,096: naive, share of the rate of multiply-adds", at_most(0.15)).note(
            "its 683 operations a byte of the matrices are far right of the ridge; what holds it down is L1, not DRAM",
        ),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let small = Product::new(&gpu, SMALL)?;
    let reports = small.measure(cx)?;
    let wrong = small.first_wrong(0..SMALL * SMALL)?;
    counted(cx, &reports);
    cold(cx)?;
    let (timed, n, wrong) = match gpu.measures() {
        false => (reports, SMALL, wrong),
        true => {
            let large = Product::new(&gpu, LARGE_GPU)?;
            let reports = large.measure(cx)?;
            // All elements would keep the host busy for a minute: a few hundred in all parts of the matrix.
            let some = (0..512).map(|k| (k * 2_654_435_761_u64 % u64::from(LARGE_GPU * LARGE_GPU)) as u32);
            let wrong = wrong.or(large.first_wrong(some)?);
            (reports, LARGE_GPU, wrong)
        }
    };
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    times(cx, &gpu, &timed, n)
}

/// Two matrices and the products of all kernels.
struct Product<'a> {
    gpu: &'a Gpu,
    n: u32,
    a: Vec<f32>,
    b: Vec<f32>,
    device_a: DeviceBuffer<f32>,
    device_b: DeviceBuffer<f32>,
    products: Vec<DeviceBuffer<f32>>,
}

impl<'a> Product<'a> {
    fn new(gpu: &'a Gpu, n: u32) -> Result<Self, GpuError> {
        let (a, b) = (noise(n * n, 1), noise(n * n, 2));
        let (device_a, device_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
        let products = FORMS.iter().map(|_| gpu.zeros((n * n) as usize)).collect::<Result<_, _>>()?;
        Ok(Self { gpu, n, a, b, device_a, device_b, products })
    }

    fn measure(&self, cx: &mut LabContext<'_>) -> Result<Vec<LaunchReport>, LabError> {
        let n = self.n;
        let case = |(form, c): (&Form, &DeviceBuffer<f32>)| {
            let args = (self.device_a.ptr(), self.device_b.ptr(), c.ptr(), n);
            let least = 3 * 4 * u64::from(n) * u64::from(n);
            Case::new(form.kernel, format!("{n}³"), form.shape(n), args).moving(least)
        };
        cx.measure_in_turn(self.gpu, FORMS.iter().zip(&self.products).map(case).collect())
    }

    /// The first of these elements that a kernel got wrong.
    fn first_wrong(&self, elements: impl Iterator<Item = u32> + Clone) -> Result<Option<String>, LabError> {
        let n = self.n;
        let (a, b) = (&self.a, &self.b);
        let expected = |i: u32| {
            let (row, column) = (i / n * n, i % n);
            maths::dot(|k| a[(row + k) as usize], |k| b[(k * n + column) as usize], n, 0.0)
        };
        let expected: Vec<(u32, f32)> = elements.map(|i| (i, expected(i))).collect();
        for (form, product) in FORMS.iter().zip(&self.products) {
            let found = product.download()?;
            let wrong = expected.iter().find(|(i, expected)| found[*i as usize].to_bits() != expected.to_bits());
            if let Some((i, expected)) = wrong {
                let found = found[*i as usize];
                let kernel = form.kernel.name;
                return Ok(Some(format!("{kernel} at {n}: element {i} is {found:e} instead of {expected:e}")));
            }
        }
        Ok(None)
    }
}

fn flops(n: u32) -> f64 {
    2.0 * f64::from(n).powi(3)
}

/// What the machine counted of the small matrices.
fn counted(cx: &mut LabContext<'_>, reports: &[LaunchReport]) {
    let [naive, tiled, _, in_registers] = reports else { return };
    let falls = |name| Ok(counter(naive, name)? / counter(tiled, name)?);
    record(cx, "loads", falls(LOAD_REQUESTS));
    record(cx, "sectors", falls(LOAD_SECTORS));
    let steps = f64::from(SMALL / TILE_16);
    for (claim, report) in [("naive_sectors", naive), ("tiled_sectors", tiled)] {
        record(cx, claim, ratio(report, LOAD_SECTORS, WARPS).map(|sectors| sectors / steps));
    }
    let intensity = |report| Ok(flops(SMALL) / (SECTOR_BYTES * counter(report, LOAD_SECTORS)?));
    for (claim, report) in ["intensity_naive", "intensity_16", "intensity_32", "intensity_128"].into_iter().zip(reports)
    {
        record(cx, claim, intensity(report));
    }
    for (claim, report) in [("multiply_adds", in_registers), ("multiply_adds_tiled", tiled)] {
        record(cx, claim, ratio(report, FFMA, THREAD_INSTRUCTIONS));
    }
    let columns = [
        "kernel",
        "reuse",
        "loads, a warp and 16 steps",
        "sectors, the same",
        "operations a byte loaded",
        "multiply-adds, of all instructions",
        "instructions",
    ];
    let mut table = Table::new(format!("{SMALL} × {SMALL}: what is loaded for the same product"), columns);
    let warps = f64::from(SMALL * SMALL / 32) * steps;
    for (form, report) in FORMS.iter().zip(reports) {
        let cell = |value: Result<f64, String>| value.map_or_else(|_| Value::from("–"), Value::from);
        table.row([
            form.kernel.name.into(),
            form.reuse.into(),
            cell(counter(report, LOAD_REQUESTS).map(|requests| requests / warps)),
            cell(counter(report, LOAD_SECTORS).map(|sectors| sectors / warps)),
            cell(intensity(report)),
            cell(ratio(report, FFMA, THREAD_INSTRUCTIONS)),
            cell(counter(report, INSTRUCTIONS)),
        ]);
    }
    cx.table(table);
}

/// The naive product with nothing in L2 before: in a context of its own, of matrices that nobody wrote.
fn cold(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let matrix = || gpu.uninitialised::<f32>((COLD * COLD) as usize);
    let (a, b, c) = (matrix()?, matrix()?, matrix()?);
    let naive = &FORMS[0];
    let registers = cx.resources(naive.kernel.name, &gpu.device().arch)?.registers.value();
    let args = (a.ptr(), b.ptr(), c.ptr(), COLD);
    if gpu.measures() {
        cx.not_run("least", "needs counters, which this backend does not give");
        return Ok(());
    }
    let report = gpu.profile(naive.kernel, naive.shape(COLD), Some(registers), args)?;
    let matrices = f64::from(2 * 4 * COLD * COLD);
    record(cx, "least", counter(&report, DRAM_READ_BYTES).map(|bytes| bytes / matrices));
    Ok(())
}

/// Times, and where they put the kernels under the roof.
fn times(cx: &mut LabContext<'_>, gpu: &Gpu, reports: &[LaunchReport], n: u32) -> Result<(), LabError> {
    let [naive, tiled, wide, in_registers] = reports else {
        return Err(LabError::Other(format!("{} launches were measured, not 4", reports.len())));
    };
    record(cx, "tiled_time", time_ratio(naive, tiled));
    record(cx, "block_time", time_ratio(tiled, wide));
    record(cx, "register_time", time_ratio(wide, in_registers));
    let ceilings = cx.ceilings()?;
    for (claim, report) in [("register_rate", in_registers), ("naive_rate", naive)] {
        match report.time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
            Some(time) => cx.found(claim, ceilings.share_of_fma(flops(n), time)),
            None => cx.not_run(claim, "needs a GPU"),
        }
    }
    let roof = Roof::of(ceilings);
    let source = gpu.time_source();
    let (time, rate) = (format!("µs, {source}"), format!("GFLOP/s, {source}"));
    let mut table =
        Table::new(format!("{n} × {n}: time"), ["kernel", "reuse", &time, &rate, "of the multiply-add rate"]);
    let mut plot = roof.plot(&format!("Matrix products under the roof, {n} × {n}"), "operations a byte loaded", source);
    let mut by_reuse = Vec::new();
    for (form, report) in FORMS.iter().zip(reports) {
        let Ok(us) = us(report) else { continue };
        let gflops = flops(n) / us / 1e3;
        let share = crate::claim::format::percent(gflops / roof.gflops);
        table.row([form.kernel.name.into(), form.reuse.into(), us.into(), gflops.into(), share.into()]);
        // Two operations for two floats of which each serves so many sums; the naive one shares b between the rows of a warp.
        let intensity = if form.reuse == 1 { 0.5 } else { f64::from(form.reuse) / 4.0 };
        plot = plot.series(form.kernel.name, Mark::Points, [(intensity, gflops)]);
        by_reuse.push((f64::from(form.reuse), gflops));
    }
    cx.table(table);
    cx.plot(plot);
    let (x, y) = (Axis::log("sums that a loaded value serves"), Axis::linear(rate));
    cx.plot(Plot::new("What block size does to reuse", x, y).series("products", Mark::Line, by_reuse));
    Ok(())
}
