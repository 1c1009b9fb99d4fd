//! Modules: their variables' places in memory, and what can go wrong when they or their kernels are loaded.

use std::collections::HashMap;

use crate::exec::PrepareError;
use crate::isa::Variable;
use crate::memory::{ALIGNMENT, Memory, MemoryError};

/// A module loaded on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(usize);

/// A variable's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub address: u64,
    pub bytes: u64,
}

/// Why a module or a kernel cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("variable `{name}`: {error}")]
    Memory { name: String, error: MemoryError },
    #[error("variable `{name}`: its initial contents hold the address of `{symbol}`, which the module does not define")]
    UnknownSymbol { name: String, symbol: String },
    #[error("variable `{name}`: initial contents of {given} bytes for {bytes} bytes")]
    Contents { name: String, given: u64, bytes: u64 },
}

#[derive(Debug, Default)]
pub(super) struct Modules(Vec<Module>);

#[derive(Debug, Default)]
struct Module {
    symbols: HashMap<String, Symbol>,
    /// What to free.
    allocations: Vec<u64>,
}

impl Modules {
    pub fn load(&mut self, memory: &mut Memory, variables: &[Variable]) -> Result<ModuleId, LoadError> {
        let mut module = Module::default();
        let loaded = module.place(memory, variables).and_then(|()| module.fill(memory, variables));
        if let Err(error) = loaded {
            module.free(memory);
            return Err(error);
        }
        self.0.push(module);
        Ok(ModuleId(self.0.len() - 1))
    }

    pub fn unload(&mut self, memory: &mut Memory, id: ModuleId) {
        if let Some(module) = self.0.get_mut(id.0) {
            module.free(memory);
            module.symbols.clear();
        }
    }

    pub fn symbol(&self, id: ModuleId, name: &str) -> Option<Symbol> {
        self.0.get(id.0)?.symbols.get(name).copied()
    }
}

impl Module {
    fn place(&mut self, memory: &mut Memory, variables: &[Variable]) -> Result<(), LoadError> {
        for variable in variables {
            let spare = if variable.align > ALIGNMENT { variable.align } else { 0 };
            let wanted = variable.bytes.saturating_add(spare);
            let start = memory.alloc(wanted).map_err(|error| failed(variable, error))?;
            self.allocations.push(start);
            let address = if spare > 0 { start.next_multiple_of(spare) } else { start };
            self.symbols.insert(variable.name.clone(), Symbol { address, bytes: variable.bytes });
        }
        Ok(())
    }

    fn fill(&self, memory: &mut Memory, variables: &[Variable]) -> Result<(), LoadError> {
        for variable in variables {
            let name = || variable.name.clone();
            let given = variable.init.len() as u64;
            let ends = variable.relocations.iter().map(|relocation| relocation.offset.saturating_add(8));
            let needed = ends.fold(given, u64::max);
            if needed > variable.bytes {
                return Err(LoadError::Contents { name: name(), given: needed, bytes: variable.bytes });
            }
            let mut contents = variable.init.clone();
            contents.resize(needed as usize, 0);
            for relocation in &variable.relocations {
                let Some(target) = self.symbols.get(&relocation.symbol) else {
                    return Err(LoadError::UnknownSymbol { name: name(), symbol: relocation.symbol.clone() });
                };
                let value = target.address.wrapping_add_signed(relocation.addend);
                let start = relocation.offset as usize;
                contents[start..start + 8].copy_from_slice(&value.to_le_bytes());
            }
            if let Some(symbol) = self.symbols.get(&variable.name) {
                memory.write(symbol.address, &contents).map_err(|error| failed(variable, error))?;
            }
        }
        Ok(())
    }

    fn free(&mut self, memory: &mut Memory) {
        for address in self.allocations.drain(..) {
            // It was allocated here and is freed once, so this cannot fail; if it did, the memory would only stay taken.
            let _ = memory.free(address);
        }
    }
}

fn failed(variable: &Variable, error: MemoryError) -> LoadError {
    LoadError::Memory { name: variable.name.clone(), error }
}
