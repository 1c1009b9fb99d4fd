//! `roofline`: memory or compute?
//!
//! The ridge of several devices and every kernel's place are here; a matrix times one and more vectors is in [`batches`].

mod batches;

use warpwise_simt::device::{self, Device};

use super::roof::Roof;
use super::survey::{Surveyed, survey};
use crate::backend::Gpu;
use crate::claim::{Claim, between, equal, holds, near};
use crate::lab::{Lab, LabContext, LabError, Mark, Table};

pub static LAB: Lab = Lab {
    id: "roofline",
    chapter: 3,
    sections: "ch3 §6, ch4 §2",
    question: "memory or compute?",
    kernels: &["gemv", "gemm_4", "gemm_16", "matmul_register"],
    text: include_str!("../../../../docs/labs/roofline.md"),
    claims,
    run,
};

const SECTION: &str = "ch4 §2";
/// Device, as the claim's id has it, and its operations a float at the ridge, rounded.
const RIDGES: [(&str, &str, i64); 5] = [
    ("A100 40GB", "a100_40", 50),
    ("A100 80GB PCIe", "a100_80_pcie", 40),
    ("A100 80GB SXM", "a100_80", 38),
    ("H200", "h200", 56),
    ("RTX 5070", "rtx_5070", 184),
];
/// Multiply-adds that MSDA does with each float it loads, by the chapter; each is two operations.
const MSDA_MULTIPLY_ADDS: f64 = 4.0;
/// How far above the roof a point may be: it is a model's, or a copy's of this run.
const ABOVE_MAX: f64 = 1.05;

fn claims() -> Vec<Claim> {
    let mut claims = Vec::new();
    for (device, id, operations) in RIDGES {
        let statement = format!("{device}: operations a float at the ridge, by its data sheet");
        let claim = Claim::new(format!("ridge_{id}"), SECTION, statement, equal(operations));
        let is_chapters = device.starts_with("A100");
        claims.push(if is_chapters {
            claim.note("the chapter's about 40: 19.5 TFLOP/s over about 2 TB/s")
        } else {
            claim
        });
    }
    claims.extend([
        Claim::new(
            "measured_h200",
            SECTION,
            "an H200 as measured: operations a float at the ridge",
            between(52.0, 66.0),
        )
        .on_gpu(),
        Claim::new(
            "msda",
            SECTION,
            "MSDA's 4 multiply-adds a float, 8 operations: their share of the ridge of an A100",
            near(0.2, 0.2),
        )
        .note("the chapter counts a multiply-add once: then a tenth. Memory-bound either way"),
        Claim::new("below", "ch3 §6", "no kernel is above the roof", holds("all are below it")),
        Claim::new("left", "ch3 §6", "vecadd, leaky_relu, blur and softmax are left of the ridge", holds("they are")),
        Claim::new("right", "ch3 §6", "nbody is right of it", holds("they are")),
        Claim::new("vecadd", "ch3 §6", "vecadd: operations a byte", near(1.0 / 12.0, 0.001)),
    ]);
    claims.extend(batches::claims());
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    ridges(cx)?;
    let gpu = cx.gpu()?;
    kernels(cx, &gpu)?;
    batches::run(cx, &gpu)
}

/// A device as its data sheet has it.
pub(crate) fn sheet(device: &Device) -> Roof {
    let lanes = f64::from(device.sm_count) * f64::from(device.limits.fp32_lanes);
    Roof { gflops: 2.0 * lanes * f64::from(device.boost_clock_mhz) / 1e3, gbs: device.memory_bandwidth_gbs }
}

fn ridges(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let mut table = Table::new(
        "where memory and arithmetic are in balance, by data sheets",
        ["device", "TFLOP/s", "GB/s", "operations a byte", "operations a float"],
    );
    for (name, id, _) in RIDGES {
        let roof = sheet(device::find(name)?);
        let operations = roof.ridge_per_float().round() as i64;
        cx.found(&format!("ridge_{id}"), operations);
        table.row([name.into(), (roof.gflops / 1e3).into(), roof.gbs.into(), roof.ridge().into(), operations.into()]);
    }
    cx.table(table);
    cx.found("msda", 2.0 * MSDA_MULTIPLY_ADDS / sheet(device::find("A100 80GB SXM")?).ridge_per_float());
    let measured = cx.ceilings()?;
    match measured.copy.time.is_measured() && cx.device().name == "H200" {
        true => cx.found("measured_h200", Roof::of(measured).ridge_per_float()),
        false => cx.not_run("measured_h200", "this run is not on an H200"),
    }
    Ok(())
}

/// Every kernel under the roof of the run's device.
fn kernels(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let roof = Roof::of(cx.ceilings()?);
    let all = survey(cx)?;
    let source = gpu.time_source();
    let title = format!("Every kernel under the roof of {}", gpu.device().name);
    let mut plot = roof.plot(&title, "operations a byte that has to move", source);
    let rate = format!("GFLOP/s, {source}");
    let columns = ["kernel", "operations a byte", "side", &rate, "of the roof"];
    let mut table = Table::new("every kernel, at the sizes of `counters`", columns);
    let mut above = None;
    for one in all.iter().filter(|one| one.flops > 0.0) {
        let intensity = one.intensity();
        let Some(us) = one.us() else {
            table.row([one.kernel.into(), intensity.into(), side(one, roof).into(), "–".into(), "–".into()]);
            continue;
        };
        let gflops = one.flops / us / 1e3;
        // What came from L2 need not come from memory: a launch this small may be faster than memory, but not than arithmetic.
        if gflops > ABOVE_MAX * roof.gflops {
            above.get_or_insert(format!("{}: {gflops} GFLOP/s", one.kernel));
        }
        let share = crate::claim::format::percent(gflops / roof.at(intensity));
        table.row([one.kernel.into(), intensity.into(), side(one, roof).into(), gflops.into(), share.into()]);
        plot = plot.series(one.kernel, Mark::Points, [(intensity, gflops)]);
    }
    cx.table(table);
    cx.plot(plot);
    cx.holds("below", above.is_none(), above.unwrap_or_default());
    for (claim, expected, kernels) in
        [("left", MEMORY, &["vecadd", "leaky_relu", "blur", "softmax"][..]), ("right", ARITHMETIC, &["nbody"])]
    {
        let is_elsewhere = |kernel: &&str| all.iter().any(|one| one.kernel == *kernel && side(one, roof) != expected);
        let there = kernels.iter().filter(|kernel| all.iter().any(|one| one.kernel == **kernel)).count();
        let elsewhere: Vec<&str> = kernels.iter().copied().filter(is_elsewhere).collect();
        let otherwise = format!("elsewhere: {}; {there} of {} were run", elsewhere.join(", "), kernels.len());
        cx.holds(claim, elsewhere.is_empty() && there == kernels.len(), otherwise);
    }
    match all.iter().find(|one| one.kernel == "vecadd") {
        Some(vecadd) => cx.found("vecadd", vecadd.intensity()),
        None => cx.not_run("vecadd", "it was not run"),
    }
    Ok(())
}

const MEMORY: &str = "memory";
const ARITHMETIC: &str = "arithmetic";

/// Which of the two sets the pace at best.
fn side(one: &Surveyed, roof: Roof) -> &'static str {
    if one.intensity() < roof.ridge() { MEMORY } else { ARITHMETIC }
}
