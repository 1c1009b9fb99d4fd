//! `coalescing`: does the address pattern matter?

use warpwise_kernels::access::{COPY_VEC4_ELEMENTS, copy_random, copy_stride, copy_vec4};
use warpwise_kernels::maths;

use super::counters::{INSTRUCTIONS, LOAD_REQUESTS, LOAD_SECTORS, STORE_SECTORS, counter, ratio, record};
use super::input::{Differences, differences, noise};
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchReport, LaunchShape};
use crate::claim::format::real;
use crate::claim::{Claim, at_least, equal, greater_than, holds, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "coalescing",
    chapter: 4,
    sections: "ch4",
    question: "does the address pattern matter?",
    kernels: &["copy_stride", "copy_random", "copy_vec4"],
    text: include_str!("../../../docs/labs/coalescing.md"),
    claims,
    run,
};

const BLOCK: u32 = 256;
const STRIDES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Elements that are copied: on the machine, and on a GPU, where no L2 holds them.
const BITS_MACHINE: u32 = 18;
const BITS_GPU: u32 = 26;

const SECTOR_BYTES: f64 = 32.0;
const ELEMENT_BYTES: u64 = size_of::<f32>() as u64;

fn claims() -> Vec<Claim> {
    let section = "ch4 §3";
    vec![
        Claim::new("contiguous", section, "sectors that a warp's load of 32 neighbours takes", equal(4)).on_machine(),
        Claim::new("useful", section, "useful bytes of those that it fetches", equal(1)).on_machine(),
        Claim::new("scattered", section, "sectors that it takes with a stride of 8 elements", equal(32)).on_machine(),
        Claim::new("traffic", section, "traffic of the loads, stride 8 over stride 1", equal(8))
            .note("of the loads; the stores stay as they are, so the copy as a whole moves 4.5 times as much")
            .on_machine(),
        Claim::new("strides", section, "strides 1 to 32 take 4, 8, 16, 32, 32 and 32 sectors", holds("they do"))
            .on_machine(),
        Claim::new("shifted", section, "neighbours whose first is one element off a sector's start: sectors", equal(5))
            .on_machine(),
        Claim::new("random", section, "random order: sectors over what the CPU counts from the addresses", equal(1))
            .on_machine(),
        Claim::new(
            "random_traffic",
            section,
            "random order: traffic of the loads over that of neighbours",
            near(8.0, 0.01),
        )
        .on_machine(),
        Claim::new("stores", section, "sectors of the stores, random order over neighbours", equal(1)).on_machine(),
        Claim::new("wide", section, "copy_vec4: sectors a load of 32 neighbours' 16 bytes takes", equal(16))
            .on_machine(),
        Claim::new("wide_instructions", section, "instructions of copy_stride over those of copy_vec4", at_least(3.0))
            .note("a quarter as many warps, each with as many accesses")
            .on_machine(),
        Claim::new("monotone", section, "time rises with the stride: least ratio of one to the next", at_least(1.0)),
        Claim::new("slower", section, "time with stride 8 over that of neighbours", greater_than(1.3)),
        Claim::new("random_slower", section, "time in random order over that of neighbours", greater_than(1.1)),
        Claim::new("wide_of_copy", section, "copy_vec4: share of the fastest copy", at_least(0.9)).on_gpu(),
        Claim::new("results", section, "each copy equals the CPU's, bit for bit", holds("no element differs")),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    results(cx, &gpu)?;
    let bits = if gpu.measures() { BITS_GPU } else { BITS_MACHINE };
    let n = 1_u32 << bits;
    let mut arrays = Arrays { gpu: &gpu, n, made: Vec::new() };
    let mut cases = Vec::new();
    let moved = 2 * ELEMENT_BYTES * u64::from(n);
    let shape = LaunchShape::linear(n, BLOCK);
    for stride in STRIDES {
        let (x, y) = arrays.next(stride)?;
        cases.push(Case::new(&copy_stride, format!("stride {stride}"), shape, (x, y, n, stride)).moving(moved));
    }
    let (x, y) = arrays.next(2)?;
    cases.push(Case::new(&copy_stride, "stride 1, one element on", shape, (x.add(1), y, n, 1)).moving(moved));
    let (x, y) = arrays.next(1)?;
    cases.push(Case::new(&copy_random, "", shape, (x, y, bits)).moving(moved));
    let (x, y) = arrays.next(1)?;
    cases.push(Case::new(&copy_vec4, "", LaunchShape::linear(n / COPY_VEC4_ELEMENTS, BLOCK), (x, y, n)).moving(moved));
    let reports = cx.measure_in_turn(&gpu, cases)?;
    let (strided, [shifted, random, wide]) = reports.split_at(STRIDES.len()) else {
        return Err(LabError::Other(format!("{} launches were measured", reports.len())));
    };
    by_stride(cx, n, strided);
    others(cx, bits, &strided[0], [shifted, random, wide]);
    table(cx, &gpu, n, &reports);
    let ceilings = cx.ceilings()?;
    match wide.time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
        Some(time) => cx.found("wide_of_copy", ceilings.share_of_copy(moved as f64, time)),
        None => cx.not_run("wide_of_copy", "needs a GPU: at the machine's size the arrays are in L2"),
    }
    Ok(())
}

