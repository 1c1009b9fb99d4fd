//! What every lab and command stands on: the device, the kernels' PTX, and what NVIDIA's tools say of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpwise_nvtools::nvdisasm::{Listing, ListingOptions};
use warpwise_nvtools::ptxas::Compiled;
use warpwise_simt::device::{self, Device, UnknownDevice};
use warpwise_simt::isa::Program;
use warpwise_simt::ptx::PtxError;
use warpwise_simt::rewrite::{Excerpt, RewriteError};

use crate::backend::gpus::{self, Image};
use crate::backend::{BackendKind, Gpu, GpuError, GpuInfo, IsaChoice, MachineOptions, sim};
use crate::ceilings::Ceilings;
use crate::claim::Toolchain;
use crate::cli::GlobalOptions;
use crate::kernels::{Code, CodeError, KernelFiles, KernelFilesError, NothingToExecute, Resources, Sass, executed};
use crate::labs::survey::Surveyed;
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
    Execute(#[from] NothingToExecute),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("the kernels' PTX: {0}")]
    Rewrite(#[from] RewriteError),
    #[error("`{given}` is no backend; expected auto, sim or cuda")]
    Backend { given: String },
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// One device, one set of kernels, one set of tools.
pub struct Workbench {
    pub device: &'static Device,
    /// The GPU that kernels run on; the machine if none.
    pub gpu: Option<GpuInfo>,
    pub options: MachineOptions,
    pub kernels: KernelFiles,
    pub code: Arc<Code>,
    pub tools: Toolbox,
    toolchain: Toolchain,
    ceilings: OnceLock<Ceilings>,
    /// What every kernel does in one launch, for the labs that stand on it.
    pub survey: OnceLock<Vec<Surveyed>>,
    /// By architecture.
    sass: Mutex<HashMap<String, Option<Arc<Sass>>>>,
}

impl Workbench {
    /// Finds kernels and tools for the device and backend (`auto`, `sim`) that were asked for.
    pub fn open(global: &GlobalOptions, backend: &str) -> Result<Self, WorkbenchError> {
        Self::with_kernels(global, backend, KernelFiles::open()?)
    }

    /// As [`Workbench::open`], with these kernels.
    pub fn with_kernels(global: &GlobalOptions, backend: &str, kernels: KernelFiles) -> Result<Self, WorkbenchError> {
        let gpu = chosen_gpu(global.gpu, backend)?;
        let device = match (&global.device, gpu.as_ref().and_then(GpuInfo::model)) {
            (None, Some(model)) => model,
            _ => device(global)?,
        };
        let tools = Toolbox::open(Some(&kernels.folder), &|line| eprintln!("{line}"));
        Self::of(device, gpu, global.machine(), kernels, tools)
    }

    fn of(
        device: &'static Device,
        gpu: Option<GpuInfo>,
        options: MachineOptions,
        kernels: KernelFiles,
        tools: Toolbox,
    ) -> Result<Self, WorkbenchError> {
        let code = Arc::new(Code::parse(&kernels.ptx_path.display().to_string(), &kernels.ptx)?);
        let toolchain = Toolchain {
            rustc: kernels.facts.rustc.clone(),
            llvm: kernels.facts.llvm.clone(),
            ptxas: tools.ptxas_version(),
        };
        Ok(Self {
            device,
            gpu,
            options,
            kernels,
            code,
            tools,
            toolchain,
            ceilings: OnceLock::new(),
            survey: OnceLock::new(),
            sass: Mutex::default(),
        })
    }

    /// The same device and options with other kernels.
    ///
    /// # Errors
    /// PTX that cannot be parsed.
    pub fn beside(&self, kernels: KernelFiles) -> Result<Self, WorkbenchError> {
        let tools = Toolbox::open(Some(&kernels.folder), &|line| eprintln!("{line}"));
        Self::of(self.device, self.gpu.clone(), self.options, kernels, tools)
    }

    /// The machine modelling this GPU with the same kernels, to be put beside it.
    pub fn modelled(&self, global: &GlobalOptions) -> Result<Self, WorkbenchError> {
        let mut global = global.clone();
        global.device = Some(self.device.name.clone());
        Self::with_kernels(&global, "sim", self.kernels.clone())
    }

    pub fn backend(&self) -> BackendKind {
        if self.gpu.is_some() { BackendKind::Cuda } else { BackendKind::Sim }
    }

    /// One kernel's PTX alone.
    ///
    /// # Errors
    /// There is no such kernel, or its body has no end.
    pub fn excerpt(&self, kernel: &str) -> Result<Excerpt<'_>, RewriteError> {
        Excerpt::of(&self.kernels.ptx, kernel)
    }

    /// Says on standard error, for commands that go on without it, that there is no ptxas and what to do about it.
    pub fn say_what_is_missing(&self) {
        if let Err(missing) = self.tools.tools() {
            eprintln!("warpwise: {missing}\nuntil then registers are estimated from the PTX, and marked so");
        }
    }

    /// Whether times are measured on hardware.
    pub fn measures(&self) -> bool {
        self.gpu.as_ref().is_some_and(|gpu| !gpu.is_modelled())
    }

    /// Name of the device as reports show it.
    pub fn device_name(&self) -> &str {
        self.gpu.as_ref().map_or(&self.device.name, |gpu| &gpu.name)
    }

    /// The compilers behind the numbers.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// What the device of the run does at most: measured on a GPU when first asked for, else what the model allows.
    pub fn ceilings(&self) -> Result<&Ceilings, GpuError> {
        if let Some(known) = self.ceilings.get() {
            return Ok(known);
        }
        let found = match self.measures() {
            true => Ceilings::measure(&self.gpu()?)?,
            false => Ceilings::of_model(self.device),
        };
        Ok(self.ceilings.get_or_init(|| found))
    }

    /// A new context of the chosen backend, with the kernels loaded.
    pub fn gpu(&self) -> Result<Gpu, GpuError> {
        match &self.gpu {
            None => self.machine(self.device, self.options),
            Some(info) => self.open_gpu(info),
        }
    }

    /// A new context on a GPU: with the cubin that ptxas made for it, so that the registers reported are those that run; with
    /// the PTX where there is no ptxas, or where the driver takes no cubins or none of this ptxas: a driver loads those of its
    /// own major version of CUDA and of older ones (CUDA Compatibility, "Minor Version Compatibility").
    fn open_gpu(&self, info: &GpuInfo) -> Result<Gpu, GpuError> {
        let target = Target::arch(&info.compute_capability.arch());
        match self.tools.compile(&self.kernels.ptx, &target) {
            Ok(compiled) if !info.is_modelled() && self.takes_cubins(info) => {
                self.load(info, &Image::Cubin(&compiled.cubin))
            }
            _ => self.load(info, &Image::Ptx(&self.kernels.ptx)),
        }
    }

    fn takes_cubins(&self, info: &GpuInfo) -> bool {
        let major = self.toolchain.ptxas.as_deref().and_then(|version| version.split('.').next()?.parse::<i32>().ok());
        major.is_none_or(|major| info.cuda_version >= 1000 * major)
    }

    /// A new context on the GPU of the run, with the PTX for its driver to compile.
    pub fn gpu_with_ptx(&self) -> Result<Gpu, GpuError> {
        self.load(self.gpu.as_ref().ok_or(GpuError::Stopped)?, &Image::Ptx(&self.kernels.ptx))
    }

    /// A new context on the GPU of the run, with a cubin made for some architecture; inside, what the driver answered.
    pub fn gpu_with_cubin_for(&self, arch: &str) -> Result<Result<Gpu, GpuError>, WorkbenchError> {
        let compiled = self.tools.compile(&self.kernels.ptx, &Target::arch(arch))?;
        Ok(self.load(self.gpu.as_ref().ok_or(GpuError::Stopped)?, &Image::Cubin(&compiled.cubin)))
    }

    #[cfg(feature = "cuda")]
    fn load(&self, info: &GpuInfo, image: &Image<'_>) -> Result<Gpu, GpuError> {
        let cuda = crate::backend::cuda::Cuda::open(info.ordinal, self.device, Arc::clone(&self.code), image)?;
        Ok(Gpu::new(Arc::new(cuda)))
    }

    #[cfg(not(feature = "cuda"))]
    fn load(&self, _: &GpuInfo, _: &Image<'_>) -> Result<Gpu, GpuError> {
        gpus::gpus().and(Err(GpuError::Stopped))
    }

    /// A new context with one kernel only, compiled with at most so many registers. Nothing where what runs would not have the
    /// spills: on the machine without SASS, and on Warpwise's own driver, which takes PTX.
    pub fn gpu_capped(&self, kernel: &str, max_registers: u32) -> Result<Option<Gpu>, WorkbenchError> {
        let has_spills = match &self.gpu {
            Some(info) => !info.is_modelled(),
            None => self.options.isa != IsaChoice::Ptx,
        };
        if !has_spills {
            return Ok(None);
        }
        let target = capped(&self.device.arch(), kernel, max_registers);
        let compiled = match self.tools.compile(&self.kernels.ptx, &target) {
            Err(ToolError::Missing(_)) => return Ok(None),
            other => other?,
        };
        self.gpu_of(&compiled, None, self.device, self.options)
    }

    /// A new context with what ptxas made of some kernels; on the machine, as the device `modelled` and with these options, their SASS, of
    /// which the listing may be at hand. Nothing as for [`Workbench::gpu_capped`].
    ///
    /// # Errors
    /// A GPU that does not load the cubin, a cubin that cannot be disassembled.
    pub fn gpu_of(
        &self,
        compiled: &Compiled,
        listing: Option<&Listing>,
        modelled: &'static Device,
        options: MachineOptions,
    ) -> Result<Option<Gpu>, WorkbenchError> {
        if let Some(info) = self.gpu.as_ref().filter(|info| !info.is_modelled()) {
            return Ok(Some(self.load(info, &Image::Cubin(&compiled.cubin))?));
        }
        if self.gpu.is_some() || options.isa == IsaChoice::Ptx {
            return Ok(None);
        }
        let listing = match listing {
            Some(listing) => listing.clone(),
            None => match self.tools.disassemble(&compiled.cubin, ListingOptions::default()) {
                Err(ToolError::MissingBeside(_)) => return Ok(None),
                other => other?,
            },
        };
        let sass = Sass::new(&compiled.cubin, listing).map_err(|error| GpuError::Load(error.to_string()))?;
        let machine = sim::Sim::new(modelled, Arc::clone(&self.code), options)?;
        Ok(Some(Gpu::new(Arc::new(machine.with_sass(Arc::new(sass))))))
    }

    /// A new context of the machine.
    pub fn machine(&self, device: &'static Device, options: MachineOptions) -> Result<Gpu, GpuError> {
        let machine = sim::Sim::new(device, Arc::clone(&self.code), options)?;
        let sass = if options.isa == IsaChoice::Ptx { None } else { self.sass_programs(&device.arch())? };
        Ok(Gpu::new(Arc::new(match sass {
            Some(sass) => machine.with_sass(sass),
            None => machine,
        })))
    }

    /// What the machine that models the run's device executes of a kernel.
    pub fn executed(&self, kernel: &str) -> Result<Arc<Program>, WorkbenchError> {
        let sass = if self.options.isa == IsaChoice::Ptx { None } else { self.sass_programs(&self.device.arch())? };
        Ok(executed(&self.code, sass.as_deref(), self.options, kernel)?.program)
    }

    /// The kernels' SASS as programs of the machine; none where the tools are missing or refuse the architecture.
    fn sass_programs(&self, arch: &str) -> Result<Option<Arc<Sass>>, GpuError> {
        // A thread that panicked while it held the lock left whole entries only.
        let mut known = self.sass.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sass) = known.get(arch) {
            return Ok(sass.clone());
        }
        let target = Target::arch(arch);
        let made = match (self.tools.compile(&self.kernels.ptx, &target), self.sass(arch)) {
            (Ok(compiled), Ok(listing)) => {
                let sass = Sass::new(&compiled.cubin, listing).map_err(|error| GpuError::Load(error.to_string()))?;
                Some(Arc::new(sass))
            }
            _ => None,
        };
        Ok(known.entry(arch.to_owned()).or_insert(made).clone())
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
        self.code.bounds(kernel)?;
        let target = max_registers.map_or_else(|| Target::arch(arch), |most| capped(arch, kernel, most));
        let compiled = match self.tools.compile(&self.kernels.ptx, &target) {
            Err(ToolError::Missing(_)) => None,
            other => Some(other?),
        };
        match compiled.as_ref().and_then(|compiled| compiled.resources(kernel)) {
            Some(resources) => Ok(Resources::compiled(resources)),
            None => Ok(Resources::estimated(&*self.code.program(kernel)?, max_registers)),
        }
    }

    /// Has the kernels compiled for several architectures at once; what is refused is said when it is asked for.
    pub fn compile_ahead(&self, archs: &[String]) -> Result<(), WorkbenchError> {
        let targets: Vec<Target> = archs.iter().map(|arch| Target::arch(arch)).collect();
        match self.tools.compile_all(&self.kernels.ptx, &targets) {
            Err(ToolError::Missing(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The cubin of all kernels for an architecture with its disassembly.
    pub fn sass_of(&self, arch: &str) -> Result<Sass, WorkbenchError> {
        let compiled = self.tools.compile(&self.kernels.ptx, &Target::arch(arch))?;
        Ok(Sass::new(&compiled.cubin, self.sass(arch)?).map_err(|error| GpuError::Load(error.to_string()))?)
    }

    /// The SASS of all kernels on an architecture.
    pub fn sass(&self, arch: &str) -> Result<Listing, WorkbenchError> {
        Ok(self.tools.sass(&self.kernels.ptx, arch, ListingOptions::default())?)
    }
}

/// One entry alone under a cap: a sweep asks for many.
fn capped(arch: &str, kernel: &str, max_registers: u32) -> Target {
    Target { arch: arch.to_owned(), entry: Some(kernel.to_owned()), max_registers: Some(max_registers) }
}

/// The device that was asked for, or the default one.
pub fn device(global: &GlobalOptions) -> Result<&'static Device, UnknownDevice> {
    match &global.device {
        Some(name) => device::find(name),
        None => Ok(Device::default_device()),
    }
}

/// The GPU that a run uses: none with `sim`, and none with `auto` where there is no driver or no GPU.
fn chosen_gpu(ordinal: u32, backend: &str) -> Result<Option<GpuInfo>, WorkbenchError> {
    let listed = match backend {
        "sim" => return Ok(None),
        "auto" => gpus::gpus().unwrap_or_else(|error| {
            // No driver is the usual case; one that does not work is worth a line.
            if !matches!(error, GpuError::NoDriver(_)) {
                eprintln!("warpwise: no GPU is used: {error}");
            }
            Vec::new()
        }),
        "cuda" => gpus::gpus()?,
        other => return Err(WorkbenchError::Backend { given: other.to_owned() }),
    };
    let count = listed.len();
    match listed.into_iter().nth(ordinal as usize) {
        None if backend == "cuda" || count > 0 => {
            let message =
                format!("there is no GPU {ordinal}: the driver lists {count}; choose one with --gpu N, from 0 on");
            Err(GpuError::Unusable(message).into())
        }
        // Our own driver is the machine already: it is there for those who ask for it.
        Some(info) if backend == "auto" && info.is_modelled() => Ok(None),
        found => Ok(found),
    }
}
