//! What a kernel takes of an SM, compiled for one architecture.

use warpwise_nvtools::ptxas;
use warpwise_simt::device::Limits;
use warpwise_simt::isa::Program;
use warpwise_simt::occupancy::{InvalidInput, Occupancy, Request, calculate};
use warpwise_simt::sass::Entry;

use crate::backend::LaunchShape;
use crate::numbers::Regs;
use crate::pressure::cliff::Steps;

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
    /// As ptxas reports them.
    pub fn compiled(by_ptxas: &ptxas::Resources) -> Self {
        Self {
            registers: Regs::Ptxas(by_ptxas.registers),
            spill_store_bytes: by_ptxas.spill_store_bytes,
            spill_load_bytes: by_ptxas.spill_load_bytes,
            stack_bytes: by_ptxas.cumulative_stack_bytes,
            static_shared_bytes: by_ptxas.shared_bytes,
            barriers: by_ptxas.barriers,
        }
    }

    /// As a cubin has them, whoever made it. It does not say what of its stack are spills.
    pub fn of_cubin(entry: &Entry) -> Self {
        Self {
            registers: Regs::Ptxas(entry.registers),
            spill_store_bytes: 0,
            spill_load_bytes: 0,
            stack_bytes: entry.local_bytes,
            static_shared_bytes: entry.shared_static_bytes,
            barriers: entry.barrier_count,
        }
    }

    /// As far as PTX tells: registers by liveness, no spills. A cap holds here too, at the price of spills that PTX does not show.
    pub fn estimated(program: &Program, max_registers: Option<u32>) -> Self {
        let caps = [max_registers, program.max_registers].into_iter().flatten();
        Self {
            registers: Regs::Estimated(caps.fold(program.estimated_registers, u32::min)),
            spill_store_bytes: 0,
            spill_load_bytes: 0,
            stack_bytes: program.local_bytes,
            static_shared_bytes: program.shared_static_bytes,
            barriers: program.barrier_count,
        }
    }

    /// Of a kernel of which nothing is known.
    pub fn none() -> Self {
        let registers = Regs::Estimated(0);
        Self {
            registers,
            spill_store_bytes: 0,
            spill_load_bytes: 0,
            stack_bytes: 0,
            static_shared_bytes: 0,
            barriers: 0,
        }
    }

    /// Whether ptxas moved values to local memory for want of registers.
    pub fn spills(&self) -> bool {
        self.spill_store_bytes + self.spill_load_bytes > 0
    }

    /// How many blocks of a launch fit an SM with these limits.
    pub fn occupancy(&self, limits: &Limits, shape: LaunchShape) -> Result<Occupancy, InvalidInput> {
        self.occupancy_with(self.registers.value(), limits, shape)
    }

    /// The same with another number of registers a thread.
    pub fn occupancy_with(
        &self,
        registers: u32,
        limits: &Limits,
        shape: LaunchShape,
    ) -> Result<Occupancy, InvalidInput> {
        calculate(limits, &Request { registers: registers.into(), ..self.request(shape) })
    }

    /// What a launch asks of an SM, for the calculator.
    pub fn request(&self, shape: LaunchShape) -> Request {
        Request {
            static_shared_bytes: self.static_shared_bytes.into(),
            dynamic_shared_bytes: shape.dynamic_shared_bytes.into(),
            barriers: self.barriers.into(),
            ..Request::new(i64::try_from(shape.block_threads()).unwrap_or(i64::MAX), self.registers.value().into())
        }
    }
}

/// One kernel on one architecture, and the occupancy of a block size.
#[derive(Clone, Debug)]
pub struct ResourceRow {
    pub kernel: String,
    pub arch: String,
    /// The cap that it was compiled under: its own, `.maxnreg`, or one that was asked for.
    pub max_registers: Option<u32>,
    pub resources: Resources,
    /// Threads a block that the occupancy is for.
    pub block: u32,
    pub occupancy: Occupancy,
    /// What one register more costs and one less saves.
    pub steps: Steps,
    /// Where ptxas did not do as it was asked.
    pub remarks: Vec<String>,
    /// False of a cubin that somebody else compiled: it does not say how much is spilled.
    pub knows_spills: bool,
}

impl ResourceRow {
    /// Bytes spilled out and in, where they are known.
    pub fn spills(&self) -> Option<(u32, u32)> {
        let Resources { spill_store_bytes, spill_load_bytes, .. } = self.resources;
        self.knows_spills.then_some((spill_store_bytes, spill_load_bytes))
    }
}
