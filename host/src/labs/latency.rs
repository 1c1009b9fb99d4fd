//! `latency`: how is latency hidden?
//!
//! One block on one SM walks chains of dependent loads through L2. Warps and chains a thread are two ways to have more loads in
//! flight; Little's law says what either is worth: loads in flight = loads a time × the time that one takes.

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::latency::{chase_ilp1, chase_ilp2, chase_ilp4, chase_ilp8};

use super::cost::{Pair, costs};
use super::counters::record;
use crate::backend::{Gpu, LaunchShape};
use crate::claim::{Claim, at_least, at_most, holds, near};
use crate::lab::{Axis, Case, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "latency",
    chapter: 1,
    sections: "ch1 §8",
    question: "how is latency hidden?",
    kernels: &["chase_ilp1", "chase_ilp2", "chase_ilp4", "chase_ilp8"],
    text: include_str!("../../../docs/labs/latency.md"),
    claims,
    run,
};

const SECTION: &str = "ch1 §8";

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("warps", SECTION, "two warps: loads a time over those of one", near(2.0, 0.1)),
        Claim::new(
            "chains",
            SECTION,
            "one warp, two independent loads a thread: loads a time over those of one",
            near(2.0, 0.15),
        ),
        Claim::new(
            "trade",
            SECTION,
            "4 warps with 4 independent loads a thread over 16 warps with one",
            near(1.0, 0.2),
        ),
        Claim::new(
            "little_below",
            SECTION,
            "up to half of the knee: least loads a time over those that Little's law gives",
            at_least(0.8),
        ),
        Claim::new("little_above", SECTION, "beyond the knee: most loads a time over the most of all", at_most(1.05)),
        Claim::new(
            "knee",
            SECTION,
            "32 warps with 8 chains: loads in flight over what keeps them coming at the full rate",
            at_least(1.0),
        ),
        Claim::new("a_warp_alone", SECTION, "share of the full rate that one warp with one load reaches", at_most(0.1))
            .note("a warp alone leaves its SM waiting nearly all the time"),
        Claim::new("results", SECTION, "each chain ends where the table leads", holds("no end differs")),
    ]
}

type Args = (DevicePtr<u32>, DevicePtr<u32>, u32, u32);

static KERNELS: [(&Kernel<Args>, u32); 4] = [(&chase_ilp1, 1), (&chase_ilp2, 2), (&chase_ilp4, 4), (&chase_ilp8, 8)];
/// Warps of the block.
const WARPS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Words of the table: 8 MiB, which no L1 holds and the near half of every L2 does.
const WORDS: u32 = 1 << 21;
/// Words from an entry to its successor: a whole number of lines, so that the loads of a warp stay side by side, and the golden section of
/// the table, so that no warp or chain comes to a line that another had before 3,000 others were touched in between: more than any L1 has.
/// (With 33 lines four warps of eight chains met each other's lines after 31 steps, and L1 had them.)
const STRIDE: u32 = 40_503 * 32;
/// Steps after which 32 warps of 8 chains have been at every line.
const ALL_LINES: u32 = 1_024;
/// What lies between the chains of a thread: more than a block's threads.
const APART: u32 = WORDS / 8;

/// A launch of the grid and what came of it.
struct Point {
    warps: u32,
    chains: u32,
    /// Warp loads a microsecond.
    rate: f64,
}

impl Point {
    fn in_flight(&self) -> f64 {
        f64::from(self.warps * self.chains)
    }
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let points = measure(cx, &gpu)?;
    let Some(points) = points else {
        return Ok(());
    };
    let rate = |warps: u32, chains: u32| {
        let point = points.iter().find(|point| (point.warps, point.chains) == (warps, chains));
        point.map_or(f64::NAN, |point| point.rate)
    };
    let most = points.iter().map(|point| point.rate).fold(0.0, f64::max);
    // One warp, one load: the rate is one over the latency.
    let latency_us = 1.0 / rate(1, 1);
    let knee = most * latency_us;
    cx.found("warps", rate(2, 1) / rate(1, 1));
    cx.found("chains", rate(1, 2) / rate(1, 1));
    cx.found("trade", rate(4, 4) / rate(16, 1));
    cx.found("a_warp_alone", rate(1, 1) / most);
    let below = points.iter().filter(|point| point.in_flight() <= knee / 2.0);
    cx.found(
        "little_below",
        below.map(|point| point.rate * latency_us / point.in_flight()).fold(f64::INFINITY, f64::min),
    );
    let above = points.iter().filter(|point| point.in_flight() >= knee);
    cx.found("little_above", above.map(|point| point.rate / most).fold(0.0, f64::max));
    cx.found("knee", 32.0 * 8.0 / knee);
    cx.note(format!(
        "a load takes {:.0} ns; at most {most:.0} loads a µs leave the SM, {} by {}: Little's law has the knee at {knee:.0} in flight",
        1_000.0 * latency_us,
        "each of a warp",
        gpu.time_source(),
    ));
    show(cx, &points, knee);
    Ok(())
}

