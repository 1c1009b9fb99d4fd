//! Modules: PTX made ready, and its variables on the machine.
//!
//! All entries are lowered when the module is loaded, since that is when NVIDIA's compiler reports what is wrong with them. An
//! entry that is right but needs what the machine lacks is no obstacle to the others; whoever asks for it is told.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use warpwise_simt::device::{ComputeCapability, Device};
use warpwise_simt::isa::{Program, Space};
use warpwise_simt::machine::ModuleId;
use warpwise_simt::ptx::{self, PtxError};

use crate::abi::Handle;
use crate::code::{Code, Done};
use crate::context::Context;
use crate::driver::Driver;
use crate::jit::JitOptions;
use crate::notice;
use crate::regions::Kind;

#[derive(Debug)]
pub struct Module {
    pub handle: Handle,
    pub context: Handle,
    pub id: ModuleId,
    pub max_registers: Option<u32>,
    /// The compute capability that the PTX was written for.
    pub target: ComputeCapability,
    /// Bytes of its constant variables.
    pub constant_bytes: u64,
    /// Addresses of its variables.
    pub variables: Vec<u64>,
    entries: Vec<Entry>,
    /// Handles of those that were asked for.
    functions: Mutex<HashMap<usize, Handle>>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    program: Result<Program, PtxError>,
}

/// PTX that was read, before it is anywhere.
struct Compiled {
    module: ptx::Module,
    target: ComputeCapability,
    entries: Vec<Entry>,
}

/// A load that failed: the answer, and what the log says.
struct Rejected {
    code: Code,
    message: String,
}

/// Newest `.version` that is read: that of the CUDA 13 releases.
const PTX_MAJOR_MAX: u32 = 9;

impl Module {
    /// Loads PTX into a context. What is wrong with it goes to the error log, and to stderr.
    ///
    /// # Errors
    /// `INVALID_PTX`, `UNSUPPORTED_PTX_VERSION`, `OUT_OF_MEMORY`.
    pub fn load(driver: &Driver, context: &Context, text: &[u8], options: &JitOptions) -> Done<Handle> {
        let started = Instant::now();
        let loaded =
            compile(text, driver.settings.device).and_then(|compiled| place(driver, context, compiled, options));
        let milliseconds = started.elapsed().as_secs_f32() * 1e3;
        match loaded {
            Ok((handle, info)) => {
                options.finish(&info, "", milliseconds);
                Ok(handle)
            }
            Err(Rejected { code, message }) => {
                options.finish("", &message, milliseconds);
                notice::say_once(&message);
                Err(code)
            }
        }
    }

    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Number of the entry of that name.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub fn entry(&self, name: &str) -> Done<usize> {
        self.entries.iter().position(|entry| entry.name == name).ok_or(Code::NOT_FOUND)
    }

    /// # Errors
    /// `NOT_SUPPORTED`, said on stderr, for one that the machine cannot run.
    pub fn program(&self, entry: usize) -> Done<&Program> {
        let entry = self.entries.get(entry).ok_or(Code::NOT_FOUND)?;
        entry.program.as_ref().map_err(|error| {
            notice::say_once(&error.to_string());
            Code::NOT_SUPPORTED
        })
    }

    pub fn functions(&self) -> MutexGuard<'_, HashMap<usize, Handle>> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn compile(text: &[u8], device: &Device) -> Result<Compiled, Rejected> {
    let reject = |code, message: String| Rejected { code, message };
    let text = std::str::from_utf8(text)
        .map_err(|error| reject(Code::INVALID_PTX, format!("the PTX is not UTF-8: {error}")))?;
    let module = ptx::Module::parse("ptx", text).map_err(|error| reject(Code::INVALID_PTX, error.to_string()))?;
    let (major, minor) = module.version();
    if major > PTX_MAJOR_MAX {
        let message = format!("PTX of version {major}.{minor}; this driver reads versions up to {PTX_MAJOR_MAX}.x");
        return Err(reject(Code::UNSUPPORTED_PTX_VERSION, message));
    }
    let target = target_of(&module, device)?;
    let mut entries = Vec::new();
    for name in module.entries() {
        let program = module.lower(name);
        match &program {
            Err(error) if !error.is_unsupported() => return Err(reject(Code::INVALID_PTX, error.to_string())),
            _ => entries.push(Entry { name: name.to_owned(), program }),
        }
    }
    Ok(Compiled { module, target, entries })
}

/// The architecture that the PTX needs, if the device has it: any from before, or its own for `sm_90a` and the like.
fn target_of(module: &ptx::Module, device: &Device) -> Result<ComputeCapability, Rejected> {
    let own = device.compute_capability;
    let text = module.target();
    let target: ComputeCapability = text
        .parse()
        .map_err(|_| Rejected { code: Code::INVALID_PTX, message: format!("`.target {text}` is unknown") })?;
    let fits = match text.as_bytes().last() {
        Some(b'a') => target == own,
        Some(b'f') => target.major == own.major && target.minor <= own.minor,
        _ => target <= own,
    };
    match fits {
        true => Ok(target),
        false => {
            let message = format!("PTX for {text}; {} is {}", device.name, device.arch());
            Err(Rejected { code: Code::INVALID_PTX, message })
        }
    }
}

/// Gives the variables their places. The second result is what the info log says.
fn place(
    driver: &Driver,
    context: &Context,
    compiled: Compiled,
    options: &JitOptions,
) -> Result<(Handle, String), Rejected> {
    let variables = compiled.module.variables();
    let mut machine = driver.engine.machine();
    let id =
        machine.load(variables).map_err(|error| Rejected { code: Code::OUT_OF_MEMORY, message: error.to_string() })?;
    let symbols: Vec<_> = variables.iter().filter_map(|variable| machine.symbol(id, &variable.name)).collect();
    for symbol in &symbols {
        driver.regions.insert(symbol.address, symbol.bytes, Kind::Variable, context.handle, 0);
    }
    drop(machine);
    let constants = variables.iter().filter(|variable| variable.space == Space::Const);
    let constant_bytes = constants.map(|variable| variable.bytes).sum();
    let unable = compiled.entries.iter().filter_map(|entry| entry.program.as_ref().err());
    let info = unable.map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let module = driver.modules.insert_with(|handle| Module {
        handle,
        context: context.handle,
        id,
        max_registers: options.max_registers,
        target: compiled.target,
        constant_bytes,
        variables: symbols.iter().map(|symbol| symbol.address).collect(),
        entries: compiled.entries,
        functions: Mutex::default(),
    });
    Ok((module.handle, info))
}
