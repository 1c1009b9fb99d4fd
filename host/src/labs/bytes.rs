//! `bytes`: how far from the minimum?

use warpwise_kernels::ceilings::copy_stream;
use warpwise_kernels::gemv::{ROWS, gemv};
use warpwise_kernels::total::{BLOCK_THREADS, reduce_shuffle};
use warpwise_kernels::vecadd::{VECADD4_ELEMENTS, vecadd, vecadd4};

use super::counters::{DRAM_READ_BYTES, DRAM_WRITE_BYTES, record, time_ratio, us};
use super::survey::survey;
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, Value, at_least, at_most, between, holds, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "bytes",
    chapter: 4,
    sections: "ch4 §7",
    question: "how far from the minimum?",
    kernels: &["copy_stream", "vecadd4", "reduce_shuffle", "gemv", "vecadd"],
    text: include_str!("../../../docs/labs/bytes.md"),
    claims,
    run,
};

const SECTION: &str = "ch4 §7";
/// Elements that the memory-bound kernels read: many times L2 on a GPU.
const GPU_N: u32 = 1 << 27;
const MACHINE_N: u32 = 1 << 22;
/// The least time, in microseconds, that bytes must take for the formula to be held against it: beside less than that a launch's own time, and
/// SMs without work, show. The machine's size is enough for a device of the bandwidth of an RTX 5070.
const LEAST_US: f64 = 20.0;
/// Columns of the matrix of `gemv`.
const COLUMNS: u32 = 4_096;
const BLOCK: u32 = 256;
/// Words of an element of `copy_stream`.
const QUAD: u32 = 4;

fn claims() -> Vec<Claim> {
    let claim = |id, statement, relation| Claim::new(id, SECTION, statement, relation);
    let mut claims = vec![
        claim("contiguous", "vecadd: bytes of the sectors it touches over the least", near(1.0, 0.01)).on_machine(),
        claim("strided", "strided_copy, every 7th float: bytes of sectors over bytes asked for", near(7.0, 0.01))
            .on_machine()
            .note("a float of four bytes and its sector of 32: seven apart, a sector has one float, or sometimes two"),
        claim("transposed", "transpose_naive: bytes of sectors over those of transpose_tiled", near(4.5, 0.01))
            .on_machine()
            .note("one way is contiguous, four sectors a warp, and the other touches 32"),
        claim("caches", "blur: bytes from DRAM over bytes its lanes ask for", at_most(0.25))
            .on_machine()
            .note("nine reads a pixel, of which caches serve eight"),
        claim("least", "no kernel whose arrays are read whole asks for less than they hold", holds("none does"))
            .on_machine(),
    ];
    for (id, kernel) in [("copy", "copy_stream"), ("add", "vecadd4"), ("sum", "reduce_shuffle"), ("product", "gemv")] {
        let statement = format!("{kernel}: time over bytes / bandwidth of the fastest copy");
        claims.push(Claim::new(format!("time_{id}"), SECTION, statement, between(0.85, 1.35)).needs_sass());
    }
    claims.push(
        claim("effective", "vecadd, a float a thread: time over that of vecadd4, the same bytes", at_least(0.95))
            .note("question 3 of the checklist: as many bytes, fewer in flight; on an H200 1.3")
            .on_gpu(),
    );
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    every_kernel(cx, &gpu)?;
    memory_bound(cx, &gpu)
}

/// The three counts of bytes for each kernel, at the sizes of `counters`.
fn every_kernel(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let all = survey(cx)?;
    let of = |kernel: &str| all.iter().find(|one| one.kernel == kernel);
    let mut found = |claim: &str, value: Option<f64>| match value {
        Some(value) => cx.found(claim, value),
        None => cx.not_run(claim, "the kernel was not run"),
    };
    found("contiguous", of("vecadd").map(|one| one.sector_bytes / one.least_bytes));
    found("strided", of("strided_copy").map(|one| one.sector_bytes / one.asked_bytes));
    let transposed = of("transpose_naive").zip(of("transpose_tiled"));
    found("transposed", transposed.map(|(naive, tiled)| naive.sector_bytes / tiled.sector_bytes));
    found("caches", of("blur").and_then(|one| Some(one.dram_read_bytes? / one.asked_bytes)));
    // Those that go by an index or a stride leave parts of their arrays alone, and a histogram's bins count twice, read and written.
    const PARTLY: [&str; 6] =
        ["strided_copy", "copy_stride", "gather", "binary_search", "histogram", "histogram_global"];
    let less =
        all.iter().filter(|one| !PARTLY.contains(&one.kernel)).find(|one| one.asked_bytes < 0.999 * one.least_bytes);
    let otherwise = less.map(|one| format!("{}: {} of {}", one.kernel, one.asked_bytes, one.least_bytes));
    cx.holds("least", otherwise.is_none(), otherwise.unwrap_or_default());
    let columns = [
        "kernel",
        "least, KB",
        "asked for",
        "sectors",
        "read from DRAM",
        &format!("µs, {}", gpu.time_source()),
        "effective GB/s",
    ];
    let mut table = Table::new("bytes of every kernel; asked for, sectors and DRAM as multiples of the least", columns);
    let mut points = Vec::new();
    for one in all {
        let cell = |value: Option<f64>| value.map_or_else(|| Value::from("–"), Value::from);
        let rate = one.us().map(|us| one.least_bytes / us / 1e3);
        let times = |bytes: f64| Value::from(two_digits(bytes / one.least_bytes));
        table.row([
            one.kernel.into(),
            two_digits(one.least_bytes / 1e3).into(),
            times(one.asked_bytes),
            times(one.sector_bytes),
            one.dram_read_bytes.map_or_else(|| Value::from("–"), times),
            cell(one.us()),
            cell(rate.map(two_digits)),
        ]);
        points.extend(rate.map(|rate| (one.sector_bytes / one.least_bytes, rate)));
    }
    cx.table(table);
    let (x, y) = (Axis::log("bytes of sectors over the least"), Axis::log("effective GB/s"));
    cx.plot(Plot::new("The more that moves, the less of it is useful", x, y).series("kernels", Mark::Points, points));
    Ok(())
}

