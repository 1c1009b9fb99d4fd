//! `warpwise.occupancy/1`: what `occupancy --json FILE` writes.

use serde::Serialize;
use serde_json::{Map, Value};
use warpwise_simt::device::Device;
use warpwise_simt::occupancy::{Limiter, Occupancy, Request};

use super::Real;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    device: &'a str,
    compute_capability: String,
    block: i64,
    registers: i64,
    static_shared_bytes: i64,
    dynamic_shared_bytes: i64,
    carveout_percent: i32,
    barriers: i64,
    blocks_per_sm: i64,
    warps_per_block: i64,
    warps_per_sm: i64,
    max_warps_per_sm: i64,
    theoretical: Real,
    /// Blocks that each resource alone would allow; `null` where it sets no limit.
    limits: Map<String, Value>,
    limiters: Vec<&'static str>,
    allocated_registers_per_block: i64,
    allocated_shared_bytes_per_block: i64,
    shared_carveout_bytes: i64,
}

/// The document of one answer.
pub fn occupancy(device: &Device, request: &Request, occupancy: &Occupancy) -> impl Serialize {
    Document {
        schema: "warpwise.occupancy/1",
        device: &device.name,
        compute_capability: device.compute_capability.to_string(),
        block: request.block_threads,
        registers: request.registers,
        static_shared_bytes: request.static_shared_bytes,
        dynamic_shared_bytes: request.dynamic_shared_bytes,
        carveout_percent: request.carveout_percent,
        barriers: request.barriers,
        blocks_per_sm: occupancy.blocks_per_sm,
        warps_per_block: occupancy.warps_per_block,
        warps_per_sm: occupancy.warps_per_sm(),
        max_warps_per_sm: occupancy.max_warps_per_sm,
        theoretical: Real(occupancy.theoretical()),
        limits: Limiter::ALL
            .map(|limiter| (limiter.name().to_owned(), occupancy.limits.get(limiter).into()))
            .into_iter()
            .collect(),
        limiters: occupancy.limiters.iter().map(|limiter| limiter.name()).collect(),
        allocated_registers_per_block: occupancy.allocated_registers_per_block,
        allocated_shared_bytes_per_block: occupancy.allocated_shared_bytes_per_block,
        shared_carveout_bytes: occupancy.shared_carveout_bytes,
    }
}
