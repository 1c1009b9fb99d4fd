//! The occupancy calculator, as the driver offers it.

use std::ffi::{c_int, c_uint};

use crate::abi::{BlockToShared, Handle, Out};
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::function::Function;
use crate::guard::api;

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, which concerns devices older than any here.
const FLAGS: u32 = 1;

fn active_blocks(blocks: Out<c_int>, function: Handle, threads: c_int, dynamic_bytes: usize, flags: c_uint) -> Done {
    let driver = Driver::get()?;
    blocks.required()?;
    let function = Function::get(driver, function)?;
    if threads < 1 || flags & !FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let device = driver.settings.device;
    let occupancy = function.occupancy(device, threads.into(), dynamic_bytes as u64);
    // More shared memory than any carve-out holds is no block, not an error.
    blocks.put(occupancy.map_or(0, |occupancy| occupancy.blocks_per_sm as c_int))
}

/// The block with the most resident threads; of equal ones, the largest.
fn best_block(function: &Function, driver: &Driver, dynamic_bytes: impl Fn(u32) -> u64, limit: c_int) -> (u32, i64) {
    let device = driver.settings.device;
    let most = function.max_threads(device);
    let most = if limit > 0 { most.min(limit.unsigned_abs()) } else { most };
    let mut best = (0, 0);
    let sizes = std::iter::successors(Some(most), |threads| threads.checked_sub(1).map(|less| less / 32 * 32));
    for threads in sizes.take_while(|threads| *threads > 0) {
        let occupancy = function.occupancy(device, threads.into(), dynamic_bytes(threads));
        let blocks = occupancy.map_or(0, |occupancy| occupancy.blocks_per_sm);
        if blocks * i64::from(threads) > best.1 * i64::from(best.0) {
            best = (threads, blocks);
        }
    }
    best
}

fn potential_block(
    min_grid: Out<c_int>,
    block: Out<c_int>,
    function: Handle,
    block_to_shared: BlockToShared,
    dynamic_bytes: usize,
    limit: c_int,
    flags: c_uint,
) -> Done {
    let driver = Driver::get()?;
    min_grid.required()?;
    block.required()?;
    let function = Function::get(driver, function)?;
    if limit < 0 || flags & !FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let bytes_of = |threads: u32| match block_to_shared {
        // SAFETY: the caller of the driver vouches for its function.
        Some(bytes_of) => unsafe { bytes_of(threads as c_int) as u64 },
        None => dynamic_bytes as u64,
    };
    let (threads, blocks) = best_block(&function, driver, bytes_of, limit);
    min_grid.put(blocks as c_int * driver.settings.device.sm_count as c_int)?;
    block.put(threads as c_int)
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>,
        function: Handle,
        threads: c_int,
        dynamic_bytes: usize,
    ) {
        active_blocks(blocks, function, threads, dynamic_bytes, 0)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>,
        function: Handle,
        threads: c_int,
        dynamic_bytes: usize,
        flags: c_uint,
    ) {
        active_blocks(blocks, function, threads, dynamic_bytes, flags)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        min_grid: Out<c_int>,
        block: Out<c_int>,
        function: Handle,
        block_to_shared: BlockToShared,
        dynamic_bytes: usize,
        limit: c_int,
    ) {
        potential_block(min_grid, block, function, block_to_shared, dynamic_bytes, limit, 0)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid: Out<c_int>,
        block: Out<c_int>,
        function: Handle,
        block_to_shared: BlockToShared,
        dynamic_bytes: usize,
        limit: c_int,
        flags: c_uint,
    ) {
        potential_block(min_grid, block, function, block_to_shared, dynamic_bytes, limit, flags)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: Handle, blocks: c_int, threads: c_int) {
        let driver = Driver::get()?;
        bytes.required()?;
        let function = Function::get(driver, function)?;
        let most = function.dynamic_bytes_for(driver.settings.device, blocks.into(), threads.into())?;
        bytes.put(most as usize)
    }
}
