//! Which kernel is launched how: the words that `step`, `trace` and `diagnose` share, and a machine made ready for them.

use std::path::Path;
use std::sync::Arc;

use warpwise_kernels as kernels;
use warpwise_simt::device::Device;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Kernel, Launch, Machine};

use super::read_lossy;
use super::run::{entry_of, machine_error, place};
use crate::arguments::{Argument, bind, parse_dim3};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{Code, KernelFiles};
use crate::workbench::device;

/// A kernel and its launch.
#[derive(clap::Args, Clone, Debug)]
pub struct SubjectOptions {
    /// A kernel that was built (see `list`), or a file of PTX
    #[arg(value_name = "KERNEL|FILE.ptx")]
    pub subject: String,
    /// The kernel in the file; may be left out where there is one only
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Blocks of the grid
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dim3, default_value = "4")]
    pub grid: [u32; 3],
    /// Threads of a block
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dim3, default_value = "256")]
    pub block: [u32; 3],
    /// Dynamic shared memory of a block
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub shared: u32,
    /// An argument, in the kernel's order, as `run` takes them. Without any, pointers get a buffer of as many elements as there are
    /// threads and integers the number of threads
    #[arg(long = "arg", value_name = "ARG")]
    pub args: Vec<String>,
    /// Registers a thread, which decide how many blocks are resident; else by ptxas, or estimated
    #[arg(long, value_name = "N")]
    pub regs: Option<u32>,
}

/// The PTX that a subject is in.
pub struct Source {
    pub code: Code,
    /// The text itself.
    pub text: String,
    pub program: Arc<Program>,
    /// Whether it is one of the kernels that were built.
    pub built: bool,
}

/// A machine with a subject's kernel and arguments on it.
pub struct Ready {
    pub machine: Machine,
    pub kernel: Kernel,
    pub launch: Launch,
}

impl SubjectOptions {
    /// Finds the kernel.
    ///
    /// # Errors
    /// There is none of that name, or the text is no PTX.
    pub fn source(&self) -> Result<Source, CommandError> {
        let is_file = self.subject.ends_with(".ptx") || Path::new(&self.subject).is_file();
        let (name, text) = match is_file {
            true => (self.subject.clone(), read_lossy(Path::new(&self.subject))?),
            false => {
                let files = KernelFiles::open()?;
                (files.ptx_path.display().to_string(), files.ptx)
            }
        };
        let code = Code::parse(&name, &text)?;
        let entry = match is_file {
            true => entry_of(self.entry.as_deref(), &code)?,
            false => self.subject.clone(),
        };
        let program = code.program(&entry)?;
        Ok(Source { code, text, program, built: !is_file })
    }

    /// The arguments that were given, or some for the parameters that the kernel declares.
    ///
    /// # Errors
    /// A word that is no argument, or arguments that are not the kernel's.
    pub fn arguments(&self, program: &Program) -> Result<Vec<Argument>, CommandError> {
        let words = match self.args.is_empty() {
            true => self.some(program),
            false => self.args.clone(),
        };
        let arguments: Vec<Argument> = words.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        bind::check(program, &arguments)?;
        Ok(arguments)
    }

    /// Arguments as words: by the types of our own kernels, by width for others.
    fn some(&self, program: &Program) -> Vec<String> {
        let threads: u64 = self.grid.iter().chain(&self.block).map(|size| u64::from(*size)).product();
        let known = kernels::find(&program.name);
        let one = |(index, param): (usize, &warpwise_simt::isa::Param)| {
            let name = known.and_then(|known| known.params.get(index).copied()).unwrap_or("argument");
            let ty = known.and_then(|known| known.types.get(index).copied());
            let pointee = ty.and_then(|ty| ty.strip_prefix("*const ").or(ty.strip_prefix("*mut ")));
            match (pointee, ty, param.bytes) {
                (Some(element), ..) => format!("{name}=inout:{element}:{threads}:ramp"),
                (_, Some(float @ ("f32" | "f64")), _) => format!("{name}=scalar:{float}:1"),
                (_, Some(integer), _) => format!("{name}=scalar:{integer}:{threads}"),
                (.., 8) => format!("{name}=inout:f32:{threads}:ramp"),
                (.., bytes) => format!("{name}=scalar:u{}:{threads}", 8 * bytes),
            }
        };
        program.params.iter().enumerate().map(one).collect()
    }

    /// A machine of this device, ready to launch `program`, which is the kernel's PTX or SASS.
    ///
    /// # Errors
    /// Memory that runs out, or code that the machine cannot run.
    pub fn ready(
        &self,
        source: &Source,
        program: &Program,
        device: &Device,
        global: &GlobalOptions,
    ) -> Result<Ready, CommandError> {
        let arguments = self.arguments(&source.program)?;
        let mut machine = Machine::new(device);
        machine.set_checks(global.machine().checks);
        let (values, _) = place(&mut machine, &arguments)?;
        let launch = Launch {
            dynamic_shared_bytes: self.shared,
            registers: self.regs,
            divergence: global.machine().divergence,
            block_order: global.machine().block_order,
            ..Launch::new(self.grid, self.block, bind::layout(&source.program, &values))
        };
        let module = machine.load(source.code.variables()).map_err(machine_error)?;
        let kernel = machine.prepare(module, program).map_err(machine_error)?;
        Ok(Ready { machine, kernel, launch })
    }

    /// As [`SubjectOptions::ready`] for the kernel's PTX on the device that was asked for.
    ///
    /// # Errors
    /// As there.
    pub fn ready_ptx(&self, source: &Source, global: &GlobalOptions) -> Result<Ready, CommandError> {
        self.ready(source, &source.program, device(global)?, global)
    }
}

/// A source place of an instruction: the innermost line outside the standard library, else the innermost. `None` where the compiler
/// gave no line.
pub fn source_line(program: &Program, pc: u32) -> Option<(Arc<str>, u32)> {
    let info = program.info.get(pc as usize)?;
    let places = || info.source.iter().filter_map(|at| Some((program.files.get(at.file as usize)?.clone(), at.line)));
    let own = |(file, line): &(Arc<str>, u32)| *line > 0 && !file.contains("library/") && !file.contains("/rustc");
    places().find(own).or_else(|| places().next().filter(|(_, line)| *line > 0))
}
