//! A parsed PTX module whose entries are lowered when first asked for, and once only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpwise_simt::isa::{Program, Variable};
use warpwise_simt::ptx::{Bounds, Module, PtxError};

use crate::suggest::UnknownName;

/// Why an entry has no program.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CodeError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error(transparent)]
    Ptx(#[from] PtxError),
}

/// The kernels of one PTX text, shared by all contexts that run them.
#[derive(Debug)]
pub struct Code {
    module: Module,
    programs: Mutex<HashMap<String, Arc<Program>>>,
}

impl Code {
    /// Parses the text; `name` is what errors call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, PtxError> {
        Ok(Self { module: Module::parse(name, text)?, programs: Mutex::default() })
    }

    /// Names of the entries, in the text's order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.module.entries()
    }

    /// The PTX version that the text asks for: major, minor.
    pub fn ptx_version(&self) -> (u32, u32) {
        self.module.version()
    }

    pub fn variables(&self) -> &[Variable] {
        self.module.variables()
    }

    /// What the entry's header says; the machine need not know its body.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn bounds(&self, entry: &str) -> Result<Bounds, CodeError> {
        self.module.bounds(entry).ok_or_else(|| UnknownName::new("kernel", entry, self.entries()).into())
    }

    /// The entry in the inner form.
    pub fn program(&self, entry: &str) -> Result<Arc<Program>, CodeError> {
        // A thread that panicked while it held the lock left at worst a map without its program.
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(entry) {
            return Ok(Arc::clone(program));
        }
        self.bounds(entry)?;
        let program = Arc::new(self.module.lower(entry)?);
        programs.insert(entry.to_owned(), Arc::clone(&program));
        Ok(program)
    }
}
