//! Where kernels run: one trait, and a backend for each kind of device.
//!
//! [`Backend`] is what CUDA's driver offers, in its words and with its contract:
//!
//! - a launch returns at once; work on a stream runs in the order it was given;
//! - a bad configuration is refused at the launch and harms nothing;
//! - a fault inside a kernel surfaces at the next synchronise or blocking copy, and from then on the context refuses
//!   all work ([`GpuError::Poisoned`]).
//!
//! The trait deals in addresses and bytes, so that it can be a `dyn`. Types come back in [`gpu`]: buffers that free
//! themselves and launches whose arguments are checked at compile time.

mod counters;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod gpu;
pub mod gpus;
pub mod options;
mod readings;
pub mod sim;

use std::num::NonZeroU32;

pub use counters::{ACHIEVED_OCCUPANCY_PERCENT, CounterSet};
use cuda_std::host::{Kernel, KernelArgs};
pub use error::{GpuError, KernelFault, OtherThread};
pub use gpu::{DeviceBuffer, Dim3, Gpu, LaunchShape};
pub use gpus::GpuInfo;
pub use options::{IsaChoice, MachineOptions};
pub use readings::{Readings, ReadingsDigest};
use warpwise_simt::device::Limits;
use warpwise_simt::timing::{Observer, Timing};

use crate::numbers::Time;

/// The kinds of backend; reports use the words `sim` and `cuda`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackendKind {
    /// The SIMT machine on the CPU.
    Sim,
    /// A GPU through the CUDA driver.
    Cuda,
}

impl BackendKind {
    pub fn word(self) -> &'static str {
        match self {
            BackendKind::Sim => "sim",
            BackendKind::Cuda => "cuda",
        }
    }
}

/// A stream of a context. The default stream (0) waits for all others, and they for it, as CUDA's legacy one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);

impl StreamId {
    pub const DEFAULT: Self = Self(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventId(pub u32);

/// A launch that was accepted: [`Backend::report`] gives what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchId(pub u64);

/// Everything that decides a launch but the kernel's code.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRequest {
    /// Name of the entry in the loaded module.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// Arguments in CUDA's parameter layout.
    pub params: Vec<u8>,
    pub stream: StreamId,
    /// Run under the cycle model, where there is one, so that the report has a time and cache counters.
    pub timed: bool,
    /// Registers a thread, for residency, where ptxas has said; else the backend's own knowledge.
    pub registers: Option<NonZeroU32>,
    /// Have each sample on a GPU begin with what the launch itself left in L2, and not with an L2 that was overwritten. On the
    /// machine, which times the launch once, L2 holds what earlier launches left there.
    pub from_warm_l2: bool,
}

impl LaunchRequest {
    /// A launch on the default stream, without a time. The compiler checks that `args` are the kernel's.
    pub fn new<A: KernelArgs>(kernel: &Kernel<A>, shape: LaunchShape, args: &A) -> Self {
        Self::named(kernel.name, shape, args)
    }

    /// As [`LaunchRequest::new`] for an entry that is known by name only: nothing checks that `args` are its own.
    pub fn named<A: KernelArgs>(entry: impl Into<String>, shape: LaunchShape, args: &A) -> Self {
        Self::packed(entry, shape, args.pack())
    }

    /// As [`LaunchRequest::named`] with the arguments as bytes in CUDA's parameter layout.
    pub fn packed(entry: impl Into<String>, shape: LaunchShape, params: Vec<u8>) -> Self {
        Self {
            kernel: entry.into(),
            grid: shape.grid,
            block: shape.block,
            dynamic_shared_bytes: shape.dynamic_shared_bytes,
            params,
            stream: StreamId::DEFAULT,
            timed: false,
            registers: None,
            from_warm_l2: false,
        }
    }

    /// The same launch with a time. `registers` as ptxas counts them decide how many blocks are resident; without them the
    /// backend's own knowledge does.
    #[must_use]
    pub fn timed(self, registers: Option<u32>) -> Self {
        Self { timed: true, registers: registers.and_then(NonZeroU32::new), ..self }
    }
}

/// What became of a launch.
#[derive(Clone, Debug)]
pub struct LaunchReport {
    /// Counters under Nsight Compute's names; `None` on a GPU.
    pub counters: Option<CounterSet>,
    /// Empty after a functional run.
    pub times: Vec<Time>,
    /// The cycle model's account: where each block ran, what warps waited for. `None` on a GPU and after a functional run.
    pub timing: Option<Timing>,
}

impl LaunchReport {
    /// The value of a counter such as `smsp__inst_executed.sum`; `None` where it was not counted.
    pub fn counter(&self, name: &str) -> Option<f64> {
        self.counters.as_ref().and_then(|counters| counters.get(name))
    }

