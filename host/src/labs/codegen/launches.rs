//! Runs each kernel, its peer and what rust-cuda made of it on the same arguments: for their results, and for their times.

use warpwise_nvtools::nvdisasm::Listing;
use warpwise_simt::isa::{Op, Program};

use super::cases::{self, COMPARED};
use crate::arguments::Argument;
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::counters::{Prepared, contents, prepare};
use crate::lab::{Case, KernelRow, LabContext, LabError};
use crate::labs::counters::{INSTRUCTIONS, WARPS};
use crate::numbers::Time;
use crate::peers::peer;
use crate::pressure::Mix;
use crate::rust_cuda;
use crate::workbench::Workbench;

/// A kernel in both languages.
pub struct Pair {
    pub kernel: &'static str,
    pub rust: Compared,
    pub cplusplus: Compared,
    /// By rust-cuda, where it has the kernel as it is now.
    pub nvvm: Option<Compared>,
    /// The first argument in which C++ leaves another result than Rust.
    pub difference: Option<String>,
    /// The same of rust-cuda.
    pub nvvm_difference: Option<String>,
}

/// One of them.
pub struct Compared {
    pub row: KernelRow,
    /// In the SASS, those that are never reached left out; none without nvdisasm.
    pub instructions: Option<usize>,
    report: LaunchReport,
}

impl Compared {
    pub fn registers(&self) -> u32 {
        self.row.registers.value()
    }

    pub fn spill_bytes(&self) -> u32 {
        self.row.spill_store_bytes + self.row.spill_load_bytes
    }

    pub fn us(&self) -> Option<f64> {
        self.report.time().map(Time::us)
    }

    pub fn measured(&self) -> Option<&Time> {
        self.report.time().filter(|time| time.is_measured())
    }

    pub fn executed(&self) -> Option<f64> {
        self.report.counter(INSTRUCTIONS)
    }

    pub fn executed_a_warp(&self) -> Option<f64> {
        Some(self.executed()? / self.report.counter(WARPS)?)
    }
}

/// All pairs; their rows are put into the report.
pub fn all(cx: &mut LabContext<'_>, bench: &Workbench) -> Result<Vec<Pair>, LabError> {
    let listing = bench.sass(&bench.device.arch()).ok();
    COMPARED.iter().map(|compared| pair(cx, bench, listing.as_ref(), compared)).collect()
}

fn pair(
    cx: &mut LabContext<'_>,
    bench: &Workbench,
    listing: Option<&Listing>,
    compared: &cases::Compared,
) -> Result<Pair, LabError> {
    let kernel = compared.kernel;
    let nvvm = format!("{kernel}{}", rust_cuda::SUFFIX);
    let mut entries = vec![kernel.to_owned(), peer(kernel)];
    entries.extend(Some(nvvm).filter(|nvvm| bench.code.entries().any(|entry| entry == nvvm) && may_run(bench, nvvm)));
    cx.progress(kernel);
    let (shape, arguments) = compared.small().map_err(other)?;
    let launch = Launch { bench, shape, arguments: &arguments };
    let mut inner = cx.beside(bench);
    let mut reports = Vec::new();
    let mut results = Vec::new();
    for entry in &entries {
        // A context of its own: each finds its arrays at the same addresses, and caches as empty.
        let gpu = inner.gpu()?;
        let prepared = launch.prepare(&gpu, entry)?;
        let flush = usize::try_from(bench.device.l2_bytes).unwrap_or(usize::MAX);
        let _flushed = if gpu.measures() { None } else { Some(gpu.zeros::<u8>(flush)?) };
        let case = Case::of(prepared.request.clone(), variant(entry, kernel));
        let case = if gpu.measures() { case.unlisted().untimed() } else { case };
        reports.extend(inner.measure_in_turn(&gpu, vec![case])?);
        results.push(prepared.buffers.iter().map(|buffer| buffer.download()).collect::<Result<Vec<_>, _>>()?);
    }
    let mut differences = results[1..].iter().map(|other| difference(kernel, &arguments, &results[0], other));
    let (difference, nvvm_difference) = (differences.next().flatten(), differences.next().flatten());
    if bench.measures() {
        let (shape, arguments) = compared.large().map_err(other)?;
        let launch = Launch { bench, shape, arguments: &arguments };
        let gpu = inner.gpu()?;
        // The same arrays for all.
        let prepared = launch.prepare(&gpu, kernel)?;
        let case = |entry: &String| {
            let request = crate::backend::LaunchRequest { kernel: entry.clone(), ..prepared.request.clone() };
            Case::of(request, variant(entry, kernel))
        };
        reports = inner.measure_in_turn(&gpu, entries.iter().map(case).collect())?;
    }
    let mut found = entries.iter().zip(inner.take_rows()).zip(reports).map(|((entry, row), report)| {
        let function = listing.and_then(|listing| listing.function(entry));
        Compared { row, instructions: function.map(|function| Mix::of(function).total()), report }
    });
    let (Some(rust), Some(cplusplus)) = (found.next(), found.next()) else {
        return Err(LabError::Other(format!("{kernel} was not measured twice")));
    };
    let nvvm = found.next();
    drop(found);
    for compared in [Some(&rust), Some(&cplusplus), nvvm.as_ref()].into_iter().flatten() {
        cx.row(compared.row.clone());
    }
    Ok(Pair { kernel, rust, cplusplus, nvvm, difference, nvvm_difference })
}

