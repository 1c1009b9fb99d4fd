//! What ptxas made of the kernels for one architecture, as programs of the machine; each lowered when first asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpwise_nvtools::nvdisasm::{Control, Function, Listing};
use warpwise_simt::isa;
use warpwise_simt::isa::Program;
use warpwise_simt::sass::live::{self, Abi, Live, Rule};
use warpwise_simt::sass::{self, Cubin, CubinError, Entry, SassError};

/// Why a kernel has no program from its SASS.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SassUnusable {
    #[error(transparent)]
    Cubin(#[from] CubinError),
    #[error(transparent)]
    Sass(#[from] SassError),
    #[error("nvdisasm prints no code of kernel {0}")]
    NoCode(String),
}

/// The kernels of one cubin.
#[derive(Debug)]
pub struct Sass {
    cubin: Cubin,
    listing: Listing,
    programs: Mutex<HashMap<String, Result<Arc<Program>, SassUnusable>>>,
}

impl Sass {
    /// A cubin and its disassembly.
    ///
    /// # Errors
    /// Where the bytes are no cubin.
    pub fn new(cubin: &[u8], listing: Listing) -> Result<Self, SassUnusable> {
        Ok(Self { cubin: Cubin::parse(cubin)?, listing, programs: Mutex::default() })
    }

    /// The entry in the inner form.
    ///
    /// # Errors
    /// Where it is unknown, or has an instruction that the machine does not know.
    pub fn program(&self, entry: &str) -> Result<Arc<Program>, SassUnusable> {
        // A thread that panicked while it held the lock left at worst a map without its program.
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        programs.entry(entry.to_owned()).or_insert_with(|| self.lower(entry)).clone()
    }

    /// The registers alive at each instruction of a kernel, or of a function that stands alone.
    ///
    /// # Errors
    /// Where there is no code of that name.
    pub fn live(&self, name: &str, rule: Rule) -> Result<Vec<Live>, SassUnusable> {
        let abi = match (self.cubin.entry(name), self.cubin.entries().first()) {
            (Ok(entry), _) => Abi::of(entry),
            // A function of its own has no register count: as many as there can be.
            (Err(_), Some(other)) => Abi { registers: 255, ..Abi::of(other) },
            (Err(error), None) => return Err(error.into()),
        };
        Ok(live::live(&code(self.function(name)?), &abi, rule))
    }

    /// Of each instruction: the indices of those that may come next.
    ///
    /// # Errors
    /// Where there is no code of that name.
    pub fn successors(&self, name: &str) -> Result<Vec<Vec<usize>>, SassUnusable> {
        Ok(live::successors(&code(self.function(name)?)))
    }

    /// What nvdisasm printed of a kernel or a function.
    ///
    /// # Errors
    /// Where there is no code of that name.
    pub fn function(&self, name: &str) -> Result<&Function, SassUnusable> {
        self.listing.function(name).ok_or_else(|| SassUnusable::NoCode(name.to_owned()))
    }

    /// What the cubin says of a kernel.
    ///
    /// # Errors
    /// Where it has none of that name.
    pub fn entry(&self, name: &str) -> Result<&Entry, CubinError> {
        self.cubin.entry(name)
    }

    /// Names of the kernels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cubin.entries().iter().map(|entry| entry.name.as_str())
    }

    fn lower(&self, name: &str) -> Result<Arc<Program>, SassUnusable> {
        let entry = self.cubin.entry(name)?;
        Ok(Arc::new(sass::lower(entry, &code(self.function(name)?))?))
    }
}

/// What nvdisasm printed, as the machine's front end takes it.
fn code(function: &Function) -> sass::Code {
    let instruction = |instruction: &warpwise_nvtools::nvdisasm::Instruction| sass::Instruction {
        address: instruction.address,
        predicate: instruction.predicate.clone(),
        opcode: instruction.opcode.clone(),
        operands: instruction.operands.clone(),
        encoding: instruction.encoding,
        control: control(instruction.control()),
        source: instruction.source.iter().map(|line| (line.file.clone(), line.line)).collect(),
    };
    sass::Code {
        instructions: function.instructions.iter().map(instruction).collect(),
        labels: function.labels.iter().map(|label| (label.name.clone(), label.address)).collect(),
    }
}

fn control(control: Control) -> isa::Control {
    isa::Control {
        stall_cycles: control.stall_cycles,
        yields: !control.yield_bit,
        write_barrier: control.write_barrier,
        read_barrier: control.read_barrier,
        wait_mask: control.wait_mask,
        reuse_mask: control.reuse_mask,
    }
}
