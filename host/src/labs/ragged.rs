//! `ragged`: what if trip counts differ?

use warpwise_kernels::maths;
use warpwise_kernels::ragged::{ragged, ragged_sorted, ragged_split};

use super::counters::{INSTRUCTIONS, THREAD_INSTRUCTIONS, counter, record, time_ratio};
use crate::backend::{DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, greater_than, holds, less_than, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "ragged",
    chapter: 1,
    sections: "ch1 §7",
    question: "what if trip counts differ?",
    kernels: &["ragged", "ragged_sorted", "ragged_split"],
    text: include_str!("../../../docs/labs/ragged.md"),
    claims,
    run,
};

const SECTION: &str = "ch1 §7";
const SHORT: u32 = 10;
const LONG: u32 = 1_000;
/// Lanes that are busy in the mean: one for all of its 1,000 rounds, 31 for 10 each.
const MEAN_LANES: f64 = (LONG + 31 * SHORT) as f64 / LONG as f64;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "runs_the_longest",
            SECTION,
            "one lane of 1,000 rounds in each warp of 10s: instructions over all of 1,000",
            near(1.0, 0.1),
        )
        .on_machine(),
        Claim::new("lanes", SECTION, "lanes busy in its loop, in the mean", near(MEAN_LANES, 0.05))
            .note("(1,000 + 31 × 10) ÷ 1,000 = 1.31")
            .on_machine(),
        Claim::new("sorted", SECTION, "sorted by length: instructions over those before", less_than(0.1)).on_machine(),
        Claim::new("sorted_lanes", SECTION, "lanes busy in the loop after sorting, in the mean", greater_than(25.0))
            .on_machine(),
        Claim::new(
            "split",
            SECTION,
            "long items split among the lanes: instructions over those before",
            less_than(0.1),
        )
        .on_machine(),
        Claim::new("split_time", SECTION, "long items split: time over that before", less_than(0.5)),
        Claim::new("results", SECTION, "all three add up to what the CPU adds up to", holds("no sum differs")),
    ]
}

const BLOCK: u32 = 256;

/// Items, how long they are, and what comes of them.
struct Items {
    terms: Vec<u32>,
    device: DeviceBuffer<u32>,
    /// Longest first.
    order: DeviceBuffer<u32>,
    sums: [DeviceBuffer<u32>; 3],
}

impl Items {
    /// The 20th of each 32 is long.
    fn new(gpu: &Gpu, n: u32, short: u32, long: u32) -> Result<Self, LabError> {
        let terms: Vec<u32> = (0..n).map(|i| if i % 32 == 20 { long } else { short }).collect();
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(terms[i as usize]));
        let sums = || gpu.zeros::<u32>(n as usize);
        Ok(Self { device: gpu.upload(&terms)?, order: gpu.upload(&order)?, sums: [sums()?, sums()?, sums()?], terms })
    }

    fn cases(&self) -> [Case; 3] {
        let n = self.terms.len() as u32;
        let shape = LaunchShape::linear(n, BLOCK);
        let [plain, sorted, split] = &self.sums;
        [
            Case::new(&ragged, "", shape, (self.device.ptr(), plain.ptr(), n)),
            Case::new(&ragged_sorted, "", shape, (self.device.ptr(), self.order.ptr(), sorted.ptr(), n)),
            Case::new(&ragged_split, "", shape, (self.device.ptr(), split.ptr(), n)),
        ]
    }

    /// The first sum that is not the CPU's.
    fn wrong(&self) -> Result<Option<String>, LabError> {
        for (sums, kernel) in self.sums.iter().zip(LAB.kernels) {
            for ((i, found), &terms) in (0..).zip(sums.download()?).zip(&self.terms) {
                let expected = (0..terms).fold(0_u32, |sum, k| sum.wrapping_add(maths::ragged_term(i, k)));
                if found != expected {
                    return Ok(Some(format!("{kernel}: sum {i} is {found}, not {expected}")));
                }
            }
        }
        Ok(None)
    }
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let n = if gpu.measures() { 1 << 22 } else { 1 << 14 };
    let items = Items::new(&gpu, n, SHORT, LONG)?;
    let reports = cx.measure_in_turn(&gpu, items.cases().into())?;
    let wrong = items.wrong()?;
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    let [plain, sorted, split] = &reports[..] else {
        return Err(LabError::Other("three kernels were to be measured".to_owned()));
    };
    let instructions = |report: &LaunchReport| counter(report, INSTRUCTIONS);
    let over_plain = |report: &LaunchReport| Ok(instructions(report)? / instructions(plain)?);
    record(cx, "sorted", over_plain(sorted));
    record(cx, "split", over_plain(split));
    record(cx, "split_time", time_ratio(split, plain));
    if gpu.measures() {
        return Ok(());
    }
    // Every length three times as long: what is more is the loop's alone.
    let longer = Items::new(&gpu, n, 3 * SHORT, 3 * LONG)?;
    let cases = longer.cases().map(|case| case.unlisted().untimed());
    let more = cx.measure_in_turn(&gpu, cases.into())?;
    let lanes = |k: usize| {
        let of = |name| Ok::<_, String>(counter(&more[k], name)? - counter(&reports[k], name)?);
        Ok::<_, String>(of(THREAD_INSTRUCTIONS)? / of(INSTRUCTIONS)?)
    };
    record(cx, "lanes", lanes(0));
    record(cx, "sorted_lanes", lanes(1));
    let all_long = Items::new(&gpu, n, LONG, LONG)?;
    let [case, ..] = all_long.cases();
    let all_long = cx.measure_in_turn(&gpu, vec![case.unlisted().untimed()])?;
    record(cx, "runs_the_longest", instructions(plain).and_then(|plain| Ok(plain / instructions(&all_long[0])?)));
    let title = format!("{n} items, one of 32 with {LONG} rounds, the others with {SHORT}");
    let mut table = Table::new(title, ["kernel", "instructions", "lanes busy in the loop"]);
    for (k, kernel) in LAB.kernels.iter().enumerate() {
        let instructions = instructions(&reports[k]).unwrap_or(f64::NAN);
        table.row([(*kernel).into(), instructions.into(), lanes(k).unwrap_or(f64::NAN).into()]);
    }
    cx.table(table);
    Ok(())
}