/// Arrays of the launches that are compared. On a GPU L2 is overwritten before each sample, so all share two; on the machine each has its
/// own, of which nothing is in L2.
struct Arrays<'a> {
    gpu: &'a Gpu,
    n: u32,
    made: Vec<[DeviceBuffer<f32>; 2]>,
}

type Pointer = cuda_std::host::DevicePtr<f32>;

impl Arrays<'_> {
    /// One to read, of `stride` times the elements, and one to write.
    fn next(&mut self, stride: u32) -> Result<(Pointer, Pointer), GpuError> {
        let largest = STRIDES[STRIDES.len() - 1];
        let measures = self.gpu.measures();
        if !measures || self.made.is_empty() {
            let apart = if measures { largest } else { stride };
            let len = self.n as usize;
            let made = [self.gpu.uninitialised(len * apart as usize)?, self.gpu.uninitialised(len)?];
            self.made.push(made);
        }
        match self.made.last() {
            Some([x, y]) => Ok((x.ptr(), y.ptr())),
            None => Err(GpuError::NoReport),
        }
    }
}

/// What each stride takes, and that more is slower.
fn by_stride(cx: &mut LabContext<'_>, n: u32, reports: &[LaunchReport]) {
    let sectors = |stride: usize| ratio(&reports[stride], LOAD_SECTORS, LOAD_REQUESTS);
    record(cx, "contiguous", sectors(0));
    record(cx, "scattered", sectors(3));
    let fetched = |k: usize| counter(&reports[k], LOAD_SECTORS);
    record(cx, "useful", fetched(0).map(|sectors| f64::from(n) * ELEMENT_BYTES as f64 / (SECTOR_BYTES * sectors)));
    record(cx, "traffic", fetched(3).and_then(|scattered| Ok(scattered / fetched(0)?)));
    let found: Result<Vec<f64>, String> = (0..reports.len()).map(sectors).collect();
    match found {
        Ok(found) => cx.holds("strides", found == [4.0, 8.0, 16.0, 32.0, 32.0, 32.0], format!("{found:?}")),
        Err(reason) => cx.not_run("strides", reason),
    }
    let Some(times) = reports.iter().map(us).collect::<Option<Vec<f64>>>() else {
        return;
    };
    cx.found("monotone", times.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min));
    cx.found("slower", times[3] / times[0]);
    let points = |of: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        STRIDES.iter().enumerate().map(|(k, stride)| (f64::from(*stride), of(k))).collect()
    };
    let mut plot = Plot::new(
        "a copy by the stride of its reads",
        Axis::log("stride (elements)"),
        Axis::log("times that of stride 1"),
    )
    .series("time", Mark::Line, points(&|k| times[k] / times[0]));
    if let Ok(one) = sectors(0) {
        plot = plot.series("sectors loaded", Mark::Points, points(&|k| sectors(k).unwrap_or(f64::NAN) / one));
    }
    cx.plot(plot);
}

