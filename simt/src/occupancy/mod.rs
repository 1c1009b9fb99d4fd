//! The occupancy calculator: how many blocks of a kernel live on one SM at once, and what keeps the number down.
//!
//! Follows NVIDIA's own calculator for compute capability 7.0 and later, number for number (integers throughout, opt-in shared
//! memory allowed). Each resource gives a limit on its own; the least of them is the answer and every resource at that least is a
//! limiter. It is a calculator, not a record of the driver: with no carve-out asked for it assumes the largest.
//!
//! [`calculate`] answers one request, [`curve`](mod@curve) draws how the answer changes, [`batch`] works through a table.

pub mod batch;
mod calculate;
pub mod curve;
mod derived;

pub use calculate::calculate;
pub use derived::{BestBlock, available_dynamic_shared_bytes, best_block};

/// What a kernel and its launch ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Threads a block, 1 or more.
    pub block_threads: i64,
    /// Registers a thread, 0 or more.
    pub registers: i64,
    pub static_shared_bytes: i64,
    pub dynamic_shared_bytes: i64,
    /// Share of the SM's memory asked for as shared memory, 0 to 100; -1 leaves it to the system.
    pub carveout_percent: i32,
    /// Named barriers the kernel uses; 0 or less: not counted.
    pub barriers: i64,
    /// Virtual resources the kernel uses (compute capability 10.0 on); 0 or less: not counted. No tool reports it for PTX.
    pub virtual_resources: i64,
}

impl Request {
    /// A block that uses no shared memory and one barrier.
    pub const fn new(block_threads: i64, registers: i64) -> Self {
        Self {
            block_threads,
            registers,
            static_shared_bytes: 0,
            dynamic_shared_bytes: 0,
            carveout_percent: -1,
            barriers: 1,
            virtual_resources: 0,
        }
    }
}

/// A resource that can keep blocks out, with its bit in NVIDIA's limiting-factor mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    Warps,
    Registers,
    SharedMemory,
    Blocks,
    Barriers,
    VirtualResources,
}

impl Limiter {
    pub const ALL: [Self; 6] =
        [Self::Warps, Self::Registers, Self::SharedMemory, Self::Blocks, Self::Barriers, Self::VirtualResources];

    pub const fn bit(self) -> u32 {
        match self {
            Self::Warps => 0x1,
            Self::Registers => 0x2,
            Self::SharedMemory => 0x4,
            Self::Blocks => 0x8,
            Self::Barriers => 0x10,
            Self::VirtualResources => 0x20,
        }
    }

    /// One word for tables and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Blocks => "blocks",
            Self::Barriers => "barriers",
            Self::VirtualResources => "virtual resources",
        }
    }
}

/// Blocks a SM that each resource alone would allow; `None` where it sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    pub warps: Option<i64>,
    pub registers: Option<i64>,
    pub shared_memory: Option<i64>,
    pub blocks: Option<i64>,
    pub barriers: Option<i64>,
    pub virtual_resources: Option<i64>,
}

impl BlockLimits {
    pub const fn get(&self, limiter: Limiter) -> Option<i64> {
        match limiter {
            Limiter::Warps => self.warps,
            Limiter::Registers => self.registers,
            Limiter::SharedMemory => self.shared_memory,
            Limiter::Blocks => self.blocks,
            Limiter::Barriers => self.barriers,
            Limiter::VirtualResources => self.virtual_resources,
        }
    }
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    pub blocks_per_sm: i64,
    pub warps_per_block: i64,
    /// Most warps an SM holds.
    pub max_warps_per_sm: i64,
    pub limits: BlockLimits,
    /// The resources that decide, as `factors` says.
    pub limiters: Vec<Limiter>,
    /// NVIDIA's limiting-factor mask, bit by bit as its calculator sets it. When barriers lower the result after the other
    /// resources were compared, bits of those that decided before stay set.
    pub factors: u32,
    pub allocated_registers_per_block: i64,
    /// With the system's share and rounded up.
    pub allocated_shared_bytes_per_block: i64,
    /// Size that shared memory of the SM is set to.
    pub shared_carveout_bytes: i64,
}

impl Occupancy {
    pub const fn warps_per_sm(&self) -> i64 {
        self.blocks_per_sm * self.warps_per_block
    }

    /// Resident warps as a share of the most an SM holds, 0 to 1.
    pub fn theoretical(&self) -> f64 {
        self.warps_per_sm() as f64 / self.max_warps_per_sm as f64
    }

    /// Whether the resource is at the limit that decides, stale bits of [`Occupancy::factors`] left aside.
    pub fn decided_by(&self, limiter: Limiter) -> bool {
        self.limits.get(limiter) == Some(self.blocks_per_sm)
    }
}

/// A request that the calculator refuses, which is not the same as zero blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    #[error("a block of {0} threads; a block has at least 1")]
    BlockThreads(i64),
    #[error("{0} registers a thread; the number cannot be negative")]
    Registers(i64),
    #[error("{0} bytes of shared memory; the number cannot be negative")]
    SharedBytes(i64),
    #[error("a shared-memory carve-out of {0}%; expected 0 to 100, or -1 for the default")]
    Carveout(i32),
    #[error("{0} bytes of shared memory a block; the largest carve-out holds {1}")]
    NoCarveoutHolds(i64, i64),
}
