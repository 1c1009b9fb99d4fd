//! A matrix times one vector, four and sixteen, and times a matrix: what a language model does with its weights when it writes one word
//! after the other (decode) and when it reads many at once (prefill).

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::gemv::{ROWS, gemm_4, gemm_16, gemv};
use warpwise_kernels::matmul_register::{BLOCK_THREADS, TILE, matmul_register};

use crate::backend::{DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, Value, at_least, at_most, holds, near};
use crate::lab::{Case, LabContext, LabError, Mark, Table};
use crate::labs::counters::{FFMA, counter, record, time_ratio, us};
use crate::labs::input::noise;
use crate::labs::roof::Roof;

const SECTION: &str = "ch3 §6";
type Args = (DevicePtr<f32>, DevicePtr<f32>, DevicePtr<f32>, u32, u32);

/// Vectors at once, and the kernel.
static BATCHES: [(u32, &Kernel<Args>); 3] = [(1, &gemv), (4, &gemm_4), (16, &gemm_16)];

/// Rows and columns of the matrix; on the machine small enough for seconds, with blocks for every SM.
const GPU_SHAPE: (u32, u32) = (16_384, 16_384);
const MACHINE_SHAPE: (u32, u32) = (2_048, 1_024);
const BLOCK: u32 = 128;
/// Rows of the matrices of the prefill.
const GPU_N: u32 = 4_096;
const MACHINE_N: u32 = 256;

pub fn claims() -> Vec<Claim> {
    let mut claims = Vec::new();
    for (batch, kernel) in BATCHES {
        let statement = format!("{}: operations a byte, matrix times {batch}", kernel.name);
        // Vectors and results are bytes, too: at the machine's size two percent for sixteen of them.
        claims.push(
            Claim::new(format!("batch_{batch}"), SECTION, statement, near(f64::from(batch) / 2.0, 0.04))
                .note("half the batch: two operations a vector for the four bytes of a weight"),
        );
    }
    claims.extend([
        Claim::new(
            "batch_results",
            SECTION,
            "each product of a batch equals that of its vector alone, bit for bit",
            holds("no element differs"),
        ),
        Claim::new(
            "batch_counted",
            SECTION,
            "multiply-adds counted, over rows times columns times vectors, all three together",
            near(1.0, 1e-9),
        )
        .on_machine(),
        Claim::new("decode", SECTION, "one vector is left of the ridge", holds("it is")),
        Claim::new("four_for_one", SECTION, "time of four vectors over that of one", at_most(1.3))
            .note("the matrix is read once for all four, and reading it is what takes the time"),
        Claim::new("decode_bandwidth", SECTION, "gemv: share of the fastest copy's bandwidth", at_least(0.9)).on_gpu(),
        Claim::new("prefill", SECTION, "a product of two matrices of 4,096 rows is right of the ridge", holds("it is")),
        Claim::new(
            "prefill_rate",
            SECTION,
            "matmul_register at 4,096: share of the rate of multiply-adds",
            at_least(0.6),
        )
        .on_gpu(),
    ]);
    claims
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let (rows, columns) = if gpu.measures() { GPU_SHAPE } else { MACHINE_SHAPE };
    let reports = decode(cx, gpu, rows, columns)?;
    let prefill = prefill(cx, gpu)?;
    under_the_roof(cx, gpu, (rows, columns), &reports, &prefill)
}

/// Bytes that have to move: the matrix, the vectors and the results.
fn bytes(rows: u32, columns: u32, batch: u32) -> f64 {
    let [rows, columns, batch] = [rows, columns, batch].map(f64::from);
    4.0 * (rows * columns + batch * (rows + columns))
}

fn flops(rows: u32, columns: u32, batch: u32) -> f64 {
    2.0 * f64::from(rows) * f64::from(columns) * f64::from(batch)
}

