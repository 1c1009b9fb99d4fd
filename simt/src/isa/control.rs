//! The control information that ptxas puts into each SASS instruction: how it waits for others and makes others wait.

/// Dependence counters a warp has, SB0 to SB5.
pub const DEPENDENCE_COUNTERS: usize = 6;

/// How one SASS instruction (Volta and later) is scheduled. Huerta et al., "Analyzing Modern NVIDIA GPU cores" (MICRO 2025,
/// arXiv 2503.20481), say what the hardware does with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Cycles before the same warp may issue its next instruction, 0 to 15.
    pub stall_cycles: u8,
    /// The scheduler should turn to another warp.
    pub yields: bool,
    /// The dependence counter (0 to 5) that falls when the result is written.
    pub write_barrier: Option<u8>,
    /// The dependence counter (0 to 5) that falls when the sources have been read.
    pub read_barrier: Option<u8>,
    /// The dependence counters that must be zero before issue, one bit each.
    pub wait_mask: u8,
    /// Operand slots that are kept in the register file's reuse cache, one bit each.
    pub reuse_mask: u8,
}
