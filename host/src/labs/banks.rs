//! `banks`: when does shared memory serialise?

use warpwise_kernels::banks::{shared_pairs, shared_quads, shared_stride};
use warpwise_kernels::transpose::{ROWS, TILE, transpose_padded, transpose_tiled};

use super::cost::{Pair, costs, over};
use super::counters::{SHARED_LOAD_PASSES, counter, record};
use crate::backend::{DeviceBuffer, Gpu, LaunchShape};
use crate::claim::{Claim, at_least, equal, holds, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "banks",
    chapter: 1,
    sections: "ch1 §10, ch3",
    question: "when does shared memory serialise?",
    kernels: &["shared_stride", "shared_pairs", "shared_quads", "transpose_tiled", "transpose_padded"],
    text: include_str!("../../../docs/labs/banks.md"),
    claims,
    run,
};

const SECTION: &str = "ch1 §10";

/// How the lanes of a warp read.
struct Pattern {
    claim: &'static str,
    what: &'static str,
    stride: u32,
    swizzle: u32,
    passes: u32,
}

static PATTERNS: [Pattern; 7] = [
    Pattern { claim: "stride_1", what: "neighbours: stride 1", stride: 1, swizzle: 0, passes: 1 },
    Pattern { claim: "stride_2", what: "every other word: stride 2", stride: 2, swizzle: 0, passes: 2 },
    Pattern { claim: "stride_3", what: "an odd stride: 3", stride: 3, swizzle: 0, passes: 1 },
    Pattern { claim: "stride_32", what: "a column of 32 words a row: stride 32", stride: 32, swizzle: 0, passes: 32 },
    Pattern { claim: "stride_33", what: "a column of padded rows: stride 33", stride: 33, swizzle: 0, passes: 1 },
    Pattern { claim: "swizzle", what: "a column of rows shifted by their number", stride: 32, swizzle: 31, passes: 1 },
    Pattern { claim: "broadcast", what: "all lanes one word", stride: 0, swizzle: 0, passes: 1 },
];

fn claims() -> Vec<Claim> {
    let passes = |claim: &str, what: &str, passes: u32| {
        Claim::new(claim, SECTION, format!("{what}: passes a load"), equal(passes)).on_machine()
    };
    let mut claims: Vec<Claim> =
        PATTERNS.iter().map(|pattern| passes(pattern.claim, pattern.what, pattern.passes)).collect();
    claims.extend([
        passes("pairs", "8 bytes a lane, side by side", 2),
        passes("quads", "16 bytes a lane, side by side", 4),
        Claim::new(
            "strides",
            SECTION,
            "strides 1 to 33: passes are the greatest common divisor of stride and 32",
            holds("each is"),
        )
        .on_machine(),
        Claim::new("time", SECTION, "stride 32 over stride 1, 32 warps that do nothing else: time", at_least(8.0)),
        Claim::new("padded_time", SECTION, "stride 33 over stride 1: time", near(1.0, 0.1)),
        Claim::new("transpose", "ch3, shared memory", "columns of a tile: passes a load without padding", equal(32))
            .on_machine(),
        Claim::new("transpose_padded", "ch3, shared memory", "the same tile with rows of 33 words", equal(1))
            .on_machine(),
        Claim::new("results", SECTION, "every sum is that of the words read", holds("no sum differs")),
    ]);
    claims
}

const THREADS: u32 = 1_024;

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let mut wrong = patterns(cx, &gpu)?;
    strides(cx, &gpu)?;
    wide(cx, &gpu, &mut wrong)?;
    transposes(cx, &gpu)?;
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    Ok(())
}

fn shape(threads: u32) -> LaunchShape {
    LaunchShape::new([1; 3], [threads, 1, 1])
}

/// The first sum that is not that of the words `word(lane, step)`.
fn wrong_sum(
    what: &str,
    out: &DeviceBuffer<f32>,
    steps: u32,
    word: impl Fn(u32, u32) -> u32,
) -> Result<Option<String>, LabError> {
    for (i, found) in (0..).zip(out.download()?) {
        let expected: u32 = (0..steps).map(|step| word(i % 32, step)).sum();
        if found != expected as f32 {
            return Ok(Some(format!("{what}: thread {i} has {found}, not {expected}")));
        }
    }
    Ok(None)
}

fn word(stride: u32, swizzle: u32) -> impl Fn(u32, u32) -> u32 {
    move |lane, step| stride * lane + ((step % 32) ^ (lane & swizzle))
}

