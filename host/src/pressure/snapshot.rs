//! One kernel at one moment: what it takes of an SM, what it consists of, how long it runs. Two of them make a comparison.

use std::sync::Arc;

use warpwise_nvtools::nvdisasm::{Function, ListingOptions};
use warpwise_simt::device::{ComputeCapability, limits_of};
use warpwise_simt::isa::Isa;
use warpwise_simt::occupancy::Occupancy;
use warpwise_simt::sass::{Entry, cubin_code};

use super::{Launch, Made, Mix, Slice, Variant, code, make};
use crate::backend::LaunchShape;
use crate::claim::format::{microseconds, percent};
use crate::error::CommandError;
use crate::kernels::Resources;
use crate::numbers::Time;
use crate::workbench::{Workbench, WorkbenchError};

/// What is known of the kernel.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub kernel: String,
    pub arch: String,
    pub launch: Launch,
    pub resources: Resources,
    pub occupancy: Occupancy,
    /// What there is only with nvdisasm, once it was looked at.
    pub code: Option<Code>,
    made: Made,
    knows_spills: bool,
}

/// The kernel's instructions, and the time that they take.
#[derive(Clone, Debug)]
pub struct Code {
    pub function: Arc<Function>,
    pub mix: Mix,
    /// None where the machine does not know all of the SASS, or the launch goes wrong.
    pub time: Option<Time>,
    /// Why there is no time.
    pub why_no_time: Option<String>,
    /// On a GPU, where there is one of the architecture.
    pub measured: Option<Time>,
}

impl Snapshot {
    /// Registers, spills and occupancy, which take ptxas's time alone. The instructions come with [`Snapshot::look`].
    ///
    /// # Errors
    /// There is no such kernel, ptxas refuses it.
    pub fn take(bench: &Workbench, kernel: &str, launch: Launch) -> Result<Self, CommandError> {
        let bounds = bench.excerpt(kernel).map_err(WorkbenchError::from)?.bounds;
        let arch = bench.device.arch();
        let variant = Variant { kernel: kernel.to_owned(), arch: arch.clone(), bounds };
        let made = make(bench, &[variant], &|_| ())?.pop();
        let made = made.ok_or_else(|| CommandError::Usage(format!("nothing was made of {kernel}")))?;
        let made = made.map_err(|error| WorkbenchError::Tool(error.into()))?;
        let occupancy = made.resources.occupancy(&bench.device.limits, launch.shape)?;
        let kernel = kernel.to_owned();
        Ok(Self { kernel, arch, launch, resources: made.resources, occupancy, code: None, made, knows_spills: true })
    }

    /// A kernel that is compiled already, with its instructions if they are known: the occupancy is that of the largest block it may be
    /// launched in, of 256 threads where it does not say.
    ///
    /// # Errors
    /// An architecture that nobody knows.
    pub fn of_cubin(entry: &Entry, arch: &str, function: Option<Function>) -> Result<Self, CommandError> {
        const BLOCK: [u32; 3] = [256, 1, 1];
        let block = entry.required_threads.or(entry.max_threads).unwrap_or(BLOCK);
        let launch = Launch::new(LaunchShape::new([1; 3], block), Vec::new());
        let resources = Resources::of_cubin(entry);
        let occupancy = resources.occupancy(limits_of(arch.parse::<ComputeCapability>()?)?, launch.shape)?;
        let why_no_time = Some("it is a cubin, and does not say what its arguments are".to_owned());
        let code = function.map(|function| Code {
            mix: Mix::of(&function),
            function: Arc::new(function),
            time: None,
            why_no_time,
            measured: None,
        });
        let made = Made { resources, compiled: None, remarks: Vec::new() };
        Ok(Self {
            kernel: entry.name.clone(),
            arch: arch.to_owned(),
            launch,
            resources,
            occupancy,
            code,
            made,
            knows_spills: false,
        })
    }