/// The same matrix times more and more vectors.
fn decode(cx: &mut LabContext<'_>, gpu: &Gpu, rows: u32, columns: u32) -> Result<Vec<LaunchReport>, LabError> {
    let matrix = gpu.upload(&repeated(rows as usize * columns as usize, 1))?;
    let vectors = gpu.upload(&noise(16 * columns, 2))?;
    let results = BATCHES.iter().map(|(batch, _)| gpu.zeros((rows * batch) as usize)).collect::<Result<Vec<_>, _>>()?;
    let shape = LaunchShape::linear(rows / ROWS * 32, BLOCK);
    let case = |((batch, kernel), y): (&(u32, &Kernel<Args>), &DeviceBuffer<f32>)| {
        let args = (matrix.ptr(), vectors.ptr(), y.ptr(), rows, columns);
        let least = bytes(rows, columns, *batch) as u64;
        Case::new(kernel, format!("{rows} × {columns}"), shape, args).moving(least)
    };
    let reports = cx.measure_in_turn(gpu, BATCHES.iter().zip(&results).map(case).collect())?;
    let results = results.iter().map(DeviceBuffer::download).collect::<Result<Vec<_>, _>>()?;
    // The order of additions is the same in all three; what one vector gives is held to the host by the kernels' own tests.
    let one = &results[0];
    let differs = |(batch, result): (u32, &Vec<f32>)| {
        (0..rows as usize).find(|&row| result[row * batch as usize].to_bits() != one[row].to_bits())
    };
    let wrong = BATCHES.iter().zip(&results).find_map(|((batch, kernel), result)| {
        differs((*batch, result)).map(|row| format!("{}: row {row}", kernel.name))
    });
    cx.holds("batch_results", wrong.is_none(), wrong.unwrap_or_default());
    let counted = reports.iter().map(|report| counter(report, FFMA)).sum::<Result<f64, String>>();
    let all = BATCHES.iter().map(|(batch, _)| flops(rows, columns, *batch) / 2.0).sum::<f64>();
    record(cx, "batch_counted", counted.map(|counted| counted / all));
    for (batch, _) in BATCHES {
        cx.found(&format!("batch_{batch}"), flops(rows, columns, batch) / bytes(rows, columns, batch));
    }
    record(cx, "four_for_one", time_ratio(&reports[1], &reports[0]));
    let ceilings = cx.ceilings()?;
    match reports[0].time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
        Some(time) => cx.found("decode_bandwidth", ceilings.share_of_copy(bytes(rows, columns, 1), time)),
        None => cx.not_run("decode_bandwidth", "needs a GPU"),
    }
    Ok(reports)
}

/// Numbers of chance, a million over and over: a large matrix is not worth a second of the host's time.
fn repeated(n: usize, seed: u64) -> Vec<f32> {
    let some = noise(n.min(1 << 20) as u32, seed);
    some.iter().copied().cycle().take(n).collect()
}

/// A product of two matrices; its rows and its report.
fn prefill(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(u32, LaunchReport), LabError> {
    let n = if gpu.measures() { GPU_N } else { MACHINE_N };
    let elements = (n * n) as usize;
    let (a, b, c) = (gpu.upload(&repeated(elements, 3))?, gpu.upload(&repeated(elements, 4))?, gpu.zeros(elements)?);
    let shape = LaunchShape::new([n / TILE, n / TILE, 1], [BLOCK_THREADS, 1, 1]);
    let report = cx.measure(gpu, &matmul_register, &format!("{n}³"), shape, (a.ptr(), b.ptr(), c.ptr(), n))?;
    let ceilings = cx.ceilings()?;
    match report.time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
        Some(time) => cx.found("prefill_rate", ceilings.share_of_fma(flops(n, n, n), time)),
        None => cx.not_run("prefill_rate", "needs a GPU"),
    }
    Ok((n, report))
}

fn under_the_roof(
    cx: &mut LabContext<'_>,
    gpu: &Gpu,
    (rows, columns): (u32, u32),
    decode: &[LaunchReport],
    (n, prefill): &(u32, LaunchReport),
) -> Result<(), LabError> {
    let roof = Roof::of(cx.ceilings()?);
    let decode_intensity = flops(rows, columns, 1) / bytes(rows, columns, 1);
    cx.holds("decode", decode_intensity < roof.ridge(), format!("{decode_intensity} operations a byte"));
    let prefill_intensity = flops(GPU_N, GPU_N, GPU_N) / bytes(GPU_N, GPU_N, GPU_N);
    cx.holds("prefill", prefill_intensity > roof.ridge(), format!("{prefill_intensity} operations a byte"));
    let source = gpu.time_source();
    let (time, rate) = (format!("µs, {source}"), format!("GFLOP/s, {source}"));
    let columns_of_table = ["kernel", "vectors", "operations a byte", &time, "µs a vector", &rate, "of the roof"];
    let mut table = Table::new("decode and prefill: a matrix times a batch", columns_of_table);
    let mut plot = roof.plot("Decode and prefill under the roof", "operations a byte that has to move", source);
    let shapes = BATCHES.iter().map(|(batch, kernel)| (kernel.name, rows, columns, *batch));
    let shapes = shapes.chain([(matmul_register.name, *n, *n, *n)]);
    for ((name, rows, columns, batch), report) in shapes.zip(decode.iter().chain([prefill])) {
        let intensity = flops(rows, columns, batch) / bytes(rows, columns, batch);
        let Ok(us) = us(report) else { continue };
        let gflops = flops(rows, columns, batch) / us / 1e3;
        let share = Value::from(crate::claim::format::percent(gflops / roof.at(intensity)));
        table.row([
            name.into(),
            batch.into(),
            intensity.into(),
            us.into(),
            (us / f64::from(batch)).into(),
            gflops.into(),
            share,
        ]);
        plot = plot.series(name, Mark::Points, [(intensity, gflops)]);
    }
    cx.table(table);
    cx.plot(plot);
    Ok(())
}
