//! What is the same for a whole launch.

use std::sync::Arc;

use super::kernel::{Kernel, LaunchWord};
use super::warp::Divergence;
use crate::isa::{BANKS_AT, Lanes, Mask, WARP_SIZE};
use crate::memory::Memory;

/// Figures of the device that a kernel can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    pub sm_count: u32,
    pub warps_per_sm: u32,
    /// Number of the launch, for `%gridid`.
    pub grid_id: u32,
}

/// A launch as the executor sees it. Its sizes were checked by [`crate::machine`].
#[derive(Debug)]
pub struct Grid {
    pub(crate) kernel: Arc<Kernel>,
    pub dim: [u32; 3],
    pub block_dim: [u32; 3],
    /// The parameter buffer and, from [`BANKS_AT`] on, the program's banks.
    pub params: Vec<u8>,
    pub shared_bytes: u32,
    pub divergence: Divergence,
    pub(crate) constants: Vec<Lanes>,
    /// `%tid` of each warp of a block, by axis.
    pub(crate) threads: Vec<[Lanes; 3]>,
}

impl Grid {
    /// # Panics
    /// Never on its own account; a block of more threads than fit `u32` is cut short, but no device allows one.
    pub fn new(
        kernel: Arc<Kernel>,
        (dim, block_dim): ([u32; 3], [u32; 3]),
        dynamic_shared_bytes: u32,
        params: Vec<u8>,
        divergence: Divergence,
        device: DeviceFacts,
        memory: &Memory,
    ) -> Self {
        let shared_bytes = shared_bytes(&kernel, dynamic_shared_bytes);
        let value = |word: &LaunchWord| match *word {
            LaunchWord::Known(value) => value,
            LaunchWord::Param { offset, bytes, signed } => param(&params, offset, bytes, signed),
            LaunchWord::BlockDim(axis) => block_dim[usize::from(axis)],
            LaunchWord::GridDim(axis) => dim[usize::from(axis)],
            LaunchWord::SmCount => device.sm_count,
            LaunchWord::WarpsPerSm => device.warps_per_sm,
            LaunchWord::SharedDynamicBytes => dynamic_shared_bytes,
            LaunchWord::SharedTotalBytes => shared_bytes,
            LaunchWord::GridId => device.grid_id,
            LaunchWord::Stored { address, bytes } => stored(memory, address, bytes),
        };
        let constants = kernel.constants.iter().map(|word| Lanes::splat(value(word))).collect();
        let banks: Vec<u8> = kernel.banks.iter().flat_map(|word| value(word).to_le_bytes()).collect();
        let threads =
            (0..threads_of(block_dim).div_ceil(WARP_SIZE as u32)).map(|warp| indices(block_dim, warp)).collect();
        let mut params = params;
        if !banks.is_empty() {
            params.resize(BANKS_AT as usize, 0);
            params.extend(banks);
        }
        Self { kernel, dim, block_dim, params, shared_bytes, divergence, constants, threads }
    }

    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub fn block_count(&self) -> u64 {
        self.dim.iter().map(|size| u64::from(*size)).product()
    }

    pub fn threads_per_block(&self) -> u32 {
        threads_of(self.block_dim)
    }

    pub fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(WARP_SIZE as u32)
    }

    /// Block index of a linear number, x fastest.
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.dim[0].max(1)), u64::from(self.dim[1].max(1)));
        [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
    }

    /// Thread index of a lane.
    pub fn thread_index(&self, warp: u32, lane: u32) -> [u32; 3] {
        let lane = lane as usize % WARP_SIZE;
        self.threads.get(warp as usize).map_or([0; 3], |axes| axes.map(|axis| axis.0[lane]))
    }

    /// Lanes of a warp that are threads of the block.
    pub(crate) fn launched_lanes(&self, warp: u32) -> Mask {
        match self.threads_per_block() - warp * WARP_SIZE as u32 {
            threads if threads >= WARP_SIZE as u32 => Mask::MAX,
            threads => (1 << threads) - 1,
        }
    }
}

/// Shared memory of a block: static, and dynamic from its aligned offset on.
pub(crate) fn shared_bytes(kernel: &Kernel, dynamic_bytes: u32) -> u32 {
    let program = kernel.program();
    match dynamic_bytes {
        0 => program.shared_static_bytes,
        bytes => program.shared_static_bytes.max(program.shared_dynamic_offset).saturating_add(bytes),
    }
}

fn threads_of(block_dim: [u32; 3]) -> u32 {
    block_dim.into_iter().fold(1, u32::saturating_mul)
}

/// Thread indices of the 32 lanes of a warp; x varies fastest.
fn indices([x, y, _]: [u32; 3], warp: u32) -> [Lanes; 3] {
    let (x, y) = (x.max(1), y.max(1));
    let linear = |lane: usize| warp * WARP_SIZE as u32 + lane as u32;
    [
        Lanes(std::array::from_fn(|lane| linear(lane) % x)),
        Lanes(std::array::from_fn(|lane| linear(lane) / x % y)),
        Lanes(std::array::from_fn(|lane| linear(lane) / x / y)),
    ]
}

/// What a variable holds now; bytes that do not exist are zero.
fn stored(memory: &Memory, address: u64, bytes: u8) -> u32 {
    let mut word = [0; 4];
    match memory.read(address, &mut word[..usize::from(bytes)]) {
        Ok(()) => u32::from_le_bytes(word),
        Err(_) => 0,
    }
}

/// A word of the parameter buffer; bytes past its end are zero.
fn param(params: &[u8], offset: u32, bytes: u8, signed: bool) -> u32 {
    let mut word = [0; 4];
    for (index, byte) in word.iter_mut().enumerate().take(bytes.into()) {
        *byte = params.get(offset as usize + index).copied().unwrap_or(0);
    }
    let value = u32::from_le_bytes(word);
    match (bytes, signed) {
        (1, true) => value as u8 as i8 as u32,
        (2, true) => value as u16 as i16 as u32,
        _ => value,
    }
}