/// A base that is off, an order of chance, and wide accesses.
fn others(cx: &mut LabContext<'_>, bits: u32, one: &LaunchReport, [shifted, random, wide]: [&LaunchReport; 3]) {
    record(cx, "shifted", ratio(shifted, LOAD_SECTORS, LOAD_REQUESTS));
    let over = |name: &str, above: &LaunchReport, below: &LaunchReport| {
        Ok::<_, String>(counter(above, name)? / counter(below, name)?)
    };
    record(cx, "random", counter(random, LOAD_SECTORS).map(|sectors| sectors / f64::from(sectors_at_random(bits))));
    record(cx, "random_traffic", over(LOAD_SECTORS, random, one));
    record(cx, "stores", over(STORE_SECTORS, random, one));
    record(cx, "wide", ratio(wide, LOAD_SECTORS, LOAD_REQUESTS));
    record(cx, "wide_instructions", over(INSTRUCTIONS, one, wide));
    if let Some((random, one)) = us(random).zip(us(one)) {
        cx.found("random_slower", random / one);
    }
}

/// Sectors that the warps' loads in random order touch, each counted once a warp.
fn sectors_at_random(bits: u32) -> u32 {
    let per_sector = SECTOR_BYTES as u32 / ELEMENT_BYTES as u32;
    let warp = |first: u32| {
        let mut sectors: Vec<u32> = (first..first + 32).map(|i| maths::permuted(i, bits) / per_sector).collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors.len() as u32
    };
    (0..1_u32 << bits).step_by(32).map(warp).sum()
}

fn table(cx: &mut LabContext<'_>, gpu: &Gpu, n: u32, reports: &[LaunchReport]) {
    let title = format!("a copy of 2^{} elements, {}", n.ilog2(), gpu.time_source());
    let columns = ["reads", "sectors a request", "bytes loaded an element", "time (µs)", "useful GB/s"];
    let mut table = Table::new(title, columns);
    let strides = STRIDES.map(|stride| format!("stride {stride}"));
    let names = strides.into_iter().chain(["one element on", "random", "four a thread"].map(str::to_owned));
    for (name, report) in names.zip(reports) {
        let cell = |value: Result<f64, String>| value.map_or_else(|_| "".into(), |value| real(value).into());
        let bytes = counter(report, LOAD_SECTORS).map(|sectors| SECTOR_BYTES * sectors / f64::from(n));
        let time = us(report);
        let rate = time.map(|us| 2.0 * ELEMENT_BYTES as f64 * f64::from(n) / us / 1e3);
        table.row([
            name.into(),
            cell(ratio(report, LOAD_SECTORS, LOAD_REQUESTS)),
            cell(bytes),
            time.map_or_else(|| "".into(), |us| real(us).into()),
            rate.map_or_else(|| "".into(), |rate| real(rate).into()),
        ]);
    }
    cx.table(table);
    cx.note("Useful bytes are the same in every row: each element read once and written once.");
}

/// Each kernel at a size that is no multiple of anything, against the host.
fn results(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    const ODD: u32 = 1_003;
    const ODD_BITS: u32 = 10;
    let x = noise(32 * ODD, 1);
    let input = gpu.upload(&x)?;
    let mut wrong: Option<(String, Differences)> = None;
    let mut check = |name: String, y: &DeviceBuffer<f32>, expected: Vec<f32>| -> Result<(), GpuError> {
        let found = differences(&y.download()?, expected);
        if !found.none() {
            wrong.get_or_insert((name, found));
        }
        Ok(())
    };
    for stride in STRIDES {
        let y = gpu.zeros::<f32>(ODD as usize)?;
        gpu.launch_shaped(&copy_stride, LaunchShape::linear(ODD, BLOCK), (input.ptr(), y.ptr(), ODD, stride))?;
        check(format!("stride {stride}"), &y, x.iter().copied().step_by(stride as usize).take(ODD as usize).collect())?;
    }
    let y = gpu.zeros::<f32>(1 << ODD_BITS)?;
    gpu.launch_shaped(&copy_random, LaunchShape::linear(1 << ODD_BITS, BLOCK), (input.ptr(), y.ptr(), ODD_BITS))?;
    check("random".to_owned(), &y, (0..1 << ODD_BITS).map(|i| x[maths::permuted(i, ODD_BITS) as usize]).collect())?;
    let y = gpu.zeros::<f32>(ODD as usize)?;
    gpu.launch_shaped(&copy_vec4, LaunchShape::linear(ODD, BLOCK), (input.ptr(), y.ptr(), ODD))?;
    check("four a thread".to_owned(), &y, x[..ODD as usize].to_vec())?;
    let otherwise = wrong.map(|(name, differences)| format!("{name}: {differences}"));
    cx.holds("results", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

fn us(report: &LaunchReport) -> Option<f64> {
    report.time().map(|time| time.us())
}
