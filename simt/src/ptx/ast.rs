//! The parsed module: what the text says, before anything is resolved or checked.
//!
//! A body is a flat list of statements; scopes are an opening and a closing statement in it. So nothing here is recursive
//! but vector operands and initialisers, whose depth the parser limits.

use std::collections::HashMap;
use std::sync::Arc;

use super::source::Span;
use crate::isa::{Space, Ty};

/// A name, as a number: equal names have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Symbol(pub u32);

/// A name where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub symbol: Symbol,
    pub span: Span,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// `.target`, first word: `sm_80`.
    pub target: String,
    /// 32 or 64.
    pub address_bits: u32,
    pub declarations: Vec<Declaration>,
    /// Registers declared outside of functions (PTX 1.x): every kernel has them.
    pub registers: Vec<Declaration>,
    pub functions: Vec<Function>,
    /// `.alias name, of`.
    pub aliases: Vec<(Name, Name)>,
    /// `.file`: number to index in `file_names`.
    pub files: HashMap<u32, u32>,
    pub file_names: Vec<Arc<str>>,
    /// One span for each [`Symbol`].
    pub symbols: Vec<Span>,
}

/// What a name is known to other modules as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Linkage {
    #[default]
    Local,
    Visible,
    Extern,
    Weak,
    Common,
}

/// Where a declared name lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Register,
    Memory(Space),
}

/// `.space .align n .vN .type name<count>[dims] = init`.
#[derive(Debug)]
pub(super) struct Declaration {
    pub linkage: Linkage,
    pub home: Home,
    /// `.align`, bytes.
    pub align: Option<u32>,
    pub ty: Ty,
    /// `.v2`, `.v4`; else 1.
    pub lanes: u8,
    pub name: Name,
    /// `%r<10>`: registers `%r0` to `%r9`.
    pub range: Option<u32>,
    /// Array sizes; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    pub init: Option<Init>,
}

#[derive(Debug)]
pub(super) enum Init {
    List(Vec<Init>),
    Number(Number, Span),
    Address { name: Name, addend: i64, generic: bool },
}

/// A literal or the value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Signed(i64),
    Unsigned(u64),
    /// Bits of a 32-bit float.
    Single(u32),
    Double(f64),
}

#[derive(Debug)]
pub(super) struct Function {
    pub is_entry: bool,
    pub name: Name,
    pub returns: Vec<Declaration>,
    pub params: Vec<Declaration>,
    pub bounds: Bounds,
    /// None: only declared.
    pub body: Option<Vec<Statement>>,
}

/// Performance directives of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
}

#[derive(Debug)]
pub(super) enum Statement {
    Instruction(Instruction),
    Label(Name),
    Declaration(Declaration),
    /// `name: .branchtargets a, b;`
    BranchTargets {
        name: Name,
        targets: Vec<Name>,
    },
    /// `.calltargets` or `.callprototype`, for indirect calls.
    CallInfo(Name),
    Open,
    Close,
    Loc(Loc),
}

/// `.loc file line column, function_name …, inlined_at file line column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loc {
    pub at: Place,
    pub inlined_at: Option<Place>,
}

/// File (the number of its `.file`), line, column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug)]
pub(super) struct Instruction {
    pub guard: Option<Guard>,
    /// Base and modifiers: `ld.global.f32`.
    pub opcode: Span,
    pub operands: Vec<Operand>,
    /// From the guard to the semicolon.
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub name: Name,
    pub negate: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub kind: OperandKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    /// A register, variable, function, label or special register, with what follows it: `.x`, or `+ 8`.
    Name {
        name: Name,
        component: Option<Component>,
        addend: i64,
    },
    Number(Number),
    /// `_`.
    Sink,
    /// `!p`.
    Not(Name),
    /// `a|b`.
    Pair(Box<[Operand; 2]>),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[a + 4]`; more than one part where an instruction has coordinates: `[tex, {x, y}]`.
    Address {
        base: Base,
        addend: i64,
        more: Vec<Operand>,
    },
    /// `(a, b)`.
    List(Vec<Operand>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    Name(Name),
    /// An address written as a number: it is all in the addend.
    None,
}

/// `.x` … `.w`, or `.r` … `.a`: index 0 to 3. Other selectors (`.b0`, `.h1`) are for instructions that are not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Lane(u8),
    Other,
}