    /// The time, if there is one.
    pub fn time(&self) -> Option<&Time> {
        self.times.first()
    }
}

/// A kernel as a driver loaded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Registers a thread.
    pub registers: u32,
    /// Local memory a thread, in bytes.
    pub local_bytes: u32,
    /// Static shared memory a block, in bytes.
    pub shared_bytes: u32,
    /// Blocks of the launch that an SM holds, by the driver's own occupancy calculator.
    pub blocks_per_sm: u32,
    /// Whether the code came as a cubin; else the driver compiled it from PTX.
    pub from_cubin: bool,
}

/// What a report needs to know of the device behind a backend.
#[derive(Clone, Debug)]
pub struct DeviceFacts {
    /// As reports show it.
    pub name: String,
    /// Architecture as ptxas names it: `sm_120`.
    pub arch: String,
    pub sm_count: u32,
    /// What its compute capability allows.
    pub limits: &'static Limits,
}

/// Who watches a launch: called by the machine's thread.
pub type Watcher = dyn Observer + Send;

/// One context on one device, with one module loaded.
pub trait Backend: Send + Sync {
    fn kind(&self) -> BackendKind;
    fn device(&self) -> &DeviceFacts;

    /// Allocates device memory.
    fn alloc(&self, bytes: u64) -> Result<u64, GpuError>;
    fn free(&self, address: u64) -> Result<(), GpuError>;
    /// Has checks take an allocation for written, where there are any.
    fn assume_written(&self, address: u64) -> Result<(), GpuError> {
        let _ = address;
        Ok(())
    }
    /// Copies to the device after all earlier work; returns when it is done.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), GpuError>;
    /// Copies from the device after all earlier work; returns when it is done.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), GpuError>;
    /// Queues a copy to the device.
    fn write_on(&self, stream: StreamId, address: u64, bytes: Vec<u8>) -> Result<(), GpuError>;
    /// Queues a copy within the device.
    fn copy_on(&self, stream: StreamId, from: u64, to: u64, bytes: u64) -> Result<(), GpuError>;
    /// Queues a fill with one byte.
    fn fill_on(&self, stream: StreamId, address: u64, byte: u8, bytes: u64) -> Result<(), GpuError>;

    fn create_stream(&self) -> Result<StreamId, GpuError>;
    /// Waits until all work given so far is done; with a stream, that of the stream.
    fn synchronize(&self, stream: Option<StreamId>) -> Result<(), GpuError>;

    /// Whether all work given so far is done; does not wait.
    fn is_idle(&self) -> Result<bool, GpuError>;

    fn create_event(&self) -> Result<EventId, GpuError>;
    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), GpuError>;
    /// Later work on `stream` waits for what `event` last recorded.
    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), GpuError>;
    /// Waits for both events; the time between them.
    fn elapsed(&self, start: EventId, end: EventId) -> Result<Time, GpuError>;

    /// What a driver says of a kernel that it loaded and of its residency in such a launch; `None` where there is no driver.
    fn loaded(&self, request: &LaunchRequest) -> Result<Option<Loaded>, GpuError> {
        let _ = request;
        Ok(None)
    }

    /// Queues a launch. Refuses a configuration that the device cannot run, without waiting for anything.
    fn launch(&self, request: LaunchRequest) -> Result<LaunchId, GpuError>;
    /// As [`Backend::launch`] under the cycle model, showing every issue to the observer while it runs.
    ///
    /// # Errors
    /// [`GpuError::Unwatched`] where there is no cycle model.
    fn launch_watched(&self, _request: LaunchRequest, _observer: Box<Watcher>) -> Result<LaunchId, GpuError> {
        Err(GpuError::Unwatched)
    }
    /// Waits for the launch; what became of it. A report can be fetched once.
    fn report(&self, launch: LaunchId) -> Result<LaunchReport, GpuError>;
    /// As [`Backend::report`] for launches whose times are to be compared: a backend that samples takes the samples in turn, so
    /// that a drift of the clocks is in all of them alike.
    fn reports(&self, launches: &[LaunchId]) -> Result<Vec<LaunchReport>, GpuError> {
        launches.iter().map(|&launch| self.report(launch)).collect()
    }
}
