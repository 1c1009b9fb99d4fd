//! One request, resource by resource.

use super::{BlockLimits, InvalidInput, Limiter, Occupancy, Request};
use crate::device::Limits;
use crate::isa::WARP_SIZE;

/// Threads of a warp, as this file counts.
const WARP: i64 = WARP_SIZE as i64;
/// More registers a thread than this make the calculator answer zero. The ISA itself stops at 255.
const REGISTERS_ACCEPTED: i64 = 256;
/// No launch and no SM has more of anything; keeps the arithmetic below far from overflow.
const ABSURD: i64 = 1 << 40;

/// How many blocks of the request fit on an SM of the given limits.
///
/// # Errors
/// [`InvalidInput`] for a block without threads, negative registers or bytes, or a carve-out outside -1 to 100. A block that is
/// merely too large is no error: zero blocks of it fit.
pub fn calculate(device: &Limits, request: &Request) -> Result<Occupancy, InvalidInput> {
    let request = checked(request)?;
    let warps = request.block_threads.div_ceil_positive(WARP);
    let (registers, allocated_registers) = register_limit(device, request.registers, warps);
    let shared = shared_limit(device, &request)?;
    let limits = BlockLimits {
        warps: Some(warp_limit(device, request.block_threads, warps)),
        registers,
        shared_memory: shared.blocks,
        blocks: Some(device.max_blocks_per_sm.into()),
        barriers: barrier_limit(device, request.barriers),
        virtual_resources: virtual_limit(device, request.virtual_resources),
    };
    let (blocks_per_sm, factors) = decide(&limits);
    Ok(Occupancy {
        blocks_per_sm,
        warps_per_block: warps,
        max_warps_per_sm: device.max_warps_per_sm.into(),
        limits,
        limiters: Limiter::ALL.into_iter().filter(|limiter| factors & limiter.bit() != 0).collect(),
        factors,
        allocated_registers_per_block: allocated_registers,
        allocated_shared_bytes_per_block: shared.allocated_bytes,
        shared_carveout_bytes: shared.carveout_bytes,
    })
}

/// The request with sizes beyond any machine cut to one that is still beyond any machine.
fn checked(request: &Request) -> Result<Request, InvalidInput> {
    if request.block_threads <= 0 {
        return Err(InvalidInput::BlockThreads(request.block_threads));
    }
    if request.registers < 0 {
        return Err(InvalidInput::Registers(request.registers));
    }
    if let Some(bytes) = [request.static_shared_bytes, request.dynamic_shared_bytes].into_iter().find(|b| *b < 0) {
        return Err(InvalidInput::SharedBytes(bytes));
    }
    if !(-1..=100).contains(&request.carveout_percent) {
        return Err(InvalidInput::Carveout(request.carveout_percent));
    }
    Ok(Request {
        block_threads: request.block_threads.min(ABSURD / 1024),
        registers: request.registers.min(ABSURD / 1024),
        static_shared_bytes: request.static_shared_bytes.min(ABSURD),
        dynamic_shared_bytes: request.dynamic_shared_bytes.min(ABSURD),
        ..*request
    })
}

fn warp_limit(device: &Limits, block_threads: i64, warps: i64) -> i64 {
    match block_threads > i64::from(device.max_threads_per_block) {
        true => 0,
        false => i64::from(device.max_threads_per_sm) / WARP / warps,
    }
}

/// Blocks that the register file holds, and registers allocated to one.
///
/// The warp granularity enters only in the check that one block fits, and through the whole warps of a sub-partition: the
/// block's warps are not rounded up when the file is divided among blocks.
fn register_limit(device: &Limits, registers: i64, warps: i64) -> (Option<i64>, i64) {
    if registers == 0 {
        return (None, 0);
    }
    let per_warp = (registers * WARP).up_to(device.register_unit_per_warp);
    let allocated = per_warp * warps;
    let per_block = i64::from(device.registers_per_block);
    let launch = per_warp * warps.up_to(device.warp_granularity);
    if registers > REGISTERS_ACCEPTED || launch > per_block || allocated > per_block {
        return (Some(0), allocated);
    }
    let sub_partitions = i64::from(device.sub_partitions);
    let warps_per_sub_partition = i64::from(device.registers_per_sm) / sub_partitions / per_warp;
    (Some(sub_partitions * warps_per_sub_partition / warps), allocated)
}

