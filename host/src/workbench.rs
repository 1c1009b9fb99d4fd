//! What every lab and command stands on: the device, the kernels' PTX, and what NVIDIA's tools say of them.

use warpwise_simt::device::{self, Device, UnknownDevice};

use crate::backend::{BackendKind, Gpu, GpuError};
use crate::claim::Toolchain;
use crate::cli::GlobalOptions;
use crate::kernels::{KernelFiles, KernelFilesError, Resources};

#[derive(Debug, thiserror::Error)]
pub enum WorkbenchError {
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    #[error(transparent)]
    Kernels(#[from] KernelFilesError),
    #[error("`{given}` is no {option}; expected {expected}")]
    Option { option: &'static str, given: String, expected: &'static str },
}

/// How the machine runs a launch, where CUDA leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineOptions {}

pub struct Workbench {
    pub device: &'static Device,
    pub backend: BackendKind,
    pub options: MachineOptions,
    pub kernels: KernelFiles,
    toolchain: Toolchain,
}

impl Workbench {
    /// Finds kernels and tools for the device and backend that were asked for.
    pub fn open(global: &GlobalOptions, backend: &str) -> Result<Self, WorkbenchError> {
        let device = device(global)?;
        let kernels = KernelFiles::open()?;
        let toolchain = Toolchain { rustc: kernels.facts.rustc.clone(), llvm: kernels.facts.llvm.clone(), ptxas: None };
        let backend = match backend {
            "auto" | "sim" => BackendKind::Sim,
            other => {
                return Err(WorkbenchError::Option {
                    option: "backend",
                    given: other.to_owned(),
                    expected: "auto or sim (this build has no CUDA backend)",
                });
            }
        };
        Ok(Self { device, backend, options: MachineOptions::default(), kernels, toolchain })
    }

    /// Name of the device as reports show it.
    pub fn device_name(&self) -> &str {
        &self.device.name
    }

    /// The compilers behind the numbers.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// A new context of the chosen backend, with the kernels loaded.
    pub fn gpu(&self) -> Result<Gpu, GpuError> {
        self.machine(self.device, self.options)
    }

    /// A new context of the machine.
    pub fn machine(&self, _device: &'static Device, _options: MachineOptions) -> Result<Gpu, GpuError> {
        Err(GpuError::Stopped)
    }

    /// Registers, spills and shared memory of a kernel on an architecture, with at most `max_registers` if given.
    pub fn resources(
        &self,
        _kernel: &str,
        _arch: &str,
        _max_registers: Option<u32>,
    ) -> Result<Resources, WorkbenchError> {
        Err(WorkbenchError::Option { option: "", given: String::new(), expected: "" })
    }
}

/// The device that was asked for, or the default one.
pub fn device(global: &GlobalOptions) -> Result<&'static Device, UnknownDevice> {
    match &global.device {
        Some(name) => device::find(name),
        None => Ok(Device::default_device()),
    }
}
