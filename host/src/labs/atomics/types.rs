//! The same additions of other types, in other orders and scopes, and counted a warp at a time.

use warpwise_kernels::atomics::{
    BLOCK_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE, add_ordered, add_scoped, atomic_add, count_one,
};
use warpwise_kernels::calibration::count;
use warpwise_kernels::halves::{F16_ONE, add_bf16x2, add_f16, add_f16x2, add_f64};
use warpwise_simt::isa::Isa;

use super::{BLOCK, SECTION, us};
use crate::backend::{BackendKind, Gpu, LaunchReport, LaunchShape};
use crate::claim::format::real;
use crate::claim::{Claim, at_least, at_most, holds, less_than};
use crate::lab::{Case, LabContext, LabError, Table};
use crate::labs::counters::{counter, record, time_ratio};

/// Threads that add once, and how many share an address: sums up to 256 are exact in every type.
const THREADS: u32 = 4_096;
const SHARED_BY: u32 = 256;
const MASK: u32 = THREADS / SHARED_BY - 1;

/// Additions of each thread that are timed, of 1 and of -1: sums that only grew would be too large for 1 more to change them.
const TYPE_REPEATS: u32 = 2;

/// Additions of each thread to an address of its own, of which the order may cost.
const ORDERED_REPEATS: u32 = 8;

/// Lanes of accesses to memory.
const MEMORY_LANES: &str = "smsp__sass_thread_inst_executed_op_memory_pred_on.sum";

/// Threads that count to one counter.
const COUNTING: u32 = 1 << 14;

pub fn claims() -> Vec<Claim> {
    vec![
        Claim::new("sums", SECTION, "sums of every type are exact", holds("they are")),
        Claim::new("f16", SECTION, "time of 16-bit additions one by one, over that of pairs", at_least(5.0))
            .needs_sass()
            .note("256 threads an address; the same hardware, the same numbers: pairs have an instruction, single ones a loop"),
        Claim::new("bf16x2", SECTION, "time of pairs of bfloat16 by compare-and-swap, over that of pairs of f16", at_least(5.0)),
        Claim::new("f64", SECTION, "time of 64-bit additions over that of 32-bit ones", at_most(2.5)),
        Claim::new("relaxed", SECTION, "relaxed additions over ordered ones: time", at_most(1.0))
            .note("by default CUDA's atomicAdd is relaxed; Triton's is ordered, which the chapter speaks of"),
        Claim::new("aggregated", SECTION, "counting a warp at a time, over lane by lane: lanes that add", at_most(1.0 / 16.0))
            .note("lanes that add to one address known to be the same are counted by the compiler's code, and one adds")
            .on_machine(),
        Claim::new("aggregated_time", SECTION, "the same: time", less_than(0.75)).on_gpu(),
    ]
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    sums(cx, gpu)?;
    by_type(cx, gpu)?;
    by_order(cx, gpu)?;
    counting(cx, gpu)
}

const SHAPE: fn(u32) -> LaunchShape = |threads| LaunchShape::linear(threads, BLOCK);

/// 256 times 1, in each type.
fn sums(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let len = MASK as usize + 1;
    let shape = SHAPE(THREADS);
    let mut wrong = None;
    let mut check = |kernel: &str, is_right: bool| {
        if !is_right {
            wrong.get_or_insert(format!("{kernel} is not"));
        }
    };
    let f32s = gpu.zeros::<f32>(len)?;
    gpu.launch_shaped(&atomic_add, shape, (f32s.ptr(), MASK, 1))?;
    check("atomic_add", f32s.download()?.iter().all(|sum| *sum == 256.0));
    let f64s = gpu.zeros::<f64>(len)?;
    gpu.launch_shaped(&add_f64, shape, (f64s.ptr(), MASK, 1))?;
    check("add_f64", f64s.download()?.iter().all(|sum| *sum == 256.0));
    let pairs = gpu.zeros::<u32>(len)?;
    gpu.launch_shaped(&add_f16x2, shape, (pairs.ptr(), MASK, 1))?;
    check("add_f16x2", pairs.download()?.iter().all(|sum| *sum == 0x5c00_5c00));
    let pairs = gpu.zeros::<u32>(len)?;
    gpu.launch_shaped(&add_bf16x2, shape, (pairs.ptr(), MASK, 1))?;
    check("add_bf16x2", pairs.download()?.iter().all(|sum| *sum == 0x4380_4380));
    // 1 to 256 doubles the exponent's share eight times.
    let halves = gpu.zeros::<u16>(len)?;
    gpu.launch_shaped(&add_f16, shape, (halves.ptr(), MASK, 1))?;
    check("add_f16", halves.download()?.iter().all(|sum| *sum == F16_ONE + (8 << 10)));
    let ordered = gpu.zeros::<f32>(len)?;
    gpu.launch_shaped(&add_ordered, shape, (ordered.ptr(), MASK, 1))?;
    check("add_ordered", ordered.download()?.iter().all(|sum| *sum == 256.0));
    let scoped = gpu.zeros::<f32>(len)?;
    gpu.launch_shaped(&add_scoped, shape, (scoped.ptr(), 1, BLOCK_SCOPE))?;
    check("add_scoped", scoped.download()?.iter().all(|sum| *sum == 256.0));
    let counter = gpu.zeros::<u32>(1)?;
    gpu.launch_shaped(&count_one, shape, (counter.ptr(), 1))?;
    check("count_one", counter.download()? == [THREADS]);
    cx.holds("sums", wrong.is_none(), wrong.unwrap_or_default());
    Ok(())
}

