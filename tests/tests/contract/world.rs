//! The backends under test.

use std::path::PathBuf;
use std::sync::Arc;

use cuda_std::host::{DevicePtr, Kernel};
use warpwise::backend::sim::Sim;
use warpwise::backend::{Gpu, GpuError, MachineOptions};
use warpwise::kernels::{Code, KernelFiles};
use warpwise_simt::device::Device;

pub static ADD_INDEX: Kernel<(DevicePtr<u32>, u32)> =
    Kernel::new("add_index", &["values", "n"], &["*mut u32", "u32"], "", "", 0);
pub static COUNT_TO: Kernel<(DevicePtr<u32>, u32)> =
    Kernel::new("count_to", &["out", "turns"], &["*mut u32", "u32"], "", "", 0);

/// Turns of [`COUNT_TO`] that take a GPU tens of milliseconds and the machine longer: calls that do not wait are done before.
pub const MANY_TURNS: u32 = 2_000_000;

/// Names the driver: a folder with Warpwise's own, or the word [`SYSTEM`] for the one that the computer has.
const DRIVER: &str = "WARPWISE_DRIVER";
const SYSTEM: &str = "system";

/// Who runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    Sim,
    /// The first GPU that the driver lists.
    Cuda,
}

impl World {
    /// A context with the kernels of `contract.ptx`.
    pub fn context(self) -> Result<Gpu, GpuError> {
        self.with("contract.ptx", include_str!("contract.ptx"))
    }

    /// A context with the kernels of the labs.
    ///
    /// # Panics
    /// If they were not built: `cargo xtask test` builds them.
    pub fn context_of_labs(self) -> Result<Gpu, GpuError> {
        let files = KernelFiles::open().unwrap_or_else(|error| panic!("{error}"));
        self.with("kernels.ptx", &files.ptx)
    }

    fn with(self, name: &str, ptx: &str) -> Result<Gpu, GpuError> {
        let code = Arc::new(Code::parse(name, ptx).unwrap_or_else(|error| panic!("{error}")));
        match self {
            World::Sim => {
                let sim = Sim::new(Device::default_device(), code, MachineOptions::default())?;
                Ok(Gpu::new(Arc::new(sim)))
            }
            World::Cuda => on_the_driver(code, ptx),
        }
    }

    /// Whether times are hardware's: the computer's own driver was asked for.
    pub fn measures(self) -> bool {
        self == World::Cuda && is_system()
    }
}

#[cfg(target_os = "linux")]
fn on_the_driver(code: Arc<Code>, ptx: &str) -> Result<Gpu, GpuError> {
    use warpwise::backend::cuda::Cuda;
    use warpwise::backend::gpus::{self, Image};
    let gpus = gpus::gpus()?;
    let gpu = gpus.first().unwrap_or_else(|| panic!("the driver lists no GPU"));
    let model = gpu.model().unwrap_or_else(|| panic!("no device of the tables is like {}", gpu.name));
    Ok(Gpu::new(Arc::new(Cuda::open(gpu.ordinal, model, code, &Image::Ptx(ptx))?)))
}

#[cfg(not(target_os = "linux"))]
fn on_the_driver(_: Arc<Code>, _: &str) -> Result<Gpu, GpuError> {
    Err(GpuError::NoDriver("the cases of `cuda` are run on Linux".to_owned()))
}

fn is_system() -> bool {
    std::env::var_os(DRIVER).is_some_and(|value| value == SYSTEM)
}

/// The folder of Warpwise's own driver, unless the computer's is asked for.
///
/// # Errors
/// If it was not built.
pub fn own_driver() -> Result<Option<PathBuf>, String> {
    if is_system() {
        return Ok(None);
    }
    let otherwise = || concat!(env!("CARGO_MANIFEST_DIR"), "/../target/warpwise/driver").into();
    let folder: PathBuf = std::env::var_os(DRIVER).map_or_else(otherwise, Into::into);
    match folder.join("libcuda.so.1").exists() {
        true => Ok(Some(folder)),
        false => {
            Err(format!("no driver in {}; `cargo xtask test` builds it, `cargo xtask driver` too", folder.display()))
        }
    }
}

/// The driver under test, in words.
pub fn driver() -> &'static str {
    if is_system() { "the computer's driver" } else { "Warpwise's driver" }
}

/// An address that no allocation has.
pub fn nowhere() -> DevicePtr<u32> {
    DevicePtr::from_address(1 << 46)
}

pub fn is_fault<T>(result: &Result<T, GpuError>) -> bool {
    matches!(result, Err(GpuError::Fault(_)))
}

pub fn is_poisoned<T>(result: &Result<T, GpuError>) -> bool {
    matches!(result, Err(GpuError::Poisoned(_)))
}
