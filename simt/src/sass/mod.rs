//! The SASS front end: what the chip runs, lowered to the inner form.
//!
//! It takes a cubin's bytes ([`Cubin`]: parameters, shared and local memory, bounds) and its disassembly, which whoever starts
//! processes gets from nvdisasm ([`Code`]). One instruction of SASS is one [`isa::Instr`], padding included, so that counters are
//! the hardware's. Architectures: 8.x to 12.x; opcodes: what our kernels compile to, and the common rest. A kernel with an
//! unknown opcode, modifier or operand is refused before it runs, with the instruction's text.
//!
//! How SASS maps to the inner form:
//! - `R0`… are slots, then `UR0`… (a uniform register is one whose lanes agree), then `B0`… (a convergence barrier is a mask of lanes);
//! - `P0` to `P6` are predicates 1 to 7, `UP0` to `UP6` predicates 8 to 14;
//! - bank 0 holds the launch's values, by architecture ([`bank`]), and the parameters; banks 2 to 4 what the cubin says ([`banks`]);
//! - immediates are taken from the encoding where the text is a decimal number, which loses the bits of a NaN.

mod bank;
mod banks;
mod cubin;
mod error;
pub mod live;
mod lower;
mod operand;

pub use cubin::{Cubin, CubinError, Entry, cubin_code};
pub use error::SassError;
pub use lower::lower;

use std::sync::Arc;

use crate::isa::Control;

/// The disassembly of one kernel, with what is placed behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    pub instructions: Vec<Instruction>,
    /// Names of branch targets and called functions, and the bytes at which they start.
    pub labels: Vec<(String, u32)>,
}

/// One instruction as nvdisasm prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Bytes from the start of the kernel; a multiple of 16.
    pub address: u32,
    /// `@P0`, `@!UP1`.
    pub predicate: Option<String>,
    /// With its modifiers: `LDG.E.128`.
    pub opcode: String,
    /// `R5, desc[UR4][R4.64]`.
    pub operands: String,
    pub encoding: u128,
    pub control: Control,
    /// Where it comes from: file and line, the innermost first.
    pub source: Arc<[(Arc<str>, u32)]>,
}

impl Instruction {
    /// As a person reads it.
    pub fn text(&self) -> String {
        let predicate = self.predicate.as_deref().map(|predicate| format!("{predicate} ")).unwrap_or_default();
        let gap = if self.operands.is_empty() { "" } else { " " };
        format!("{predicate}{}{gap}{}", self.opcode, self.operands)
    }
}