    /// Disassembles the kernel and, where `timed`, runs it under the cycle model. Without nvdisasm there is nothing to look at.
    ///
    /// # Errors
    /// A cubin that cannot be disassembled.
    pub fn look(&mut self, bench: &Workbench, timed: bool) -> Result<(), CommandError> {
        let Some(compiled) = &self.made.compiled else { return Ok(()) };
        let listing = match bench.tools.disassemble(&compiled.cubin, ListingOptions::default()) {
            Ok(listing) => listing,
            Err(error) => {
                let error = WorkbenchError::from(error);
                return if code::is_missing(&error) { Ok(()) } else { Err(error.into()) };
            }
        };
        let Some(function) = listing.function(&self.kernel).cloned() else { return Ok(()) };
        let ran = timed.then(|| -> Result<Option<Time>, CommandError> {
            let slice = Slice::for_kernel(bench, &self.kernel).map_err(WorkbenchError::from)?;
            let Some(gpu) = bench.gpu_of(compiled, Some(&listing), slice.device, bench.options)? else {
                return Ok(None);
            };
            let registers = self.resources.registers.value();
            Ok(Some(slice.launch(&self.launch).run(&bench.code, &gpu, &self.kernel, registers)?.time))
        });
        let (time, why_no_time) = match ran {
            None => (None, None),
            Some(Ok(Some(Time::Modelled { isa: Isa::Ptx, .. }))) => {
                (None, Some("the machine does not know all of its SASS".to_owned()))
            }
            Some(Ok(Some(time))) => (Some(time), None),
            Some(Ok(None)) => (None, Some("it takes SASS, and --isa ptx was given".to_owned())),
            // A fault of a kernel that is being worked on is news, and no reason to stop.
            Some(Err(error)) => (None, error.to_string().lines().next().map(str::to_owned)),
        };
        let mix = Mix::of(&function);
        self.code = Some(Code { mix, function: Arc::new(function), time, why_no_time, measured: None });
        Ok(())
    }

    /// Times the kernel on the workbench's GPU, if it was looked at, and compiled for this GPU. A launch that goes wrong is a reason why there
    /// is no time.
    ///
    /// # Errors
    /// A cubin that the GPU does not load.
    pub fn measure(&mut self, bench: &Workbench) -> Result<(), CommandError> {
        let is_for_it = bench.gpu.as_ref().is_some_and(|gpu| gpu.compute_capability.arch() == self.arch);
        let (Some(compiled), Some(code)) = (&self.made.compiled, &mut self.code) else { return Ok(()) };
        if !bench.measures() || !is_for_it {
            return Ok(());
        }
        if let Some(gpu) = bench.gpu_of(compiled, None, bench.device, bench.options)? {
            let registers = self.resources.registers.value();
            match self.launch.run(&bench.code, &gpu, &self.kernel, registers) {
                Ok(ran) => code.measured = Some(ran.time),
                Err(error) => code.why_no_time = Some(error.to_string()),
            }
        }
        Ok(())
    }

    /// Whether ptxas has made the same of both: the same code with as many registers; none where that is not known.
    pub fn has_the_code_of(&self, other: &Self) -> Option<bool> {
        let code = |snapshot: &Self| cubin_code(&snapshot.made.compiled.as_ref()?.cubin, &snapshot.kernel);
        let same = self.resources == other.resources && self.arch == other.arch;
        Some(same && code(self)? == code(other)?)
    }

    /// The rows of a comparison that ptxas alone has: names and values.
    pub fn costs(&self) -> Vec<(&'static str, String)> {
        let Resources { registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared_bytes, .. } =
            self.resources;
        let limiters: Vec<&str> = self.occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        let Occupancy { blocks_per_sm, max_warps_per_sm, .. } = self.occupancy;
        let warps = self.occupancy.warps_per_sm();
        let spilled = |bytes: u32| if self.knows_spills { bytes.to_string() } else { "–".to_owned() };
        vec![
            ("registers", registers.value().to_string()),
            ("spilled out, bytes", spilled(spill_store_bytes)),
            ("spilled in, bytes", spilled(spill_load_bytes)),
            ("stack, bytes", stack_bytes.to_string()),
            ("shared, bytes a block", static_shared_bytes.to_string()),
            ("blocks an SM", blocks_per_sm.to_string()),
            ("warps", format!("{warps} of {max_warps_per_sm}")),
            ("occupancy", percent(self.occupancy.theoretical())),
            ("limiter", limiters.join(", ")),
        ]
    }

    /// The rows that need the instructions: how many of each kind, and their time.
    pub fn looks(&self) -> Vec<(&'static str, String)> {
        let Some(code) = &self.code else { return Vec::new() };
        let time = match (&code.time, &code.why_no_time) {
            (Some(time), _) => microseconds(time.us()),
            (None, Some(_)) => "–".to_owned(),
            (None, None) => String::new(),
        };
        let mut rows = vec![("instructions", code.mix.total().to_string())];
        rows.extend(code.mix.by_group().into_iter().map(|(group, count)| (group, count.to_string())));
        if !time.is_empty() {
            rows.push(("modelled time", time));
        }
        rows.extend(code.measured.as_ref().map(|time| ("measured time", microseconds(time.us()))));
        rows
    }
}