fn patterns(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Option<String>, LabError> {
    let steps = if gpu.measures() { [256, 2_304] } else { [32, 160] };
    let outputs = PATTERNS.iter().map(|_| gpu.zeros::<f32>(THREADS as usize)).collect::<Result<Vec<_>, _>>()?;
    let pairs = PATTERNS.iter().zip(&outputs).map(|(pattern, out)| {
        let case = |steps| {
            let args = (out.ptr(), steps, pattern.stride, pattern.swizzle);
            Case::new(&shared_stride, pattern.what, shape(THREADS), args)
        };
        Pair::new(case(steps[0]), case(steps[1]))
    });
    let pairs = pairs.collect();
    let costs = costs(cx, gpu, pairs)?;
    let time = format!("µs, {}", gpu.time_source());
    let title = format!("{} loads of each of 32 warps in one block", steps[1] - steps[0]);
    let mut table = Table::new(title, ["lanes read", "passes a load", &time]);
    let mut wrong = None;
    for ((pattern, out), cost) in PATTERNS.iter().zip(&outputs).zip(&costs) {
        // The loads of the array's making are stores, so all passes of loads are the steps'.
        let loads = f64::from(THREADS / 32 * steps[1]);
        let found = counter(&cost.more, SHARED_LOAD_PASSES).map(|passes| passes / loads);
        table.row([pattern.what.into(), found.clone().unwrap_or(f64::NAN).into(), cost.us.unwrap_or(f64::NAN).into()]);
        record(cx, pattern.claim, found);
        wrong = wrong.or(wrong_sum(pattern.what, out, steps[1], word(pattern.stride, pattern.swizzle))?);
    }
    cx.table(table);
    let of =
        |claim: &str| PATTERNS.iter().zip(&costs).find(|(pattern, _)| pattern.claim == claim).map(|(_, cost)| cost);
    if let (Some(one), Some(column), Some(padded)) = (of("stride_1"), of("stride_32"), of("stride_33")) {
        record(cx, "time", over(column, one));
        record(cx, "padded_time", over(padded, one));
    }
    Ok(wrong)
}

/// All strides, by their counters.
fn strides(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let steps = 32;
    let out = gpu.zeros::<f32>(32)?;
    let cases = (1..=33)
        .map(|stride| Case::new(&shared_stride, "", shape(32), (out.ptr(), steps, stride, 0)).unlisted().untimed());
    let cases = cases.collect();
    let reports = cx.measure_in_turn(gpu, cases)?;
    let found = reports.iter().map(|report| Ok(counter(report, SHARED_LOAD_PASSES)? / f64::from(steps)));
    let found: Vec<f64> = match found.collect::<Result<_, String>>() {
        Ok(found) => found,
        Err(reason) => {
            cx.not_run("strides", reason);
            return Ok(());
        }
    };
    let other = (1..).zip(&found).find(|&(stride, &passes)| passes != f64::from(common_divisor(stride, 32)));
    let otherwise = other.map(|(stride, passes)| format!("stride {stride} takes {passes} passes"));
    cx.holds("strides", otherwise.is_none(), otherwise.unwrap_or_default());
    let (x, y) = (Axis::linear("stride, words"), Axis::linear("passes a load"));
    let points = (1..).zip(found).map(|(stride, passes)| (f64::from(stride), passes));
    cx.plot(Plot::new("An odd stride is as good as 1", x, y).series("32 lanes", Mark::Points, points));
    Ok(())
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Loads of 8 and 16 bytes.
fn wide(cx: &mut LabContext<'_>, gpu: &Gpu, wrong: &mut Option<String>) -> Result<(), LabError> {
    let (steps, lanes) = (64, 32);
    let outputs = [gpu.zeros::<f32>(lanes)?, gpu.zeros::<f32>(lanes)?];
    let cases = vec![
        Case::new(&shared_pairs, "", shape(32), (outputs[0].ptr(), steps)),
        Case::new(&shared_quads, "", shape(32), (outputs[1].ptr(), steps)),
    ];
    let reports = cx.measure_in_turn(gpu, cases)?;
    for (claim, report) in ["pairs", "quads"].iter().zip(&reports) {
        record(cx, claim, counter(report, SHARED_LOAD_PASSES).map(|passes| passes / f64::from(steps)));
    }
    for (claim, out, width) in [("pairs", &outputs[0], 1), ("quads", &outputs[1], 4)] {
        *wrong = wrong.take().or(wrong_sum(claim, out, steps, |lane, step| width * (lane + step % 32))?);
    }
    Ok(())
}

/// A tile that is written by rows and read by columns.
fn transposes(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let n = 128;
    let x: Vec<f32> = (0..n * n).map(|word| word as f32).collect();
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let shape = LaunchShape::new([n / TILE, n / TILE, 1], [TILE, ROWS, 1]);
    let args = (input.ptr(), output.ptr(), n);
    let cases = vec![Case::new(&transpose_tiled, "", shape, args), Case::new(&transpose_padded, "", shape, args)];
    let reports = cx.measure_in_turn(gpu, cases)?;
    // Each element is read once, a warp's 32 by one load.
    let loads = f64::from(n * n / 32);
    for (claim, report) in ["transpose", "transpose_padded"].iter().zip(&reports) {
        record(cx, claim, counter(report, SHARED_LOAD_PASSES).map(|passes| passes / loads));
    }
    Ok(())
}
