//! Which registers hold a value that is still wanted, at each instruction.
//!
//! This looks at text and encoding only, not at the inner form: it works for kernels with instructions that the machine does not
//! execute. What an instruction does with its operands is a table ([`table`]); [`roles`] reads it.
//!
//! A register counts at an instruction that reads it, at one that writes it, and everywhere between. R1, the stack's top, counts
//! always. There are two rules. [`Rule::Nvdisasm`] gives what `nvdisasm --print-life-ranges` does, to the register; [`Rule::Exact`]
//! adds what that leaves out: what lanes keep whose guard is false, where the value comes from another stretch between labels;
//! what a write under a uniform guard keeps; predicates in P2R.

mod abi;
mod flow;
mod roles;
mod set;
mod table;

pub use abi::Abi;
pub use set::Set;

use super::Code;
use flow::Flow;
use roles::{Roles, roles};

/// The register files that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum File {
    /// `R0`…
    General,
    /// `UR0`…
    Uniform,
    /// `P0`…
    Predicate,
    /// `UP0`…
    UniformPredicate,
}

/// A register of a thread or, if uniform, of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    pub file: File,
    pub index: u16,
}

impl std::fmt::Display for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self.file {
            File::General => "R",
            File::Uniform => "UR",
            File::Predicate => "P",
            File::UniformPredicate => "UP",
        };
        write!(f, "{name}{}", self.index)
    }
}

/// What counts as alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Nvdisasm,
    Exact,
}

/// What an instruction does with a register that is alive there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Written,
    Read,
    ReadAndWritten,
    /// Holds a value for later.
    Held,
}

/// The registers that are alive at one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// By file, then by number.
    pub registers: Vec<(Register, Use)>,
}

impl Live {
    /// How many registers of one file.
    pub fn count(&self, file: File) -> usize {
        self.registers.iter().filter(|(register, _)| register.file == file).count()
    }
}

/// The registers alive at each instruction of a kernel, in its order.
pub fn live(code: &Code, abi: &Abi, rule: Rule) -> Vec<Live> {
    let roles: Vec<Roles> = code.instructions.iter().map(|instruction| roles(instruction, abi, rule)).collect();
    let before = Flow::new(code).alive_before(&roles, rule);
    let stack = Register { file: File::General, index: 1 };
    let at = |(roles, before): (&Roles, Set)| {
        let mut alive = before.or(&roles.writes).or(&roles.keeps);
        alive.insert(stack);
        let registers = alive.iter().map(|register| {
            let usage = match (roles.writes.contains(register), roles.reads.contains(register)) {
                (true, true) => Use::ReadAndWritten,
                (true, false) => Use::Written,
                (false, true) => Use::Read,
                (false, false) => Use::Held,
            };
            (register, usage)
        });
        Live { registers: registers.collect() }
    };
    roles.iter().zip(before).map(at).collect()
}

/// Of each instruction: the indices of those that may come next.
pub fn successors(code: &Code) -> Vec<Vec<usize>> {
    Flow::new(code).successors()
}

#[cfg(test)]
mod tests;
