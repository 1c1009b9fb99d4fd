//! `parity`: bad and good placement of the same `if`.

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::maths;
use warpwise_kernels::parity::{parity_lane, parity_warp};

use super::cost::{Cost, Pair, costs, over};
use super::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, LOAD_REQUESTS, LOAD_SECTORS, WARPS, counter, ratio, record};
use super::input::{differences, noise, references};
use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "parity",
    chapter: 2,
    sections: "ch2, warp divergence",
    question: "bad and good placement of the same if",
    kernels: &["parity_lane", "parity_warp"],
    text: include_str!("../../../docs/labs/parity.md"),
    claims,
    run,
};

const SECTION: &str = "ch2, warp divergence";

fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "time",
            SECTION,
            "both kinds in each warp: time of the two ways over one kind a warp",
            near(2.0, 0.1),
        ),
        Claim::new("instructions", SECTION, "the same, in instructions", near(2.0, 0.1)).on_machine(),
        Claim::new("divergent", SECTION, "branches at which lanes part, a warp of both kinds", equal(1)).on_machine(),
        Claim::new("together", SECTION, "branches at which lanes part, one kind a warp", equal(0)).on_machine(),
        Claim::new("sectors_in_order", SECTION, "sectors a warp's load touches, elements in order", equal(4))
            .on_machine(),
        Claim::new("sectors_regrouped", SECTION, "sectors a warp's load touches, every other element", equal(8))
            .note("regrouping has a price that the chapter does not name: each warp now reads twice as many sectors")
            .on_machine(),
        Claim::new("same", SECTION, "regrouping changes no result", holds("both equal the CPU, bit for bit")),
    ]
}

type Args = (DevicePtr<f32>, DevicePtr<f32>, u32, u32);

const BLOCK: u32 = 256;

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    // A block for each SM shows it as well as a full chip does.
    let (n, steps) =
        if gpu.measures() { (1 << 20, [200, 2_000]) } else { (BLOCK * gpu.device().sm_count, [256, 1_280]) };
    let x = noise(n, 23);
    let device_x = gpu.upload(&x)?;
    let kernels: [(&Kernel<Args>, &str); 2] = [(&parity_lane, "both kinds"), (&parity_warp, "one kind")];
    let outputs = [gpu.zeros::<f32>(n as usize)?, gpu.zeros::<f32>(n as usize)?];
    let pairs = kernels.iter().zip(&outputs).map(|((kernel, who), y)| {
        let case = |steps| Case::new(*kernel, *who, LaunchShape::linear(n, BLOCK), (device_x.ptr(), y.ptr(), n, steps));
        Pair::new(case(steps[0]), case(steps[1]))
    });
    let pairs = pairs.collect();
    let costs = costs(cx, &gpu, pairs)?;
    let [lane, warp] = &costs[..] else {
        return Err(LabError::Other("two kernels were to be timed".to_owned()));
    };
    record(cx, "time", over(lane, warp));
    record(cx, "instructions", instructions(lane).and_then(|lane| Ok(lane / instructions(warp)?)));
    record(cx, "divergent", ratio(&lane.more, DIVERGENT_BRANCHES, WARPS));
    record(cx, "together", counter(&warp.more, DIVERGENT_BRANCHES));
    record(cx, "sectors_in_order", ratio(&lane.more, LOAD_SECTORS, LOAD_REQUESTS));
    record(cx, "sectors_regrouped", ratio(&warp.more, LOAD_SECTORS, LOAD_REQUESTS));
    let mut wrong = None;
    for ((kernel, _), y) in kernels.iter().zip(&outputs) {
        let expected = references(&x, |i, x| maths::parity(i, x, steps[1]));
        let differences = differences(&y.download()?, expected);
        if !differences.none() {
            wrong.get_or_insert(format!("{}: {differences}", kernel.name));
        }
    }
    cx.holds("same", wrong.is_none(), wrong.unwrap_or_default());
    let time = format!("µs, {}", gpu.time_source());
    let title = format!("cost of the ways: time with {} steps above that with {}", steps[1], steps[0]);
    let mut table = Table::new(title, ["kernel", "a warp has", &time]);
    for ((kernel, who), cost) in kernels.iter().zip(&costs) {
        table.row([kernel.name.into(), (*who).into(), cost.us.unwrap_or(f64::NAN).into()]);
    }
    cx.table(table);
    Ok(())
}

fn instructions(cost: &Cost) -> Result<f64, String> {
    counter(&cost.more, INSTRUCTIONS)
}
