//! The form between text and [`isa::Program`]: inner instructions over registers that are not yet assigned to slots.
//!
//! One [`Code`] holds an entry and every function that it calls, one after another. Registers are numbered across all of
//! them, so that a call can name the slots of the callee's parameters.

use std::sync::Arc;

use super::constants::Constants;
use crate::isa::{Op, SourceLine, Ty};
use crate::ptx::source::Span;

/// A register before it has slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::ptx) struct Register(pub u32);

/// A predicate register before it has a number of the warp's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::ptx) struct Predicate(pub u32);

impl Predicate {
    /// Constantly true, as [`crate::isa::Pred::TRUE`].
    pub const TRUE: Self = Self(0);
}

/// A place for a label until the code is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::ptx) struct Label(pub u32);

/// A predicate read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) struct PredRead {
    pub predicate: Predicate,
    pub negate: bool,
}

impl PredRead {
    pub const TRUE: Self = Self { predicate: Predicate::TRUE, negate: false };
    pub const FALSE: Self = Self { predicate: Predicate::TRUE, negate: true };

    pub fn is(predicate: Predicate) -> Self {
        Self { predicate, negate: false }
    }
}

/// A register written: some words of it, from `word` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) struct Write {
    pub register: Register,
    pub word: u16,
    pub words: u16,
}

/// A source operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ptx) enum Read {
    #[default]
    None,
    /// From word `word` of the register on.
    Register { register: Register, word: u16 },
    /// From this word of the constants on.
    Constant(u16),
}

impl Read {
    pub fn register(register: Register) -> Self {
        Self::Register { register, word: 0 }
    }
}

/// An instruction over registers. The fields are those of [`crate::isa::Instr`].
#[derive(Clone, Debug)]
pub(in crate::ptx) struct Step {
    pub op: Op,
    pub guard: PredRead,
    pub dst: [Option<Write>; 4],
    pub pdst: [Option<Predicate>; 2],
    pub src: [Read; 4],
    pub psrc: PredRead,
    /// `mods.pa` of predicate logic.
    pub pa: PredRead,
    pub addr: Read,
    pub offset: i64,
    /// Target of a branch.
    pub label: Option<Label>,
    /// The instruction in the text.
    pub span: Span,
    /// Its place in the sources.
    pub place: Arc<[SourceLine]>,
}

impl Step {
    pub fn new(op: Op, span: Span, place: Arc<[SourceLine]>) -> Self {
        Self {
            op,
            guard: PredRead::TRUE,
            dst: [None; 4],
            pdst: [None; 2],
            src: [Read::None; 4],
            psrc: PredRead::TRUE,
            pa: PredRead::TRUE,
            addr: Read::None,
            offset: 0,
            label: None,
            span,
            place,
        }
    }

    /// Does it take effect in every lane?
    pub fn is_unguarded(&self) -> bool {
        self.guard == PredRead::TRUE
    }

    pub fn registers_read(&self) -> impl Iterator<Item = Register> {
        let sources = self.src.into_iter().chain([self.addr]);
        sources.filter_map(|read| match read {
            Read::Register { register, .. } => Some(register),
            _ => None,
        })
    }

    pub fn predicates_read(&self) -> impl Iterator<Item = Predicate> {
        [self.guard, self.psrc, self.pa].into_iter().map(|read| read.predicate).filter(|p| *p != Predicate::TRUE)
    }

    pub fn writes(&self) -> impl Iterator<Item = Write> {
        self.dst.into_iter().flatten()
    }

    pub fn predicates_written(&self) -> impl Iterator<Item = Predicate> {
        self.pdst.into_iter().flatten().filter(|p| *p != Predicate::TRUE)
    }
}

/// What is known of a register.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx) struct RegisterInfo {
    pub words: u16,
    /// The function whose register it is: an index in [`Code::functions`].
    pub function: u32,
}

/// One function's part of the code.
#[derive(Clone, Debug, Default)]
pub(in crate::ptx) struct FunctionCode {
    /// Steps `start..end` of the code.
    pub start: u32,
    pub end: u32,
    /// Registers written by the caller before the call.
    pub params: Vec<Register>,
    /// Registers read by the caller after it.
    pub returns: Vec<Register>,
    /// Functions that it calls: steps and indices in [`Code::functions`].
    pub calls: Vec<(u32, u32)>,
    pub local_bytes: u64,
}

/// An entry and the functions that it calls, in the order of the program; callers come before callees.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Code {
    pub steps: Vec<Step>,
    pub registers: Vec<RegisterInfo>,
    /// The function of each predicate; the first is [`Predicate::TRUE`].
    pub predicates: Vec<u32>,
    /// Where each label stands.
    pub labels: Vec<u32>,
    pub tables: Vec<Vec<Label>>,
    pub functions: Vec<FunctionCode>,
    pub constants: Constants,
}

impl Code {
    pub fn register(&mut self, words: u16, function: u32) -> Register {
        self.registers.push(RegisterInfo { words, function });
        Register(self.registers.len() as u32 - 1)
    }

    pub fn predicate(&mut self, function: u32) -> Predicate {
        self.predicates.push(function);
        Predicate(self.predicates.len() as u32 - 1)
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() as u32 - 1)
    }

    pub fn target(&self, label: Label) -> u32 {
        self.labels.get(label.0 as usize).copied().unwrap_or(0)
    }

    /// The whole of a register, to be written.
    pub fn whole(&self, register: Register) -> Write {
        Write { register, word: 0, words: self.registers[register.0 as usize].words }
    }
}

/// The bit type that is as wide as `ty`.
pub(in crate::ptx) fn bits_type(bits: u32) -> Ty {
    match bits {
        1 => Ty::Pred,
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        64 => Ty::B64,
        _ => Ty::B128,
    }
}
