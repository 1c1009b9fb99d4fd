//! Runs a launch of the table on any backend, and puts together what the machine counts of it.

use warpwise_simt::isa::{Instr, Isa, Op};
use warpwise_simt::occupancy::Occupancy;

use super::Case;
use super::compare::{HALF_A_WORD, LOCAL_MEMORY};
use super::metrics::{LIMIT_REGISTERS, LIMIT_SHARED, REGISTERS, REGISTERS_LEAST};
use crate::arguments::bind;
use crate::arguments::{Argument, ArgumentError, Init};
use crate::backend::{DeviceBuffer, Gpu, LaunchReport, LaunchRequest, LaunchShape};
use crate::error::CommandError;
use crate::kernels::Code;
use crate::numbers::Regs;
use crate::workbench::Workbench;

/// What the machine counts of a launch, and what the calculator says of it.
#[derive(Clone, Debug)]
pub struct Counted {
    pub kernel: &'static str,
    /// Why the accesses that ptxas made are not those of the PTX, where they are not.
    pub unlike_ptx: Option<&'static str>,
    /// Bytes that a block takes of the SM's shared memory, with the system's share and rounded up.
    pub shared_bytes_allocated: f64,
    /// What the machine executed.
    pub isa: Isa,
    values: Vec<(String, f64)>,
}

impl Counted {
    pub fn new(
        kernel: &'static str,
        unlike_ptx: Option<&'static str>,
        shared_bytes_allocated: f64,
        isa: Isa,
        values: Vec<(String, f64)>,
    ) -> Self {
        Self { kernel, unlike_ptx, shared_bytes_allocated, isa, values }
    }

    pub fn get(&self, metric: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == metric).map(|(_, value)| *value)
    }
}

/// Launches the case once and waits. With `registers`, under the cycle model where there is one.
pub fn run(bench: &Workbench, gpu: &Gpu, case: &Case, registers: Option<u32>) -> Result<LaunchReport, CommandError> {
    let Prepared { request, buffers: _buffers } = of_case(bench, gpu, case)?;
    launch(gpu, if registers.is_some() { request.timed(registers) } else { request })
}

/// As [`run`], under the cycle model where there is one, with nothing of the case's data in L2: as much as it holds is overwritten before.
pub fn run_cold(bench: &Workbench, gpu: &Gpu, case: &Case, registers: u32) -> Result<LaunchReport, CommandError> {
    let Prepared { request, buffers: _buffers } = of_case(bench, gpu, case)?;
    let _flushed = gpu.zeros::<u8>(usize::try_from(bench.device.l2_bytes).unwrap_or(usize::MAX))?;
    launch(gpu, request.timed(Some(registers)))
}

fn launch(gpu: &Gpu, request: LaunchRequest) -> Result<LaunchReport, CommandError> {
    let kernel = request.kernel.clone();
    let report = gpu.run_in_turn(vec![request])?.pop();
    report.ok_or_else(|| CommandError::Usage(format!("{kernel} left no report")))
}

fn of_case(bench: &Workbench, gpu: &Gpu, case: &Case) -> Result<Prepared, CommandError> {
    let (shape, arguments) = (LaunchShape::new(case.grid, case.block), case.arguments()?);
    prepare(&bench.code, gpu, case.kernel, shape, &arguments, &contents(&arguments)?)
}

/// A launch with its arguments, and the memory behind them.
pub struct Prepared {
    pub request: LaunchRequest,
    pub buffers: Vec<DeviceBuffer<u8>>,
}

/// What each argument's buffer holds before a launch; none of scalars, and of buffers of zeros.
///
/// # Errors
/// A file that cannot be read, or holds too little.
pub fn contents(arguments: &[Argument]) -> Result<Vec<Option<Vec<u8>>>, ArgumentError> {
    let of = |argument: &Argument| match argument {
        Argument::Scalar { .. } | Argument::Buffer { init: Init::Zeros, .. } => Ok(None),
        Argument::Buffer { name, element, len, init, .. } => init.bytes(name, *element, *len).map(Some),
    };
    arguments.iter().map(of).collect()
}

