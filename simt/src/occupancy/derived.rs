//! Questions that turn the calculator round: how much shared memory is left, which block size is best.

use super::calculate::carveout_for;
use super::{InvalidInput, Occupancy, Request, calculate};
use crate::device::Limits;
use crate::isa::WARP_SIZE;

/// Most dynamic shared memory a block can have, bytes, when `blocks` of it are to live on an SM. `None` where they do not even
/// without any.
///
/// The request's own dynamic bytes do not count. Where the static bytes alone fill a block's share the answer is 0.
///
/// # Errors
/// As [`calculate`].
pub fn available_dynamic_shared_bytes(
    device: &Limits,
    request: &Request,
    blocks: i64,
) -> Result<Option<i64>, InvalidInput> {
    let without = calculate(device, &Request { dynamic_shared_bytes: 0, ..*request })?;
    if blocks < 1 || without.blocks_per_sm < blocks {
        return Ok(None);
    }
    let reserved = i64::from(device.shared_reserved_per_block_bytes);
    let ceiling = i64::from(device.shared_per_block_optin_bytes) + reserved;
    let pool = if blocks == 1 { ceiling } else { preferred_pool(device, request)? };
    let granularity = i64::from(device.shared_granularity_bytes);
    let share = (pool / blocks / granularity * granularity).min(ceiling);
    let most = i64::from(device.shared_per_block_optin_bytes);
    Ok(Some((share - request.static_shared_bytes - reserved).clamp(0, most)))
}

/// Shared memory of the SM under the request's carve-out; with one of 0 the smallest there is.
fn preferred_pool(device: &Limits, request: &Request) -> Result<i64, InvalidInput> {
    let wanted = match request.carveout_percent {
        -1 => i64::from(device.shared_per_sm_bytes),
        0 => 1,
        percent => i64::from(percent) * i64::from(device.shared_per_sm_bytes) / 100,
    };
    carveout_for(device, wanted.max(1))
}

/// A block size and what it reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestBlock {
    pub block_threads: i64,
    /// Fewest blocks that fill a device of so many SMs.
    pub grid_blocks: i64,
    pub occupancy: Occupancy,
}

/// The block size with the most resident threads; the largest among equals. `most_threads` is the kernel's own limit,
/// `dynamic_shared_bytes` what a block of a given size needs. `None` where no size fits.
///
/// # Errors
/// As [`calculate`].
pub fn best_block(
    device: &Limits,
    request: &Request,
    most_threads: i64,
    sm_count: i64,
    dynamic_shared_bytes: impl Fn(i64) -> i64,
) -> Result<Option<BestBlock>, InvalidInput> {
    let most = most_threads.min(device.max_threads_per_block.into());
    let warp = WARP_SIZE as i64;
    let mut best: Option<BestBlock> = None;
    let mut resident = 0;
    let mut size = (most + warp - 1) / warp * warp;
    while size > 0 && resident < i64::from(device.max_threads_per_sm) {
        let block_threads = size.min(most);
        let dynamic = dynamic_shared_bytes(block_threads);
        let occupancy = calculate(device, &Request { block_threads, dynamic_shared_bytes: dynamic, ..*request })?;
        let threads = occupancy.blocks_per_sm * block_threads;
        if threads > resident {
            resident = threads;
            best = Some(BestBlock { block_threads, grid_blocks: occupancy.blocks_per_sm * sm_count, occupancy });
        }
        size -= warp;
    }
    Ok(best)
}
