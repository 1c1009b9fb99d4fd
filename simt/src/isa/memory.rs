//! Memory instructions: spaces, widths, ordering, and the address windows.

use super::Ty;

/// Where an address points. `Generic` is decided lane by lane, by the windows below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Space {
    #[default]
    Generic,
    Global,
    Shared,
    Local,
    Const,
    /// Kernel parameters (`ld.param` at an address that is not a plain name).
    Param,
}

/// Generic addresses from here on, for [`WINDOW_BYTES`], are shared memory of the block.
pub const SHARED_WINDOW: u64 = 0x1000_0000_0000;
/// Generic addresses from here on, for [`WINDOW_BYTES`], are local memory of the thread.
pub const LOCAL_WINDOW: u64 = 0x1001_0000_0000;
/// Generic addresses from here on, for [`WINDOW_BYTES`], are the kernel's parameters.
pub const PARAM_WINDOW: u64 = 0x1002_0000_0000;
/// Where [`super::Program::banks`] starts among the parameters, which take less.
pub const BANKS_AT: u32 = 1 << 16;
/// Size of each window.
pub const WINDOW_BYTES: u64 = 1 << 24;
/// First address of global memory: every machine's arena starts here, so that addresses repeat from run to run.
pub const GLOBAL_BASE: u64 = 0x2000_0000_0000;

/// One load, store or atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub space: Space,
    /// Type of one element: its width is the width in memory, its sign decides how a narrow load is extended.
    pub ty: Ty,
    /// Elements a lane moves: 1, 2, 4 (8 from PTX 8.8).
    pub count: u8,
    /// The address operand is 64 bits (two words); else 32.
    pub wide_address: bool,
    pub cache: Cache,
    pub order: Order,
    pub scope: Scope,
    /// How a SASS address is made where it is more than `addr + offset`.
    pub index: Option<Index>,
}

/// The address `(addr << shift) + Instr::index + offset`, in 32 bits where neither register has 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub shift: u8,
    /// The index has 64 bits.
    pub wide: bool,
}

#[cfg(test)]
impl Access {
    /// A plain access to 32 bits of global memory, for tests.
    pub(crate) const WORD: Self = Self {
        space: Space::Global,
        ty: Ty::U32,
        count: 1,
        order: Order::Weak,
        scope: Scope::System,
        cache: Cache::All,
        wide_address: true,
        index: None,
    };
}

impl Access {
    /// Bytes that one lane moves.
    pub const fn bytes(&self) -> u32 {
        self.ty.bits() / 8 * self.count as u32
    }
}

/// Cache operator of a load or store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// `.ca` (loads) and `.wb` (stores): all levels.
    #[default]
    All,
    /// `.cg`: L2 only.
    L2,
    /// `.cs`: streaming, evict first.
    Streaming,
    /// `.lu`: last use.
    LastUse,
    /// `.cv`/`.wt`: fetch again, write through.
    Volatile,
    /// `.nc`: the read-only path.
    ReadOnly,
}

/// Memory ordering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
    Mmio,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    Block,
    Cluster,
    #[default]
    Gpu,
    System,
}

/// Read-modify-write operations; the type is [`Access::ty`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicKind {
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    /// Wraps to 0 above `src[0]`.
    Inc,
    /// Wraps to `src[0]` below 0.
    Dec,
    Exch,
    Cas,
}
