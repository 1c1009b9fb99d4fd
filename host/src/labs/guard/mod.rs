//! `guard`: is the boundary check free?
//!
//! Who is inside and what idle lanes cost is here; times, at a size at which memory sets the pace, in [`bandwidth`].

mod bandwidth;

use warpwise_kernels::vecadd::vecadd;
use warpwise_kernels::whoami::Identity;

use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, equal, holds};
use crate::lab::{Lab, LabContext, LabError, Table};
use crate::labs::census::Census;
use crate::labs::counters::{BRANCHES, INSTRUCTIONS, THREAD_INSTRUCTIONS, counter, record};
use crate::labs::input::{differences, noise};

pub static LAB: Lab = Lab {
    id: "guard",
    chapter: 1,
    sections: "ch1 §7",
    question: "is the boundary check free?",
    kernels: &["vecadd", "vecadd_unguarded", "vecadd4", "vecadd4_unguarded"],
    text: include_str!("../../../../docs/labs/guard.md"),
    claims,
    run,
};

/// The chapter's example, and the threads of its blocks.
const SMALL: u32 = 1_003;
const BLOCK: u32 = 256;

fn claims() -> Vec<Claim> {
    let section = "ch1 §7";
    let mut claims = vec![
        Claim::new("blocks", section, "n = 1,003 at 256 threads a block: blocks", equal(4)),
        Claim::new("warps", section, "their warps", equal(32)),
        Claim::new("full", section, "warps wholly inside", equal(31)),
        Claim::new("first", section, "first element of the one that is not", equal(992)),
        Claim::new("last", section, "its last", equal(1023)),
        Claim::new("lanes", section, "its lanes inside", equal(11)),
        Claim::new("masked", section, "its lanes outside", equal(21)),
        Claim::new("results", section, "vecadd of 1,003 elements equals the CPU", holds("no element differs")),
        Claim::new("same_instructions", section, "warp instructions that a full warp there would issue more", equal(0))
            .note("branches aside: in PTX idle lanes jump around the body, in SASS they exit at the guard")
            .on_machine(),
        Claim::new("work_lost", section, "threads whose work is lost", equal(21))
            .note("thread instructions fewer than with n = 1,024, over those of one thread behind the guard")
            .on_machine(),
    ];
    claims.extend(bandwidth::claims());
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    census(cx, &gpu)?;
    small(cx, &gpu)?;
    bandwidth::run(cx, &gpu)
}

/// Who is inside, by the threads' own account.
fn census(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let shape = LaunchShape::linear(SMALL, BLOCK);
    let census = Census::take(gpu, shape)?;
    let warps = census.count(|thread| thread.index_1d < SMALL);
    cx.found("blocks", census.blocks().count());
    cx.found("warps", warps.all());
    cx.found("full", warps.full);
    let inside = |warp: &[_]| warp.iter().filter(|thread: &&Identity| thread.index_1d < SMALL).count();
    let partial = census.warps().find(|warp| !matches!(inside(warp), 0 | 32));
    let Some([first, .., last]) = partial else {
        return Err(LabError::Other(format!("no warp of {SMALL} threads is idle in part")));
    };
    let lanes = partial.map_or(0, inside);
    cx.found("first", first.index_1d);
    cx.found("last", last.index_1d);
    cx.found("lanes", lanes);
    cx.found("masked", (last.index_1d - first.index_1d + 1) as usize - lanes);
    Ok(())
}

/// The chapter's example against the same grid with all threads at work.
fn small(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let shape = LaunchShape::linear(SMALL, BLOCK);
    let threads = SMALL.next_multiple_of(BLOCK);
    let (a, b) = (noise(threads, 1), noise(threads, 2));
    let (device_a, device_b, c) = (gpu.upload(&a)?, gpu.upload(&b)?, gpu.zeros::<f32>(threads as usize)?);
    let launch = |cx: &mut LabContext<'_>, n: u32| {
        let variant = format!("n = {}", crate::claim::format::integer(n.into()));
        cx.measure(gpu, &vecadd, &variant, shape, (device_a.ptr(), device_b.ptr(), c.ptr(), n))
    };
    let partial = launch(cx, SMALL)?;
    let sums = c.download()?;
    let found = differences(&sums, a.iter().zip(&b).map(|(a, b)| a + b).take(SMALL as usize));
    cx.holds("results", found.none(), found.to_string());
    // The first launch left what it did not write at zero; nothing runs behind the guard with n = 0.
    let full = launch(cx, threads)?;
    let none = launch(cx, 0)?;
    let branches_aside = |report: &LaunchReport| Ok(counter(report, INSTRUCTIONS)? - counter(report, BRANCHES)?);
    let more = branches_aside(&full).and_then(|full: f64| Ok(full - branches_aside(&partial)?));
    record(cx, "same_instructions", more);
    let lanes = difference(&full, &partial, THREAD_INSTRUCTIONS).and_then(|fewer| {
        let behind_the_guard = difference(&full, &none, THREAD_INSTRUCTIONS)? / f64::from(threads);
        Ok(fewer / behind_the_guard)
    });
    record(cx, "work_lost", lanes);
    Ok(())
}

/// What the guard itself is: instructions of every warp, inside or not.
fn per_warp(cx: &mut LabContext<'_>, n: u32, reports: &[(&str, &LaunchReport)]) {
    let mut table = Table::new("instructions a warp, all lanes inside", ["kernel", "instructions a warp"]);
    for (kernel, report) in reports {
        let Ok(instructions) = counter(report, INSTRUCTIONS) else {
            return;
        };
        table.row([(*kernel).into(), (instructions / f64::from(n / 32)).into()]);
    }
    cx.table(table);
    cx.note("The guard is a comparison and a branch in every warp; at this size the memory system sets the pace.");
}

/// A counter of the first launch less the same of the second.
fn difference(first: &LaunchReport, second: &LaunchReport, name: &str) -> Result<f64, String> {
    Ok(counter(first, name)? - counter(second, name)?)
}