/// Whether rust-cuda's code is launched: on a GPU not where lanes meet.
fn may_run(bench: &Workbench, entry: &str) -> bool {
    !bench.measures() || bench.code.program(entry).is_ok_and(|program| !lanes_meet(&program))
}

/// Whether lanes wait for each other. rust-cuda moves barriers and shuffles under conditions that not all lanes of a warp meet; the
/// machine lets such lanes meet all the same, a GPU waits for them for ever (`reduce_shared` on an H200).
fn lanes_meet(program: &Program) -> bool {
    let meets = |op: &Op| {
        matches!(op, Op::Barrier(_) | Op::WarpSync | Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..))
    };
    program.code.iter().any(|instr| meets(&instr.op))
}

/// What both are launched with.
struct Launch<'a> {
    bench: &'a Workbench,
    shape: LaunchShape,
    arguments: &'a [Argument],
}

impl Launch<'_> {
    fn prepare(&self, gpu: &Gpu, entry: &str) -> Result<Prepared, LabError> {
        let contents = contents(self.arguments).map_err(other)?;
        prepare(&self.bench.code, gpu, entry, self.shape, self.arguments, &contents).map_err(other)
    }
}

fn variant(entry: &str, kernel: &str) -> &'static str {
    match entry {
        _ if entry == kernel => "Rust",
        _ if entry.ends_with(rust_cuda::SUFFIX) => "NVVM",
        _ => "C++",
    }
}

/// The first buffer that the two left different bytes in.
fn difference(kernel: &str, arguments: &[Argument], rust: &[Vec<u8>], other: &[Vec<u8>]) -> Option<String> {
    let buffers = arguments.iter().filter(|argument| matches!(argument, Argument::Buffer { .. }));
    let mut pairs = buffers.zip(rust.iter().zip(other));
    pairs.find_map(|(argument, (rust, other))| {
        let byte = rust.iter().zip(other).position(|(a, b)| a != b)?;
        Some(format!("{kernel}: `{}` differs at byte {byte}", argument.name()))
    })
}

fn other(error: impl std::fmt::Display) -> LabError {
    LabError::Other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_with_barriers_shuffles_or_votes_are_those_in_which_lanes_meet() {
        let code = rust_cuda::Made::kept().code().expect("PTX that the machine knows");
        let meet = |kernel: &&str| lanes_meet(&code.program(kernel).expect("a kernel of the text"));
        let kernels = ["vecadd", "reduce_shared", "reduce_shuffle", "msda_tile", "softmax", "mandelbrot"];
        assert_eq!(
            kernels.iter().filter(|kernel| meet(kernel)).collect::<Vec<_>>(),
            [&"reduce_shared", &"reduce_shuffle", &"softmax"]
        );
    }

    #[test]
    fn a_byte_that_differs_is_found_with_its_argument() {
        let arguments: Vec<Argument> =
            ["x=in:f32:1", "n=scalar:u32:1", "y=out:f32:1"].iter().map(|text| text.parse().expect("valid")).collect();
        let rust = vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]];
        assert_eq!(difference("k", &arguments, &rust, &rust), None);
        let mut other = rust.clone();
        other[1][2] = 0;
        assert_eq!(difference("k", &arguments, &rust, &other).as_deref(), Some("k: `y` differs at byte 2"));
    }
}