fn by_type(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let len = MASK as usize + 1;
    let (f32s, f64s) = (gpu.zeros::<f32>(len)?, gpu.zeros::<f64>(len)?);
    let (pairs, more, halves) = (gpu.zeros::<u32>(len)?, gpu.zeros::<u32>(len)?, gpu.zeros::<u16>(len)?);
    let (shape, variant) = (SHAPE(THREADS), format!("{SHARED_BY} threads an address"));
    let cases = vec![
        Case::new(&atomic_add, variant.clone(), shape, (f32s.ptr(), MASK, TYPE_REPEATS)),
        Case::new(&add_f64, variant.clone(), shape, (f64s.ptr(), MASK, TYPE_REPEATS)),
        Case::new(&add_f16x2, variant.clone(), shape, (pairs.ptr(), MASK, TYPE_REPEATS)),
        Case::new(&add_bf16x2, variant.clone(), shape, (more.ptr(), MASK, TYPE_REPEATS)),
        Case::new(&add_f16, variant, shape, (halves.ptr(), MASK, TYPE_REPEATS)),
    ];
    let reports = cx.measure_in_turn(gpu, cases)?;
    let [f32s, f64s, f16x2, bf16x2, f16] = &reports[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 5", reports.len())));
    };
    record(cx, "f64", time_ratio(f64s, f32s));
    record(cx, "f16", time_ratio(f16, f16x2));
    record(cx, "bf16x2", time_ratio(bf16x2, f16x2));
    let title = format!(
        "{THREADS} threads, {TYPE_REPEATS} additions each, {SHARED_BY} threads an address, {}",
        gpu.time_source()
    );
    let mut table = Table::new(title, ["type", "how", "time (µs)", "over f32"]);
    for (name, how, report) in [
        ("f32", "native", f32s),
        ("f64", "native", f64s),
        ("two f16", "native", f16x2),
        ("two bf16", "compare-and-swap in the source", bf16x2),
        ("f16", "compare-and-swap by ptxas", f16),
    ] {
        let over = time_ratio(report, f32s).map_or_else(|_| String::new(), real);
        table.row([name.into(), how.into(), real(us(report)).into(), over.into()]);
    }
    cx.table(table);
    Ok(())
}

fn by_order(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let shape = SHAPE(THREADS);
    let own = gpu.zeros::<f32>(THREADS as usize)?;
    let (mask, repeats) = (THREADS - 1, ORDERED_REPEATS);
    let scoped = gpu.zeros::<f32>((THREADS / BLOCK) as usize)?;
    let scope = |name: &str, scope| Case::new(&add_scoped, name, shape, (scoped.ptr(), 1, scope));
    let cases = vec![
        Case::new(&atomic_add, "relaxed, own addresses", shape, (own.ptr(), mask, repeats)),
        Case::new(&add_ordered, "acquire and release, own addresses", shape, (own.ptr(), mask, repeats)),
        scope("block", BLOCK_SCOPE),
        scope("device", DEVICE_SCOPE),
        scope("system", SYSTEM_SCOPE),
    ];
    let reports = cx.measure_in_turn(gpu, cases)?;
    let [relaxed, ordered, scopes @ ..] = &reports[..] else {
        return Err(LabError::Other("no launch was measured".to_owned()));
    };
    record(cx, "relaxed", time_ratio(relaxed, ordered));
    let mut table = Table::new(format!("orders and scopes, {}", gpu.time_source()), ["additions", "time (µs)"]);
    let row = |table: &mut Table, name: String, report: &LaunchReport| {
        table.row([name.into(), real(us(report)).into()]);
    };
    row(&mut table, format!("{repeats} a thread, relaxed"), relaxed);
    row(&mut table, format!("{repeats} a thread, acquire and release"), ordered);
    for (name, report) in ["block", "device", "system"].into_iter().zip(scopes) {
        row(&mut table, format!("a sum a block, scope {name}"), report);
    }
    cx.table(table);
    cx.note("A scope says among whom an addition is atomic. All of them happen in L2, so on one device a smaller one saves nothing.");
    Ok(())
}

/// Lanes counted by code, where it is SASS that runs: in PTX every lane adds.
fn counting(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let one = gpu.zeros::<u32>(1)?;
    let cases = vec![
        Case::new(&count, "lane by lane, one counter", SHAPE(COUNTING), (one.ptr(), 0, 1)),
        Case::new(&count_one, "a warp at a time", SHAPE(COUNTING), (one.ptr(), 1)),
    ];
    let reports = cx.measure_in_turn(gpu, cases)?;
    let [each, aggregated] = &reports[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 2", reports.len())));
    };
    let is_ptx = cx.backend() == BackendKind::Sim && cx.bench().executed(count_one.name)?.isa == Isa::Ptx;
    let lanes = counter(aggregated, MEMORY_LANES).and_then(|some| Ok(some / counter(each, MEMORY_LANES)?));
    match is_ptx {
        true => cx.not_run("aggregated", "needs SASS: it is ptxas that counts the lanes"),
        false => record(cx, "aggregated", lanes),
    }
    record(cx, "aggregated_time", time_ratio(aggregated, each));
    let mut table = Table::new(format!("{COUNTING} threads count, {}", gpu.time_source()), ["how", "time (µs)"]);
    table.row(["an addition a lane".into(), real(us(each)).into()]);
    table.row(["an addition a warp".into(), real(us(aggregated)).into()]);
    cx.table(table);
    Ok(())
}
