//! A kernel's fault as a value: what happened, where in the code, in which thread, at which address.
//!
//! Execution finds a fault and knows kind, instruction and lane; [`crate::machine`] adds the names, the source line and the
//! nearest allocation. Nothing here ends a program: a faulted launch is a report like any other.

use std::fmt;
use std::sync::Arc;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An access outside every live allocation, or outside the block's shared or the thread's local memory.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An address that is no multiple of the access's width.
    Misaligned,
    /// An access in the first page.
    Null,
    /// The kernel executed `trap`.
    Trap,
    /// Nothing that the launch does changes anything any more, or has for longer than the watchdog allows.
    NoProgress,
    /// Every thread waits at a barrier or a warp-wide operation that the others will never reach.
    Deadlock,
    /// A jump table index past its end.
    BranchIndex,
    /// A barrier number or thread count that does not exist.
    BarrierMisuse,
    /// More nested calls than the machine keeps.
    CallDepth,
    /// The step budget that the launch asked for is used up.
    StepBudget,
    /// A read of memory that nobody wrote.
    Uninitialised,
    /// Two threads access the same bytes, one of them writes, and nothing orders the two.
    Race,
    /// Lanes of one warp met a block barrier at different instructions.
    DivergentBarrier,
    /// A warp-wide operation whose member mask does not fit the lanes that take part.
    WarpMask,
}

impl FaultKind {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds",
            Self::UseAfterFree => "use-after-free",
            Self::Misaligned => "misaligned",
            Self::Null => "null",
            Self::Trap => "trap",
            Self::NoProgress => "no-progress",
            Self::Deadlock => "deadlock",
            Self::BranchIndex => "branch-index",
            Self::BarrierMisuse => "barrier-misuse",
            Self::CallDepth => "call-depth",
            Self::StepBudget => "step-budget",
            Self::Uninitialised => "uninitialised-read",
            Self::Race => "race",
            Self::DivergentBarrier => "divergent-barrier",
            Self::WarpMask => "warp-mask",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault with all that is known about it. `Display` gives the full sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// What happened, without the place: `out-of-bounds read of 4 bytes at 0x200000000010`.
    pub message: String,
    pub kernel: String,
    /// Source file and 1-based line: the innermost position that is not in the standard library.
    pub file: Option<Arc<str>>,
    pub line: Option<u32>,
    /// The instruction as written in its listing, and the 1-based line there.
    pub instruction: Arc<str>,
    pub listing_line: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub address: Option<u64>,
    /// How the address lies to the nearest allocation.
    pub allocation: Option<String>,
    /// The other thread that it takes, where it takes two.
    pub other: Option<Box<Party>>,
}

/// A second thread in a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// What it did: `a read by`, `waited at a barrier`.
    pub doing: &'static str,
    pub file: Option<Arc<str>>,
    pub line: Option<u32>,
    pub instruction: Arc<str>,
    pub listing_line: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.doing)?;
        place(f, self.block, self.thread, (&self.file, self.line), (&self.instruction, self.listing_line))
    }
}

/// Where a thread stands: `; block …, thread …; file:line; listing line`.
fn place(
    f: &mut fmt::Formatter<'_>,
    [bx, by, bz]: [u32; 3],
    [tx, ty, tz]: [u32; 3],
    source: (&Option<Arc<str>>, Option<u32>),
    (instruction, listing_line): (&str, u32),
) -> fmt::Result {
    write!(f, "; block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")?;
    if let (Some(file), Some(line)) = source {
        write!(f, "; {file}:{line}")?;
    }
    if listing_line > 0 {
        write!(f, "; listing line {listing_line}: `{instruction}`")?;
    }
    Ok(())
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", self.kernel, self.message)?;
        if let Some(allocation) = &self.allocation {
            write!(f, ", {allocation}")?;
        }
        place(f, self.block, self.thread, (&self.file, self.line), (&self.instruction, self.listing_line))?;
        match &self.other {
            Some(other) => write!(f, "\nthe other: {other}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// A fault as execution finds it, before names are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    pub kind: FaultKind,
    pub pc: crate::isa::Pc,
    /// Warp in its block, and the lane.
    pub warp: u32,
    pub lane: u32,
    pub detail: Detail,
}

/// What else a [`Violation`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    None,
    /// A memory access: `address` in `space`, `limit` the size of that space where it has one (shared, local, parameters).
    Access {
        space: crate::isa::Space,
        address: u64,
        bytes: u32,
        action: Action,
        limit: Option<u64>,
    },
    /// An index or count that was given, and the first value too large.
    Value {
        given: u64,
        limit: u64,
    },
    /// The member mask of a warp-wide operation.
    Members {
        given: crate::isa::Mask,
    },
}

/// What an access was about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read,
    Write,
    Atomic,
}

impl Action {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        }
    }
}