/// What a table needs of a ratio.
fn two_digits(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Kernels that do nothing but move bytes, at a size at which the launch itself does not matter.
fn memory_bound(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let n = if gpu.measures() { GPU_N } else { MACHINE_N };
    let array = || gpu.zeros::<f32>(n as usize);
    let rows = n / COLUMNS;
    let quarter = n / QUAD;
    let sms = gpu.device().sm_count;
    // Arrays of their own, so that no launch finds in L2 what another left there.
    let (from, to) = (gpu.zeros::<u32>(n as usize)?, gpu.zeros::<u32>(n as usize)?);
    let [a, b, c, d, e, f, x, matrix] =
        [array()?, array()?, array()?, array()?, array()?, array()?, array()?, array()?];
    let [sums, vector, y] = [8 * sms, COLUMNS, rows].map(|len| gpu.zeros::<f32>(len as usize));
    let (sums, vector, y) = (sums?, vector?, y?);
    let (word, line) = (4 * u64::from(n), |threads| LaunchShape::linear(threads, BLOCK));
    let mut launches = vec![
        (Case::new(&copy_stream, "", line(quarter), (from.ptr(), to.ptr(), quarter)), 2 * word),
        (Case::new(&vecadd4, "", line(n / VECADD4_ELEMENTS), (a.ptr(), b.ptr(), c.ptr(), n)), 3 * word),
        (
            Case::new(
                &reduce_shuffle,
                "",
                LaunchShape::new([8 * sms, 1, 1], [BLOCK_THREADS, 1, 1]),
                (x.ptr(), sums.ptr(), n),
            ),
            word,
        ),
        (Case::new(&gemv, "", line(32 * rows / ROWS), (matrix.ptr(), vector.ptr(), y.ptr(), rows, COLUMNS)), word),
    ];
    // Many instructions for a claim that is the GPU's.
    if gpu.measures() {
        launches.push((Case::new(&vecadd, "", line(n), (d.ptr(), e.ptr(), f.ptr(), n)), 3 * word));
    }
    let bytes: Vec<u64> = launches.iter().map(|(_, bytes)| *bytes).collect();
    let cases = launches.into_iter().map(|(case, bytes)| case.moving(bytes)).collect();
    let reports: Vec<LaunchReport> = cx.measure_in_turn(gpu, cases)?;
    let copy = cx.ceilings()?.copy.giga_per_second();
    let time = format!("µs, {}", gpu.time_source());
    let columns = ["kernel", "least bytes", "bytes", "µs, at the copy's bandwidth", &time, "time over that"];
    let mut table = Table::new(format!("memory-bound kernels, 2^{} elements", n.ilog2()), columns);
    let names = ["copy", "add", "sum", "product", "scalar"];
    for ((name, report), least) in names.iter().zip(&reports).zip(&bytes) {
        let moved = moved(report).unwrap_or(*least as f64);
        let ideal = moved / copy / 1e3;
        match us(report) {
            Ok(us) => {
                match *name {
                    "scalar" => {}
                    _ if ideal < LEAST_US => {
                        cx.not_run(
                            &format!("time_{name}"),
                            "the machine's size is too small for this device's bandwidth",
                        );
                    }
                    _ => cx.found(&format!("time_{name}"), us / ideal),
                }
                table.row([
                    (*name).into(),
                    (*least).into(),
                    moved.into(),
                    ideal.into(),
                    us.into(),
                    (us / ideal).into(),
                ]);
            }
            Err(reason) => cx.not_run(&format!("time_{name}"), reason),
        }
    }
    if let [_, four, _, _, scalar] = &reports[..] {
        record(cx, "effective", time_ratio(scalar, four));
    }
    cx.table(table);
    Ok(())
}

/// What went to and from DRAM, where it was counted. At the machine's size L2 keeps part of what is written, and has to make room for it by
/// writing what was there.
fn moved(report: &LaunchReport) -> Option<f64> {
    Some(report.counter(DRAM_READ_BYTES)? + report.counter(DRAM_WRITE_BYTES)?)
}