/// Every point of the grid; nothing where launches have no times.
fn measure(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Option<Vec<Point>>, LabError> {
    let table: Vec<u32> = (0..WORDS).map(|word| (word + STRIDE) % WORDS).collect();
    let next = gpu.upload(&table)?;
    let steps = if gpu.measures() { [64, 1_024] } else { [16, 112] };
    let mut wrong = None;
    // All lines into L2, where all launches are to find them.
    let threads = 32 * WARPS[WARPS.len() - 1];
    let out = gpu.zeros::<u32>(threads as usize)?;
    let whole_block = LaunchShape::new([1; 3], [threads, 1, 1]);
    gpu.profile(&chase_ilp8, whole_block, None, (next.ptr(), out.ptr(), APART, ALL_LINES))?;
    let mut points = Vec::new();
    for (kernel, chains) in KERNELS {
        let outputs =
            WARPS.iter().map(|warps| gpu.zeros::<u32>(32 * *warps as usize)).collect::<Result<Vec<_>, _>>()?;
        let pairs = WARPS.iter().zip(&outputs).map(|(warps, out)| {
            let shape = LaunchShape::new([1; 3], [32 * warps, 1, 1]);
            let case = |steps| {
                Case::new(kernel, format!("{warps} warps"), shape, (next.ptr(), out.ptr(), APART, steps)).from_warm_l2()
            };
            let more = case(steps[1]);
            Pair::new(case(steps[0]), if matches!(warps, 1 | 32) { more } else { more.unlisted() })
        });
        let pairs = pairs.collect();
        let costs = costs(cx, gpu, pairs)?;
        for ((&warps, out), cost) in WARPS.iter().zip(&outputs).zip(&costs) {
            let Some(us) = cost.us else {
                for claim in ["warps", "chains", "trade", "little_below", "little_above", "knee", "a_warp_alone"] {
                    record(cx, claim, Err::<f64, _>("there is no time".to_owned()));
                }
                return Ok(None);
            };
            let loads = f64::from(warps * chains * (steps[1] - steps[0]));
            points.push(Point { warps, chains, rate: loads / us });
            for (i, found) in (0..).zip(out.download()?) {
                let ends =
                    (0..chains).map(|k| (u64::from(i + k * APART) + u64::from(steps[1] * STRIDE)) % u64::from(WORDS));
                let expected = ends.sum::<u64>() as u32;
                if found != expected {
                    wrong.get_or_insert(format!(
                        "{}, {warps} warps: thread {i} has {found}, not {expected}",
                        kernel.name
                    ));
                }
            }
        }
    }
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    Ok(Some(points))
}

fn show(cx: &mut LabContext<'_>, points: &[Point], knee: f64) {
    let most = points.iter().map(|point| point.rate).fold(0.0, f64::max);
    let mut table = Table::new(
        "loads a time, in percent of the most of all: one block on one SM",
        ["warps", "1 load a thread", "2", "4", "8"],
    );
    for warps in WARPS {
        let of = |chains: u32| {
            let point = points.iter().find(|point| (point.warps, point.chains) == (warps, chains));
            point.map_or(f64::NAN, |point| (100.0 * point.rate / most).round())
        };
        table.row([warps.into(), of(1).into(), of(2).into(), of(4).into(), of(8).into()]);
    }
    cx.table(table);
    let law = [1.0, knee, 256.0_f64.max(knee)].map(|in_flight| (in_flight, (in_flight / knee).min(1.0)));
    let mut plot = Plot::new(
        "Little's law: what is in flight decides, wherever it comes from",
        Axis::log("warps × independent loads a thread"),
        Axis::linear("share of the full rate"),
    )
    .series("law", Mark::Line, law);
    for (_, chains) in KERNELS {
        let own = points.iter().filter(|point| point.chains == chains);
        plot = plot.series(
            format!("{chains} loads a thread"),
            Mark::Points,
            own.map(|point| (point.in_flight(), point.rate / most)),
        );
    }
    cx.plot(plot);
}
