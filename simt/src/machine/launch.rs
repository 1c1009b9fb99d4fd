//! What a launch asks for, and whether the device and the kernel allow it.

use std::sync::Arc;

use super::Kernel;
use crate::device::Device;
use crate::exec::{self, DeviceFacts, Divergence, Grid};
use crate::isa::Program;
use crate::memory::{Memory, grouped};
use crate::occupancy::{self, Occupancy, Request};

/// How a launch is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Results and counters.
    #[default]
    Functional,
    /// And time, by the cycle model.
    Timed,
}

/// In which order blocks start. Results must not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlockOrder {
    /// By linear index, x fastest.
    #[default]
    Forward,
    Reverse,
    /// A permutation made from the seed.
    Random(u64),
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// The parameter buffer, laid out as the kernel's parameters say.
    pub params: Vec<u8>,
    /// Registers a thread, for occupancy; the program's own estimate where none are given.
    pub registers: Option<u32>,
    pub mode: Mode,
    pub divergence: Divergence,
    pub block_order: BlockOrder,
    /// Warp instructions without any change to memory after which the launch is ended; `None` for the default
    /// ([`WATCHDOG_INSTRUCTIONS`], and [`WATCHDOG_INSTRUCTIONS_PER_WARP`] for each resident warp).
    pub watchdog_instructions: Option<u64>,
    /// Warp instructions after which the launch is ended whatever it does.
    pub step_budget: Option<u64>,
}

impl Launch {
    /// A functional launch with nothing special about it.
    pub fn new(grid: [u32; 3], block: [u32; 3], params: Vec<u8>) -> Self {
        Self {
            grid,
            block,
            dynamic_shared_bytes: 0,
            params,
            registers: None,
            mode: Mode::default(),
            divergence: Divergence::default(),
            block_order: BlockOrder::default(),
            watchdog_instructions: None,
            step_budget: None,
        }
    }

    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|size| u64::from(*size)).product()
    }

    pub fn block_count(&self) -> u64 {
        self.grid.iter().map(|size| u64::from(*size)).product()
    }
}

/// Warp instructions without progress that the watchdog allows at least: a few seconds.
pub const WATCHDOG_INSTRUCTIONS: u64 = 1 << 28;
/// And for each resident warp, since they share the machine.
pub const WATCHDOG_INSTRUCTIONS_PER_WARP: u64 = 1 << 22;

/// Instructions without progress that a launch with so many resident warps may execute.
pub(super) fn watchdog(launch: &Launch, resident_warps: u64) -> u64 {
    let default = WATCHDOG_INSTRUCTIONS.max(resident_warps.saturating_mul(WATCHDOG_INSTRUCTIONS_PER_WARP));
    launch.watchdog_instructions.unwrap_or(default)
}

/// Why a launch was not started: the limit and the value that broke it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchRefused {
    #[error("a block of {x} × {y} × {z} threads; every dimension must be at least 1")]
    EmptyBlock { x: u32, y: u32, z: u32 },
    #[error("a grid of {x} × {y} × {z} blocks; every dimension must be at least 1")]
    EmptyGrid { x: u32, y: u32, z: u32 },
    #[error("block.{axis} = {}; {device} allows at most {} there", grouped(*.given), grouped(*.limit))]
    BlockDim { axis: char, given: u64, limit: u64, device: String },
    #[error("grid.{axis} = {}; {device} allows at most {} there", grouped(*.given), grouped(*.limit))]
    GridDim { axis: char, given: u64, limit: u64, device: String },
    #[error("{} threads a block ({x} × {y} × {z}); {device} allows at most {}", grouped(*.given), grouped(*.limit))]
    ThreadsPerBlock { given: u64, x: u32, y: u32, z: u32, limit: u64, device: String },
    #[error("{} threads a block; kernel {kernel} was compiled for at most {} (.maxntid)", grouped(*.given), grouped(*.limit))]
    KernelMaxThreads { kernel: String, given: u64, limit: u64 },
    #[error("a block of {given:?} threads; kernel {kernel} was compiled for exactly {required:?} (.reqntid)")]
    KernelRequiredThreads { kernel: String, given: [u32; 3], required: [u32; 3] },
    #[error(
        "{} bytes of shared memory a block ({static_bytes} static, {dynamic_bytes} dynamic); {device} allows at most {}",
        grouped(*.given), grouped(*.limit)
    )]
    SharedMemory { given: u64, static_bytes: u32, dynamic_bytes: u32, limit: u64, device: String },
    #[error("{given} registers a thread for {threads} threads a block; {device} has {} a block", grouped(*.limit))]
    Registers { given: u32, threads: u64, limit: u64, device: String },
    #[error("{given} bytes of parameters; kernel {kernel} takes {expected} ({signature})")]
    ParameterBytes { kernel: String, given: usize, expected: usize, signature: String },
}

/// Blocks that the device holds at once, and why not more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    pub sm_count: u32,
    pub blocks_per_sm: u32,
    pub registers: u32,
    pub occupancy: Occupancy,
}

impl Residency {
    pub fn blocks(&self) -> u64 {
        u64::from(self.sm_count) * u64::from(self.blocks_per_sm)
    }
}

