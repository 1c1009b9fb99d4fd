//! A run with one of everything, for the tests of reports and schemas.

use warpwise_simt::device::Device;
use warpwise_simt::isa::Isa;

use super::{Axis, KernelRow, Lab, LabOutcome, Mark, OccupancyFigures, Plot, RunOutcome, Table};
use crate::backend::{BackendKind, CounterSet, ReadingsDigest};
use crate::ceilings::Ceilings;
use crate::claim::{Claim, Setting, Times, Toolchain, Value, at_least, equal, holds, less_than};
use crate::numbers::{Clocks, Regs, Time};

static LAB: Lab = Lab {
    id: "sample",
    chapter: 1,
    sections: "ch1 §2",
    question: "what is < 1 & > 0?",
    kernels: &["vecadd"],
    text: "",
    claims: Vec::new,
    run: |_| Ok(()),
};

/// A kernel with a time, one that spills and has none, a table, a plot, a note, and a claim of each verdict.
pub fn run() -> RunOutcome {
    let toolchain = Toolchain {
        rustc: Some("1.96.0".to_owned()),
        llvm: Some("22.1.8".to_owned()),
        ptxas: Some("13.2.78".to_owned()),
    };
    let setting = Setting {
        backend: BackendKind::Sim,
        device: "RTX 5070".to_owned(),
        times: Times::ModelledFromSass,
        toolchain: toolchain.clone(),
    };
    let mut table = Table::new("blocks by size", ["threads", "occupancy", "limiter"]);
    table.row(["256".into(), 1.0.into(), "warps".into()]).row(["1024".into(), 0.666_666.into(), "warps".into()]);
    let plot = Plot::new("occupancy by registers", Axis::linear("registers"), Axis::linear("occupancy (%)")).series(
        "256 threads",
        Mark::Steps,
        [(40.0, 100.0), (41.0, 83.0)],
    );
    let claims = [
        (Claim::new("blocks", "ch1 §2", "3,907 blocks are needed", equal(3907)), Some(Value::from(3907))),
        (
            Claim::new("free", "ch1 §7", "the guard costs under 1%", less_than(0.01)).note("in instructions"),
            Some(f64::INFINITY.into()),
        ),
        (Claim::new("same", "ch1 §2", "the results are the CPU's", holds("none differs")), Some("yes".into())),
        (Claim::new("speed", "ch1 §9", "the GPU reaches 90%", at_least(0.9)).on_gpu(), None),
    ];
    let lab = LabOutcome {
        lab: &LAB,
        backend: BackendKind::Sim,
        seconds: 0.25,
        results: ReadingsDigest { reads: 2, bytes: 4_000_012, hash: 0x0123_4567_89ab_cdef },
        kernels: vec![timed(), spilling()],
        tables: vec![table],
        plots: vec![plot],
        notes: vec!["refused: 1,025 threads".to_owned()],
        claims: claims.into_iter().map(|(claim, found)| claim.judge(found, None, &setting)).collect(),
        trouble: None,
    };
    RunOutcome { toolchain, ceilings: vec![Ceilings::of_model(Device::default_device())], labs: vec![lab] }
}

fn timed() -> KernelRow {
    let counters = [("smsp__inst_executed.sum", 562_608.0), ("l1tex__average.ratio", 3.5)];
    KernelRow {
        kernel: "vecadd".to_owned(),
        variant: "n = 1,000,003".to_owned(),
        device: "RTX 5070".to_owned(),
        arch: "sm_120".to_owned(),
        registers: Regs::Ptxas(12),
        loaded: None,
        spill_store_bytes: 0,
        spill_load_bytes: 0,
        stack_bytes: 0,
        shared_bytes: 0,
        grid: [3907, 1, 1],
        block: [256, 1, 1],
        occupancy: OccupancyFigures {
            theoretical: 1.0,
            achieved: Some(0.81),
            blocks_per_sm: 6,
            limiters: vec!["warps"],
        },
        least_bytes: Some(6_000_000),
        times: vec![
            Time::Modelled {
                cycles: 41_000,
                us: 16.322,
                isa: Isa::Ptx,
                device: "RTX 5070".to_owned(),
                validated: false,
                sampled: None,
            },
            Time::Measured {
                us: 5.1,
                us_min: 5.0,
                us_max: 5.9,
                spread: 0.06,
                samples: 50,
                clocks: Some(clocks()),
                device: "NVIDIA H200".to_owned(),
            },
        ],
        no_time: None,
        counters: Some(CounterSet::new(Isa::Ptx, counters.map(|(name, value)| (name.to_owned(), value)))),
    }
}

fn clocks() -> Clocks {
    Clocks { sm_mhz_min: 1_620, sm_mhz_max: 1_980, memory_mhz: 3_201, throttled: vec!["power cap"] }
}

fn spilling() -> KernelRow {
    KernelRow {
        kernel: "heavy_capped".to_owned(),
        variant: String::new(),
        registers: Regs::Ptxas(40),
        spill_store_bytes: 148,
        spill_load_bytes: 160,
        stack_bytes: 152,
        times: Vec::new(),
        no_time: Some("needs SASS".to_owned()),
        counters: None,
        ..timed()
    }
}
