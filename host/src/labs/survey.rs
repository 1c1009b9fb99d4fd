//! What every kernel does in one launch: the launches of [`crate::counters::CASES`], counted on the machine, timed on the device of the run.
//!
//! Two labs stand on it, so it is taken once a run and kept by the workbench.

use warpwise_simt::isa::Isa;

use crate::arguments::{Argument, Direction};
use crate::backend::{BackendKind, CounterSet, Gpu};
use crate::counters::{CASES, Case, run, run_cold};
use crate::error::CommandError;
use crate::lab::{LabContext, LabError};
use crate::numbers::Time;
use crate::workbench::Workbench;

use super::counters::{DRAM_READ_BYTES, FADD, FFMA, FMUL, SECTORS, SECTORS_IDEAL};

/// Kernels that measure one thing of the hardware or show one instruction: there is no work of theirs to be judged. And three that do what
/// others do at many times the length.
const LEFT_OUT: [&str; 24] = [
    "fma_chains",
    "accumulators",
    "accumulators_capped",
    "slow",
    "whoami",
    "runtime_index",
    "block_reverse",
    "barrier_between_ifs",
    "shuffles",
    "shuffle_f64",
    "votes",
    "barrier_reductions",
    "empty",
    "chase",
    "chase_shared",
    "read_global",
    "read_shared",
    "chain_ffma",
    "chain_imad",
    "chain_mufu",
    "count",
    "walk",
    "atomic_add",
    "atomic_add_cas",
];

/// Kernels of many instructions, which the machine counts and does not time: a GPU does.
const UNTIMED: [&str; 13] = [
    "branch_paths",
    "path_b",
    "by_lane",
    "by_warp",
    "split",
    "leaky_relu_long",
    "scale",
    "light",
    "heavy",
    "heavy_capped",
    "ilp4",
    "mix",
    "filter_unchecked",
];

/// One kernel's launch.
#[derive(Clone, Debug)]
pub struct Surveyed {
    pub kernel: &'static str,
    /// Floating-point operations of 32 bits; a multiply-add is two.
    pub flops: f64,
    /// Bytes of the arrays, each once: read, written, or both.
    pub least_bytes: f64,
    /// Bytes that the lanes asked for, warp by warp in whole sectors.
    pub asked_bytes: f64,
    /// Sectors that their accesses touched, in bytes.
    pub sector_bytes: f64,
    /// Read from DRAM on the machine, with nothing in L2 before; where it was timed.
    pub dram_read_bytes: Option<f64>,
    /// On the device of the run.
    pub time: Option<Time>,
}

impl Surveyed {
    /// Operations for each byte that has to move.
    pub fn intensity(&self) -> f64 {
        self.flops / self.least_bytes
    }

    pub fn us(&self) -> Option<f64> {
        self.time.as_ref().map(Time::us)
    }
}

/// All of them, taken when first asked for.
pub fn survey<'a>(cx: &LabContext<'a>) -> Result<&'a [Surveyed], LabError> {
    let bench = cx.bench();
    if let Some(known) = bench.survey.get() {
        return Ok(known);
    }
    let surveyed = take(cx, bench).map_err(|error| match error {
        CommandError::Gpu(error) => LabError::Gpu(error),
        CommandError::Workbench(error) => LabError::Workbench(error),
        error => LabError::Other(error.to_string()),
    })?;
    Ok(bench.survey.get_or_init(|| surveyed))
}

fn take(cx: &LabContext<'_>, bench: &Workbench) -> Result<Vec<Surveyed>, CommandError> {
    let cases = CASES.iter().filter(|case| !LEFT_OUT.contains(&case.kernel));
    let mut surveyed = Vec::new();
    for case in cases {
        cx.progress(case.kernel);
        // A context of its own: nothing of a kernel's arrays is in a cache when it starts.
        surveyed.extend(one(bench, &bench.machine(bench.device, bench.options)?, case)?);
    }
    if bench.backend() == BackendKind::Cuda {
        let gpu = bench.gpu()?;
        for one in &mut surveyed {
            let case = CASES.iter().find(|case| case.kernel == one.kernel);
            one.time = match case {
                Some(case) => run(bench, &gpu, case, Some(registers(bench, case)?))?.time().cloned(),
                None => None,
            };
        }
    }
    Ok(surveyed)
}

fn registers(bench: &Workbench, case: &Case) -> Result<u32, CommandError> {
    Ok(bench.resources(case.kernel, &bench.device.arch(), None)?.registers.value())
}

/// The launch on the machine. Nothing where what it executes would lack the kernel's spills.
fn one(bench: &Workbench, machine: &Gpu, case: &Case) -> Result<Option<Surveyed>, CommandError> {
    let resources = bench.resources(case.kernel, &bench.device.arch(), None)?;
    if resources.spills() && bench.executed(case.kernel)?.isa == Isa::Ptx {
        return Ok(None);
    }
    let report = match UNTIMED.contains(&case.kernel) {
        true => run(bench, machine, case, None)?,
        false => run_cold(bench, machine, case, resources.registers.value())?,
    };
    let Some(counters) = &report.counters else { return Ok(None) };
    let get = |counters: &CounterSet, name| counters.get(name).unwrap_or(0.0);
    let arguments = case.arguments()?;
    Ok(Some(Surveyed {
        kernel: case.kernel,
        flops: 2.0 * get(counters, FFMA) + get(counters, FADD) + get(counters, FMUL),
        least_bytes: arguments.iter().map(least_bytes).sum(),
        asked_bytes: 32.0 * get(counters, SECTORS_IDEAL),
        sector_bytes: 32.0 * get(counters, SECTORS),
        dram_read_bytes: counters.get(DRAM_READ_BYTES),
        time: report.time().cloned(),
    }))
}

/// Bytes that an argument makes the launch move at least.
fn least_bytes(argument: &Argument) -> f64 {
    match argument {
        Argument::Scalar { .. } => 0.0,
        Argument::Buffer { direction, element, len, .. } => {
            let ways = if *direction == Direction::InOut { 2 } else { 1 };
            (ways * len * element.bytes()) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_or_not_timed_is_in_the_table() {
        for kernel in LEFT_OUT.into_iter().chain(UNTIMED) {
            assert!(CASES.iter().any(|case| case.kernel == kernel), "{kernel}");
        }
    }

    #[test]
    fn an_array_that_is_read_and_written_moves_twice() {
        let bytes = |text: &str| least_bytes(&text.parse().expect("an argument"));
        assert_eq!(
            [bytes("x=in:f32:10:rand:1"), bytes("y=out:f32:10"), bytes("z=inout:u32:10"), bytes("n=scalar:u32:10")],
            [40.0, 40.0, 80.0, 0.0]
        );
    }
}
