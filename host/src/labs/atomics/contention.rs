//! Few addresses, many threads: what is lost without atomics, and what it costs not to lose it.

use warpwise_kernels::atomics::{add_racy, atomic_add, atomic_add_cas};

use super::{BLOCK, SECTION, us};
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchShape};
use crate::claim::format::{integer, real};
use crate::claim::{Claim, at_least, between, equal, greater_than, less_than};
use crate::lab::{Axis, Case, LabContext, LabError, Mark, Plot, Table};
use crate::labs::counters::{record, time_ratio};

/// Threads that add, each once. Few: with compare-and-swap the time goes with the square of the threads that share an address.
const THREADS: u32 = 4_096;

/// Threads that share an address.
const CONTENTION: [u32; 6] = [1, 4, 16, 64, 512, 4_096];

/// From which on there is contention worth the name.
const CONTENDED: u32 = 512;

pub fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "two_lose_one",
            SECTION,
            "a warp on one address, read, add and write: updates of 32 that count",
            equal(1),
        )
        .note("all lanes read the same and write the same, so 31 vanish: the chapter's two threads that both write 6"),
        Claim::new("racy", SECTION, "updates of 4,096 to one address that are lost", between(1.0, 4_095.0)),
        Claim::new("atomic", SECTION, "updates that are lost with atomic additions", equal(0)),
        Claim::new("cas", SECTION, "updates that are lost with compare-and-swap", equal(0)),
        Claim::new("contended", SECTION, "compare-and-swap over native, 512 threads an address: time", at_least(5.0))
            .note("roughly 10 in the chapter; exactly, it grows with contention, since who fails tries again"),
        Claim::new("most_contended", SECTION, "the same with 4,096 threads an address", greater_than(10.0)),
        Claim::new("alone", SECTION, "the same with an address for each thread", less_than(5.0)),
        Claim::new("serial", SECTION, "native, one address over an address each: time", greater_than(1.0))
            .note("updates of one address come one after the other"),
    ]
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    lost(cx, gpu)?;
    let mut cases = Vec::new();
    let mut sums = Vec::new();
    for threads in CONTENTION {
        let addresses = THREADS / threads;
        let buffer = gpu.zeros::<f32>(addresses as usize)?;
        let args = (buffer.ptr(), addresses - 1, 1);
        let variant = format!("{} threads an address", integer(threads.into()));
        let shape = LaunchShape::linear(THREADS, BLOCK);
        cases.push(Case::new(&atomic_add, variant.clone(), shape, args));
        cases.push(Case::new(&atomic_add_cas, variant, shape, args));
        sums.push(buffer);
    }
    let reports = cx.measure_in_turn(gpu, cases)?;
    let title = format!("{} additions, {}", integer(THREADS.into()), gpu.time_source());
    let columns = ["threads an address", "native (µs)", "compare-and-swap (µs)", "ratio"];
    let mut table = Table::new(title, columns);
    let mut plot = [Vec::new(), Vec::new()];
    for (threads, pair) in CONTENTION.into_iter().zip(reports.chunks(2)) {
        let [native, cas] = pair else { continue };
        let ratio = time_ratio(cas, native);
        table.row([
            threads.into(),
            real(us(native)).into(),
            real(us(cas)).into(),
            ratio.as_ref().map_or_else(|_| String::new(), |ratio| real(*ratio)).into(),
        ]);
        plot[0].push((f64::from(threads), us(native)));
        plot[1].push((f64::from(threads), us(cas)));
        match threads {
            1 => record(cx, "alone", ratio),
            CONTENDED => record(cx, "contended", ratio),
            THREADS => record(cx, "most_contended", ratio),
            _ => {}
        }
    }
    let ends = reports.first().zip(reports.get(reports.len() - 2));
    if let Some((apart, together)) = ends {
        record(cx, "serial", time_ratio(together, apart));
    }
    cx.table(table);
    let [native, cas] = plot;
    let plot = Plot::new("time by contention", Axis::log("threads an address"), Axis::log("time (µs)"));
    cx.plot(plot.series("native", Mark::Line, native).series("compare-and-swap", Mark::Line, cas));
    Ok(())
}

/// Who of all threads that add to one address is counted.
fn lost(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let sum = |buffer: DeviceBuffer<f32>| -> Result<f64, GpuError> {
        Ok(buffer.download()?.into_iter().map(f64::from).sum())
    };
    let one = gpu.zeros::<f32>(1)?;
    gpu.launch_shaped(&add_racy, LaunchShape::linear(32, 32), (one.ptr(), 0, 1))?;
    cx.found("two_lose_one", sum(one)?);
    let mut table =
        Table::new(format!("{} threads add 1 to one address", integer(THREADS.into())), ["kernel", "sum", "lost"]);
    for (claim, kernel) in [("racy", &add_racy), ("atomic", &atomic_add), ("cas", &atomic_add_cas)] {
        let one = gpu.zeros::<f32>(1)?;
        gpu.launch_shaped(kernel, LaunchShape::linear(THREADS, BLOCK), (one.ptr(), 0, 1))?;
        let found = sum(one)?;
        let lost = f64::from(THREADS) - found;
        cx.found(claim, lost);
        table.row([kernel.name.into(), found.into(), lost.into()]);
    }
    cx.table(table);
    Ok(())
}
