//! What a kernel takes of an SM, compiled for one architecture.

use warpwise_simt::device::Limits;
use warpwise_simt::occupancy::{InvalidInput, Occupancy, Request, calculate};

use crate::backend::LaunchShape;
use crate::numbers::Regs;

/// Registers, spills and shared memory of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    pub registers: Regs,
    /// Bytes a thread; zero where ptxas is not at hand, since PTX has no spills.
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    /// Local memory a thread, spills included.
    pub stack_bytes: u32,
    /// Shared memory declared in the code, a block.
    pub static_shared_bytes: u32,
    pub barriers: u32,
}

impl Resources {
    /// Whether ptxas moved values to local memory for want of registers.
    pub fn spills(&self) -> bool {
        self.spill_store_bytes + self.spill_load_bytes > 0
    }

    /// How many blocks of a launch fit an SM with these limits.
    pub fn occupancy(&self, limits: &Limits, shape: LaunchShape) -> Result<Occupancy, InvalidInput> {
        let request = Request {
            static_shared_bytes: self.static_shared_bytes.into(),
            dynamic_shared_bytes: shape.dynamic_shared_bytes.into(),
            barriers: self.barriers.into(),
            ..Request::new(i64::try_from(shape.block_threads()).unwrap_or(i64::MAX), self.registers.value().into())
        };
        calculate(limits, &request)
    }
}
