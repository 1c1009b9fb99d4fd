//! How occupancy changes with registers and block size: the points of a plot, and the next step up or down.

use super::{InvalidInput, Occupancy, Request, calculate};
use crate::device::Limits;
use crate::isa::WARP_SIZE;

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Registers a thread, or threads a block.
    pub x: i64,
    pub occupancy: Occupancy,
}

/// Occupancy for 1 register a thread up to the most a thread may have, the rest of the request kept.
///
/// # Errors
/// As [`calculate`].
pub fn by_registers(device: &Limits, request: &Request) -> Result<Vec<Point>, InvalidInput> {
    points(device, 1..=i64::from(device.max_registers_per_thread), |registers| Request { registers, ..*request })
}

/// Occupancy for blocks of one warp up to the largest block, a warp at a time, the rest of the request kept.
///
/// # Errors
/// As [`calculate`].
pub fn by_block_threads(device: &Limits, request: &Request) -> Result<Vec<Point>, InvalidInput> {
    let largest = i64::from(device.max_threads_per_block);
    let sizes = (WARP_SIZE as i64..=largest).step_by(WARP_SIZE);
    points(device, sizes, |block_threads| Request { block_threads, ..*request })
}

fn points(
    device: &Limits,
    xs: impl Iterator<Item = i64>,
    request_at: impl Fn(i64) -> Request,
) -> Result<Vec<Point>, InvalidInput> {
    xs.map(|x| Ok(Point { x, occupancy: calculate(device, &request_at(x))? })).collect()
}

/// A step of the curve over registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cliff {
    /// Registers a thread at which the number of blocks changes.
    pub registers: i64,
    pub blocks_per_sm: i64,
    pub warps_per_sm: i64,
}

/// The least number of registers above the request's at which fewer blocks fit; `None` if no number a thread may have does that.
///
/// # Errors
/// As [`calculate`].
pub fn next_cliff(device: &Limits, request: &Request) -> Result<Option<Cliff>, InvalidInput> {
    let here = calculate(device, request)?.blocks_per_sm;
    let above = request.registers + 1..=i64::from(device.max_registers_per_thread);
    first_change(device, request, above, |blocks| blocks < here)
}

/// The greatest number of registers below the request's at which more blocks fit: what a cap would have to reach.
///
/// # Errors
/// As [`calculate`].
pub fn next_gain(device: &Limits, request: &Request) -> Result<Option<Cliff>, InvalidInput> {
    let here = calculate(device, request)?.blocks_per_sm;
    let most = request.registers.min(i64::from(device.max_registers_per_thread) + 1);
    first_change(device, request, (1..most).rev(), |blocks| blocks > here)
}

fn first_change(
    device: &Limits,
    request: &Request,
    candidates: impl Iterator<Item = i64>,
    differs: impl Fn(i64) -> bool,
) -> Result<Option<Cliff>, InvalidInput> {
    for registers in candidates {
        let occupancy = calculate(device, &Request { registers, ..*request })?;
        if differs(occupancy.blocks_per_sm) {
            let (blocks_per_sm, warps_per_sm) = (occupancy.blocks_per_sm, occupancy.warps_per_sm());
            return Ok(Some(Cliff { registers, blocks_per_sm, warps_per_sm }));
        }
    }
    Ok(None)
}
