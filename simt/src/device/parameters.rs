//! Parameters of the cycle model, as `devices.toml` gives them for one device, each with where it comes from.
//!
//! The file lists a parameter's values from general to particular; the last that names the device, or its compute capability,
//! counts. A parameter that the file has and [`Parameters`] has not, or the other way round, is a mistake in the build.

use serde::Deserialize;
use serde::de::value::MapDeserializer;

use super::ComputeCapability;

/// How a number was got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Published.
    Sourced,
    /// Measured by a micro-benchmark of this project on the device that `from` names.
    Measured,
    /// Chosen so that the model meets a measurement.
    Calibrated,
    /// Published by nobody; a guess with a reason.
    Estimated,
}

/// One parameter's value on a device and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    pub name: String,
    /// What it means.
    pub about: String,
    pub value: f64,
    pub how: How,
    pub from: String,
}

/// The parameters. `devices.toml` says at each what it means; units are in the names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    pub l1_hit_latency_cycles: f64,
    pub l2_near_latency_cycles: f64,
    pub l2_far_latency_cycles: f64,
    pub dram_latency_cycles: f64,
    pub shared_latency_cycles: f64,
    pub shared_pass_latency_cycles: f64,
    pub shared_atomic_latency_cycles: f64,
    pub constant_latency_cycles: f64,
    pub wide_load_latency_cycles: f64,
    pub predicate_guard_latency_cycles: f64,
    pub branch_latency_cycles: f64,
    pub taken_branch_latency_cycles: f64,
    pub address_generation_interval_cycles: f64,
    pub memory_queue_entries: f64,
    pub memory_queue_hold_cycles: f64,
    pub l1_lines_per_cycle: f64,
    pub l1_ways: f64,
    pub barrier_latency_cycles: f64,
    pub barrier_interval_cycles: f64,
    pub warp_sync_latency_cycles: f64,
    pub fence_block_latency_cycles: f64,
    pub fence_gpu_latency_cycles: f64,
    pub fence_system_latency_cycles: f64,
    pub sm_read_bytes_per_cycle: f64,
    pub sm_write_bytes_per_cycle: f64,
    pub sm_store_sectors: f64,
    pub l2_partitions: f64,
    pub l2_slices: f64,
    pub l2_bytes_per_cycle_per_sm: f64,
    pub l2_write_share: f64,
    pub l2_ways: f64,
    pub l2_usable_share: f64,
    pub dram_efficiency: f64,
    pub dram_loaded_share: f64,
    pub dram_spread_share: f64,
    pub dram_access_bytes: f64,
    pub dram_channels: f64,
    pub dram_queue_cycles: f64,
    pub atomic_sector_cycles: f64,
    pub atomic_part_cycles: f64,
    pub atomic_compare_cycles: f64,
    pub atomic_float_cycles: f64,
    pub launch_overhead_ns: f64,
    pub block_launch_interval_cycles: f64,
    pub block_retire_interval_cycles: f64,
    pub block_launch_latency_cycles: f64,
    pub warp_launch_interval_cycles: f64,
    pub register_read_cycles: f64,
    pub instruction_l0_bytes: f64,
    pub instruction_l0_line_cycles: f64,
    pub instruction_l1_bytes: f64,
    pub instruction_l1_line_cycles: f64,
    pub instruction_prefetch_lines: f64,
}

/// A parameter in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    name: String,
    about: String,
    values: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    on: Vec<String>,
    value: f64,
    how: How,
    from: String,
}

/// Whether a list of `all`, compute capabilities and device names takes in this device.
pub(super) fn applies(on: &[String], device: &str, version: ComputeCapability) -> bool {
    on.iter().any(|name| name == "all" || name == device || name.parse() == Ok(version))
}

/// The values for one device, each with its origin, and the parameters made of them.
pub(super) fn resolve(
    entries: &[Entry],
    device: &str,
    version: ComputeCapability,
) -> Result<(Parameters, Vec<Provenance>), serde::de::value::Error> {
    let provenance: Vec<Provenance> = entries
        .iter()
        .filter_map(|entry| {
            let value = entry.values.iter().rfind(|value| applies(&value.on, device, version))?;
            Some((entry, value))
        })
        .map(|(entry, value)| Provenance {
            name: entry.name.clone(),
            about: entry.about.clone(),
            value: value.value,
            how: value.how,
            from: value.from.clone(),
        })
        .collect();
    let fields = provenance.iter().map(|parameter| (parameter.name.as_str(), parameter.value));
    let parameters = Parameters::deserialize(MapDeserializer::new(fields))?;
    Ok((parameters, provenance))
}
