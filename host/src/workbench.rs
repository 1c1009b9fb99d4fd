//! What every lab and command stands on: the device, the kernels' PTX, and what NVIDIA's tools say of them.

use std::sync::Arc;

use warpwise_nvtools::nvdisasm::Listing;
use warpwise_simt::device::{self, Device, UnknownDevice};
use warpwise_simt::ptx::PtxError;

use crate::backend::{BackendKind, Gpu, GpuError, MachineOptions, sim};
use crate::claim::Toolchain;
use crate::cli::GlobalOptions;
use crate::kernels::{Code, CodeError, KernelFiles, KernelFilesError, Resources};
use crate::toolbox::{Target, ToolError, Toolbox};

#[derive(Debug, thiserror::Error)]
pub enum WorkbenchError {
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    #[error(transparent)]
    Kernels(#[from] KernelFilesError),
    #[error(transparent)]
    Ptx(#[from] PtxError),
    #[error(transparent)]
    Code(#[from] CodeError),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("the backend `{given}` is not in this build; expected auto or sim")]
    Backend { given: String },
}

/// One device, one set of kernels, one set of tools.
pub struct Workbench {
    pub device: &'static Device,
    pub backend: BackendKind,
    pub options: MachineOptions,
    pub kernels: KernelFiles,
    pub code: Arc<Code>,
    pub tools: Toolbox,
    toolchain: Toolchain,
}

impl Workbench {
    /// Finds kernels and tools for the device and backend (`auto`, `sim`) that were asked for.
    pub fn open(global: &GlobalOptions, backend: &str) -> Result<Self, WorkbenchError> {
        let device = device(global)?;
        let backend = match backend {
            "auto" | "sim" => BackendKind::Sim,
            other => return Err(WorkbenchError::Backend { given: other.to_owned() }),
        };
        let kernels = KernelFiles::open()?;
        let code = Arc::new(Code::parse(&kernels.ptx_path.display().to_string(), &kernels.ptx)?);
        let tools = Toolbox::open(Some(&kernels.folder), &|line| eprintln!("{line}"));
        let toolchain = Toolchain {
            rustc: kernels.facts.rustc.clone(),
            llvm: kernels.facts.llvm.clone(),
            ptxas: tools.ptxas_version().map(str::to_owned),
        };
        Ok(Self { device, backend, options: global.machine(), kernels, code, tools, toolchain })
    }

    /// Says on standard error, for commands that go on without it, that there is no ptxas and what to do about it.
    pub fn say_what_is_missing(&self) {
        if let Err(missing) = self.tools.tools() {
            eprintln!("warpwise: {missing}\nuntil then registers are estimated from the PTX, and marked so");
        }
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
    pub fn machine(&self, device: &'static Device, options: MachineOptions) -> Result<Gpu, GpuError> {
        Ok(Gpu::new(Arc::new(sim::Sim::new(device, Arc::clone(&self.code), options)?)))
    }

    /// Registers, spills and shared memory of a kernel on an architecture, with at most `max_registers` if given. Estimated
    /// where there is no ptxas, or where it does not compile the kernels for this architecture.
    pub fn resources(&self, kernel: &str, arch: &str, max_registers: Option<u32>) -> Result<Resources, WorkbenchError> {
        match self.resources_strictly(kernel, arch, max_registers) {
            Err(WorkbenchError::Tool(error)) if error.is_refusal() => {
                Ok(Resources::estimated(&*self.code.program(kernel)?, max_registers))
            }
            other => other,
        }
    }

    /// As [`Workbench::resources`], but what ptxas refuses is an error.
    pub fn resources_strictly(
        &self,
        kernel: &str,
        arch: &str,
        max_registers: Option<u32>,
    ) -> Result<Resources, WorkbenchError> {
        let program = self.code.program(kernel)?;
        // With a cap, one entry is compiled alone: a sweep asks for many.
        let entry = max_registers.map(|_| kernel.to_owned());
        let target = Target { arch: arch.to_owned(), entry, max_registers };
        let compiled = match self.tools.compile(&self.kernels.ptx, &target) {
            Err(ToolError::Missing(_)) => return Ok(Resources::estimated(&program, max_registers)),
            other => other?,
        };
        let resources = compiled.resources(kernel).map(Resources::compiled);
        Ok(resources.unwrap_or_else(|| Resources::estimated(&program, max_registers)))
    }

    /// Has the kernels compiled for several architectures at once; what is refused is said when it is asked for.
    pub fn compile_ahead(&self, archs: &[String]) -> Result<(), WorkbenchError> {
        let targets: Vec<Target> = archs.iter().map(|arch| Target::arch(arch)).collect();
        match self.tools.compile_all(&self.kernels.ptx, &targets) {
            Err(ToolError::Missing(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The SASS of all kernels on an architecture.
    pub fn sass(&self, arch: &str) -> Result<Listing, WorkbenchError> {
        Ok(self.tools.sass(&self.kernels.ptx, arch)?)
    }
}

/// The device that was asked for, or the default one.
pub fn device(global: &GlobalOptions) -> Result<&'static Device, UnknownDevice> {
    match &global.device {
        Some(name) => device::find(name),
        None => Ok(Device::default_device()),
    }
}
