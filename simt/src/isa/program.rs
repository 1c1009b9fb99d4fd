//! A kernel in the inner form, with all that is needed to launch and to explain it.

use std::sync::Arc;

use super::{Control, Instr, Pc, Ty};

/// Which code the program was lowered from: counters and modelled times carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    Ptx,
    Sass,
}

/// One kernel entry, ready to be loaded by the machine.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub isa: Isa,
    /// Entry code first, then the functions it calls. The entry starts at 0.
    pub code: Vec<Instr>,
    /// One for each instruction of `code`.
    pub info: Vec<InstrInfo>,
    /// Of SASS, one for each instruction of `code`; empty for PTX.
    pub control: Vec<Control>,
    pub params: Vec<Param>,
    /// Words that are the same for the whole launch; [`super::Src::constant`] indexes them.
    pub constants: Vec<Constant>,
    /// Words of constant banks that a register chooses from: in [`super::Space::Param`], from [`super::BANKS_AT`] on. Of SASS.
    pub banks: Vec<Constant>,
    /// Jump tables of `brx.idx`.
    pub tables: Vec<Vec<Pc>>,
    pub slot_count: u16,
    /// Includes [`super::Pred::TRUE`].
    pub pred_count: u16,
    /// Shared memory declared in the code, bytes; dynamic shared memory follows at [`Program::shared_dynamic_offset`].
    pub shared_static_bytes: u32,
    /// Shared memory before it that belongs to the system, bytes: addresses of the block's own start after it. Of SASS for 9.0 and later.
    pub shared_reserved_bytes: u32,
    /// Aligned up from `shared_static_bytes` as the `extern` array asks.
    pub shared_dynamic_offset: u32,
    /// Local memory a thread, bytes.
    pub local_bytes: u32,
    /// `.maxntid`: threads a block, as x, y, z.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// Most general 32-bit registers alive at one place, by liveness over the virtual registers: an estimate of what ptxas will allocate.
    pub estimated_registers: u32,
    /// Numbered barriers that the code uses.
    pub barrier_count: u32,
    /// Source files that `info` refers to.
    pub files: Vec<Arc<str>>,
}

/// Where an instruction comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstrInfo {
    /// The instruction as written, without indentation.
    pub text: Arc<str>,
    /// Line of the listing (1-based).
    pub listing_line: u32,
    /// Source position, innermost first, callers after it. Empty: unknown.
    pub source: Arc<[SourceLine]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// Index in [`Program::files`].
    pub file: u32,
    /// 1-based; 0 where the compiler gave none.
    pub line: u32,
    /// 1-based; 0 where unknown.
    pub column: u32,
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    /// Type as declared (arrays of bytes have `B8`).
    pub ty: Ty,
    pub bytes: u32,
    pub offset: u32,
}

/// A 32-bit word that does not change within a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    Literal(u32),
    /// Bytes of the parameter buffer at `offset`, `bytes` 1, 2 or 4, extended as told.
    Param {
        offset: u32,
        bytes: u8,
        signed: bool,
    },
    /// `%ntid`, axis 0 to 2.
    BlockDim(u8),
    /// `%nctaid`, axis 0 to 2.
    GridDim(u8),
    /// `%nsmid`.
    SmCount,
    /// `%nwarpid`: most warps an SM holds.
    WarpsPerSm,
    /// `%dynamic_smem_size`.
    SharedDynamicBytes,
    /// `%total_smem_size`.
    SharedTotalBytes,
    /// `%gridid`: low word of the launch's number.
    GridId,
    /// Word 0 or 1 of the address of a module-level `.global` or `.const` variable, plus a byte offset.
    Variable {
        name: String,
        addend: i64,
        word: u8,
    },
    /// The first bytes, up to four, that a `.const` variable has at `offset` when the launch starts.
    Stored {
        name: String,
        offset: u64,
        bytes: u8,
    },
    /// Word 0 or 1 of the entry pc of a function, for indirect calls.
    Function {
        name: String,
        word: u8,
    },
}

/// A module-level `.global` or `.const` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// `Global` or `Const`.
    pub space: super::Space,
    pub bytes: u64,
    pub align: u64,
    /// Initial contents; shorter than `bytes` means zeros after it.
    pub init: Vec<u8>,
    /// Addresses of other variables written into `init` at load.
    pub relocations: Vec<Relocation>,
}

/// A 64-bit address to be written into a variable's initial contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset: u64,
    pub symbol: String,
    pub addend: i64,
    /// The generic address of the variable (`generic(x)`), else the address in its space.
    pub generic: bool,
}