/// Allocates what a kernel's arguments need, and fills it with their [`contents`].
///
/// # Errors
/// Arguments that are not the kernel's, memory that runs out.
pub fn prepare(
    code: &Code,
    gpu: &Gpu,
    kernel: &str,
    shape: LaunchShape,
    arguments: &[Argument],
    contents: &[Option<Vec<u8>>],
) -> Result<Prepared, CommandError> {
    let program = code.program(kernel)?;
    bind::check(&program, arguments)?;
    let mut buffers: Vec<DeviceBuffer<u8>> = Vec::new();
    let mut values = Vec::new();
    for (argument, contents) in arguments.iter().zip(contents) {
        match argument {
            Argument::Scalar { value, .. } => values.push(value.clone()),
            Argument::Buffer { element, len, .. } => {
                let buffer = match contents {
                    None => gpu.zeros(len * element.bytes())?,
                    Some(contents) => gpu.upload(contents)?,
                };
                values.push(buffer.ptr().address().to_le_bytes().to_vec());
                buffers.push(buffer);
            }
        }
    }
    let request = LaunchRequest::packed(kernel, shape, bind::layout(&program, &values));
    Ok(Prepared { request, buffers })
}

/// Runs the case on the machine that models the run's device.
pub fn count(bench: &Workbench, case: &Case) -> Result<Counted, CommandError> {
    let device = bench.device;
    let resources = bench.resources(case.kernel, &device.arch(), None)?;
    let shape = LaunchShape::new(case.grid, case.block);
    let occupancy = resources.occupancy(&device.limits, shape)?;
    let gpu = bench.machine(device, bench.options)?;
    let report = run(bench, &gpu, case, Some(resources.registers.value()))?;
    let isa = report.counters.as_ref().map_or(Isa::Ptx, |counters| counters.isa);
    let counters = report.counters.iter().flat_map(|counters| counters.iter());
    let mut values: Vec<(String, f64)> = counters.map(|(name, value)| (name.to_owned(), value)).collect();
    values.extend(of_launch(shape, &occupancy, device.sm_count));
    // An estimate is not held to what the hardware has.
    if let Regs::Ptxas(registers) = resources.registers {
        let registers = registers.max(REGISTERS_LEAST);
        let limits = resources.occupancy_with(registers, &device.limits, shape)?.limits;
        values.push((REGISTERS.to_owned(), registers.into()));
        values.extend(limits.registers.map(|blocks| (LIMIT_REGISTERS.to_owned(), blocks as f64)));
    }
    let shared = occupancy.allocated_shared_bytes_per_block as f64;
    let unlike_ptx = if resources.stack_bytes > 0 || resources.spills() {
        Some(LOCAL_MEMORY)
    } else {
        bench.code.program(case.kernel)?.code.iter().any(adds_to_half_a_word).then_some(HALF_A_WORD)
    };
    Ok(Counted::new(case.kernel, unlike_ptx, shared, isa, values))
}

/// Hardware adds to whole words: ptxas makes a loop of this, with a load before it and compare-and-swap in it.
fn adds_to_half_a_word(instr: &Instr) -> bool {
    matches!(instr.op, Op::Atomic(_, access) if access.bytes() == 2)
}

/// What follows from the launch's shape and the calculator's answer.
fn of_launch(shape: LaunchShape, occupancy: &Occupancy, sm_count: u32) -> Vec<(String, f64)> {
    let blocks = shape.blocks() as f64;
    let resident = occupancy.blocks_per_sm as f64 * f64::from(sm_count);
    let limits = &occupancy.limits;
    let limit = |name: &str, value: Option<i64>| value.map(|value| (name.to_owned(), value as f64));
    let mut values = vec![
        ("launch__grid_size".to_owned(), blocks),
        ("launch__block_size".to_owned(), shape.block_threads() as f64),
        ("launch__waves_per_multiprocessor".to_owned(), blocks / resident),
        ("sm__maximum_warps_per_active_cycle_pct".to_owned(), 100.0 * occupancy.theoretical()),
    ];
    values.extend(limit("launch__occupancy_limit_warps", limits.warps));
    values.extend(limit("launch__occupancy_limit_blocks", limits.blocks));
    values.extend(limit(LIMIT_SHARED, limits.shared_memory));
    values
}
