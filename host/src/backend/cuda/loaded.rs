//! What the driver says of a kernel that it loaded: registers, memory, and how many blocks its own calculator lets an SM hold.

use cust::sys;
use sys::CUfunction_attribute_enum as Attribute;

use super::error::result;
use super::{Cuda, GpuError, State};
use crate::backend::{LaunchRequest, Loaded};

impl Cuda {
    /// All of it, for the kernel and block of a launch. The context is current.
    pub(super) fn loaded_of(&self, state: &mut State, request: &LaunchRequest) -> Result<Loaded, GpuError> {
        let function = self.function(state, &request.kernel)?;
        Ok(Loaded {
            registers: self.registers_of(state, function)?,
            local_bytes: self.attribute(state, function, Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: self.attribute(state, function, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            blocks_per_sm: self.blocks_per_sm(state, function, request)?,
            from_cubin: self.from_cubin,
        })
    }

    /// Registers a thread.
    pub(super) fn registers_of(&self, state: &mut State, function: sys::CUfunction) -> Result<u32, GpuError> {
        self.attribute(state, function, Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)
    }

    /// A number that the driver keeps of a loaded kernel.
    fn attribute(
        &self,
        state: &mut State,
        function: sys::CUfunction,
        attribute: sys::CUfunction_attribute,
    ) -> Result<u32, GpuError> {
        let mut value = 0;
        // SAFETY: `function` is of this context's module, and `value` is a place for one int.
        let code = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, function) };
        self.settle(state, "reading a property of a kernel", result(code))?;
        u32::try_from(value).map_err(|_| GpuError::Load(format!("the driver reports {value} for {attribute:?}")))
    }

    /// Blocks of a launch that an SM holds, by the driver's calculator.
    fn blocks_per_sm(
        &self,
        state: &mut State,
        function: sys::CUfunction,
        request: &LaunchRequest,
    ) -> Result<u32, GpuError> {
        let threads: u64 = request.block.iter().map(|&size| u64::from(size)).product();
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        let mut blocks = 0;
        // SAFETY: as above.
        let code = unsafe {
            let shared = request.dynamic_shared_bytes as usize;
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, threads, shared)
        };
        self.settle(state, "asking for the occupancy of a kernel", result(code))?;
        u32::try_from(blocks).map_err(|_| GpuError::Load(format!("the driver reports {blocks} resident blocks")))
    }
}
