//! The memory hierarchy of the cycle model: what an access touches, what the caches hold, when data arrives.
//!
//! Caches hold tags only; data is functional and lives elsewhere. Three levels with one idea each: a warp's access becomes
//! [`lines`]; an SM's [`l1`] answers at once, or says which sectors it lacks; [`uncore`] (L2, crossbar, DRAM) takes the requests of
//! all SMs in one agreed order and tells each when its data arrives. A queue is a number: the time until which its server is busy.

pub mod cache;
pub mod dram;
#[cfg(target_arch = "x86_64")]
mod gather;
pub mod l1;
pub mod lines;
pub mod uncore;

/// Bytes of a cache line, as a shift.
pub const LINE_SHIFT: u32 = 7;
/// Bytes of a sector, the unit in which data moves.
pub const SECTOR_BYTES: u32 = 32;
/// All four sectors of a line.
pub const ALL_SECTORS: u8 = 0b1111;