/// Checks a launch against every limit, dimensions first, as [`super::Machine::launch`] does: for callers that queue launches
/// and must refuse a bad one at once.
///
/// # Errors
/// The first limit that it breaks.
pub fn admit(device: &Device, kernel: &Kernel, launch: &Launch) -> Result<Residency, LaunchRefused> {
    check_dims(device, launch)?;
    let program = kernel.program();
    check_kernel(program, launch)?;
    let limits = &device.limits;
    let shared_bytes = exec::shared_bytes(kernel, launch.dynamic_shared_bytes);
    if shared_bytes > limits.shared_per_block_optin_bytes {
        return Err(LaunchRefused::SharedMemory {
            given: shared_bytes.into(),
            static_bytes: program.shared_static_bytes,
            dynamic_bytes: launch.dynamic_shared_bytes,
            limit: limits.shared_per_block_optin_bytes.into(),
            device: device.name.clone(),
        });
    }
    let registers = launch.registers.unwrap_or(program.estimated_registers).min(limits.max_registers_per_thread).max(1);
    let request = Request {
        static_shared_bytes: shared_bytes.into(),
        barriers: program.barrier_count.max(1).into(),
        ..Request::new(launch.threads_per_block() as i64, registers.into())
    };
    let too_many = LaunchRefused::Registers {
        given: registers,
        threads: launch.threads_per_block(),
        limit: limits.registers_per_block.into(),
        device: device.name.clone(),
    };
    let occupancy = occupancy::calculate(limits, &request).map_err(|_| too_many.clone())?;
    if occupancy.blocks_per_sm < 1 {
        return Err(too_many);
    }
    Ok(Residency { sm_count: device.sm_count, blocks_per_sm: occupancy.blocks_per_sm as u32, registers, occupancy })
}

fn check_dims(device: &Device, launch: &Launch) -> Result<(), LaunchRefused> {
    let ([x, y, z], limits) = (launch.block, &device.limits);
    if launch.block.contains(&0) {
        return Err(LaunchRefused::EmptyBlock { x, y, z });
    }
    if launch.grid.contains(&0) {
        let [x, y, z] = launch.grid;
        return Err(LaunchRefused::EmptyGrid { x, y, z });
    }
    let name = || device.name.clone();
    let broken = |given: [u32; 3], limit: [u32; 3]| {
        let axes = ['x', 'y', 'z'].into_iter().zip(given.into_iter().zip(limit));
        axes.map(|(axis, (given, limit))| (axis, u64::from(given), u64::from(limit)))
            .find(|(_, given, limit)| given > limit)
    };
    let (given, limit) = (launch.threads_per_block(), u64::from(limits.max_threads_per_block));
    if let Some((axis, given, limit)) = broken(launch.block, limits.max_block_dim) {
        // A one-dimensional block that is too long is told by its threads, the number its author has in mind.
        if given <= u64::from(limits.max_threads_per_block) || launch.threads_per_block() != given {
            return Err(LaunchRefused::BlockDim { axis, given, limit, device: name() });
        }
    }
    if given > limit {
        return Err(LaunchRefused::ThreadsPerBlock { given, x, y, z, limit, device: name() });
    }
    match broken(launch.grid, limits.max_grid_dim) {
        Some((axis, given, limit)) => Err(LaunchRefused::GridDim { axis, given, limit, device: name() }),
        None => Ok(()),
    }
}

/// What the kernel's own header and parameters ask for.
fn check_kernel(program: &Program, launch: &Launch) -> Result<(), LaunchRefused> {
    let kernel = || program.name.clone();
    let given = launch.threads_per_block();
    let product = |dim: [u32; 3]| dim.iter().map(|size| u64::from(*size)).product::<u64>();
    match (program.required_threads, program.max_threads.map(product)) {
        (Some(required), _) if required != launch.block => {
            return Err(LaunchRefused::KernelRequiredThreads { kernel: kernel(), given: launch.block, required });
        }
        (_, Some(limit)) if given > limit => {
            return Err(LaunchRefused::KernelMaxThreads { kernel: kernel(), given, limit });
        }
        _ => {}
    }
    let expected = program.params.iter().map(|param| (param.offset + param.bytes) as usize).max().unwrap_or(0);
    if launch.params.len() != expected {
        let part = |param: &crate::isa::Param| format!("{}: {:?} at {}", param.name, param.ty, param.offset);
        let signature = program.params.iter().map(part).collect::<Vec<_>>().join(", ");
        return Err(LaunchRefused::ParameterBytes {
            kernel: kernel(),
            given: launch.params.len(),
            expected,
            signature,
        });
    }
    Ok(())
}

/// The launch as the executor sees it.
pub(super) fn grid(device: &Device, memory: &Memory, kernel: Arc<exec::Kernel>, launch: &Launch, number: u32) -> Grid {
    let facts =
        DeviceFacts { sm_count: device.sm_count, warps_per_sm: device.limits.max_warps_per_sm, grid_id: number };
    let params = launch.params.clone();
    Grid::new(
        kernel,
        (launch.grid, launch.block),
        launch.dynamic_shared_bytes,
        params,
        launch.divergence,
        facts,
        memory,
    )
}
