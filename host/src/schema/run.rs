//! `warpwise.run/1`: what `run --json FILE` writes.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Integer, Real, SampledJson, labs::counters};
use crate::backend::{CounterSet, KernelFault};
use crate::numbers::{Sampled, isa_name};

/// What a run leaves behind.
#[derive(Debug)]
pub struct RunRecord<'a> {
    pub kernel: &'a str,
    pub device: &'a str,
    /// Name and values of each `out` and `inout` argument.
    pub outputs: Vec<(String, Vec<Value>)>,
    pub counters: CounterSet,
    /// Modelled cycles and microseconds; `None` after a functional run.
    pub time: Option<(u64, f64)>,
    /// Set where not all blocks were timed.
    pub sampled: Option<Sampled>,
    pub faults: Vec<KernelFault>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    device: &'a str,
    /// What was executed: `ptx` or `sass`.
    isa: &'static str,
    outputs: Map<String, Value>,
    counters: Map<String, Value>,
    cycles: Option<Integer>,
    us: Option<Real>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<SampledJson>,
    faults: Vec<FaultJson<'a>>,
}

#[derive(Serialize)]
struct FaultJson<'a> {
    kind: &'a str,
    message: &'a str,
    kernel: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    block: Option<[u32; 3]>,
    thread: Option<[u32; 3]>,
    /// In hexadecimal, as addresses are read.
    address: Option<String>,
    allocation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OtherJson<'a>>,
}

/// The second thread of a fault that takes two.
#[derive(Serialize)]
struct OtherJson<'a> {
    doing: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    block: [u32; 3],
    thread: [u32; 3],
}

/// The document of a run.
pub fn run<'a>(record: &'a RunRecord<'a>) -> impl Serialize + 'a {
    Document {
        schema: "warpwise.run/1",
        kernel: record.kernel,
        device: record.device,
        isa: isa_name(record.counters.isa),
        outputs: record.outputs.iter().map(|(name, values)| (name.clone(), Value::from(values.clone()))).collect(),
        counters: counters(&record.counters),
        cycles: record.time.map(|(cycles, _)| Integer(cycles.into())),
        us: record.time.map(|(_, us)| Real(us)),
        sampled: record.sampled.map(SampledJson::from),
        faults: record.faults.iter().map(fault).collect(),
    }
}

fn fault(fault: &KernelFault) -> FaultJson<'_> {
    FaultJson {
        kind: &fault.kind,
        message: &fault.message,
        kernel: &fault.kernel,
        file: fault.file.as_deref(),
        line: fault.line,
        block: fault.block,
        thread: fault.thread,
        address: fault.address.map(|address| format!("{address:#x}")),
        allocation: fault.allocation.as_deref(),
        other: fault.other.as_ref().map(|other| OtherJson {
            doing: &other.doing,
            file: other.file.as_deref(),
            line: other.line,
            block: other.block,
            thread: other.thread,
        }),
    }
}