struct Shared {
    blocks: Option<i64>,
    allocated_bytes: i64,
    carveout_bytes: i64,
}

fn shared_limit(device: &Limits, request: &Request) -> Result<Shared, InvalidInput> {
    let reserved = i64::from(device.shared_reserved_per_block_bytes);
    let asked = request.static_shared_bytes + reserved + request.dynamic_shared_bytes;
    let allocated_bytes = asked.up_to(device.shared_granularity_bytes);
    let ceiling = match asked > i64::from(device.shared_per_block_bytes) {
        true => device.shared_per_block_optin_bytes,
        false => device.shared_per_block_bytes,
    };
    let preferred = match request.carveout_percent {
        -1 => device.shared_per_sm_bytes.into(),
        percent => i64::from(percent) * i64::from(device.shared_per_sm_bytes) / 100,
    };
    let preferred = carveout_for(device, preferred)?;
    if allocated_bytes > i64::from(ceiling) + reserved {
        return Ok(Shared { blocks: Some(0), allocated_bytes, carveout_bytes: preferred });
    }
    let carveout_bytes = match preferred >= allocated_bytes {
        true => preferred,
        false => carveout_for(device, allocated_bytes)?,
    };
    let blocks = (allocated_bytes > 0).then(|| carveout_bytes / allocated_bytes);
    Ok(Shared { blocks, allocated_bytes, carveout_bytes })
}

/// The smallest carve-out that holds so many bytes.
pub(super) fn carveout_for(device: &Limits, bytes: i64) -> Result<i64, InvalidInput> {
    let mut carveouts = device.shared_carveouts_bytes.iter().map(|&size| i64::from(size));
    let largest = carveouts.clone().next_back().unwrap_or(0);
    carveouts.find(|&size| size >= bytes).ok_or(InvalidInput::NoCarveoutHolds(bytes, largest))
}

fn virtual_limit(device: &Limits, count: i64) -> Option<i64> {
    let slots = device.virtual_resources.filter(|_| count > 0)?;
    Some(i64::from(slots) / count)
}

/// Barriers are counted from compute capability 9.0 on.
fn barrier_limit(device: &Limits, count: i64) -> Option<i64> {
    (device.compute_capability.major >= 9 && count > 0).then(|| i64::from(device.barrier_slots) / count)
}

/// The least limit and the bits of those that equal it. Barriers are compared last, as in NVIDIA's calculator.
fn decide(limits: &BlockLimits) -> (i64, u32) {
    let others = Limiter::ALL.into_iter().filter(|limiter| *limiter != Limiter::Barriers);
    let before_barriers = others.clone().filter_map(|limiter| limits.get(limiter)).min().unwrap_or(0);
    let at_least = others.filter(|limiter| limits.get(*limiter) == Some(before_barriers));
    let mut factors = at_least.fold(0, |bits, limiter| bits | limiter.bit());
    let blocks = limits.barriers.map_or(before_barriers, |barriers| barriers.min(before_barriers));
    if limits.barriers == Some(blocks) {
        factors |= Limiter::Barriers.bit();
    }
    (blocks, factors)
}

/// Rounding of non-negative numbers.
trait Rounding {
    fn up_to(self, unit: u32) -> i64;
    fn div_ceil_positive(self, divisor: i64) -> i64;
}

impl Rounding for i64 {
    fn up_to(self, unit: u32) -> i64 {
        self.div_ceil_positive(unit.into()) * i64::from(unit)
    }

    fn div_ceil_positive(self, divisor: i64) -> i64 {
        (self + divisor - 1) / divisor
    }
}
