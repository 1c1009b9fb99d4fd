//! `devices.toml`, read once.

use std::sync::LazyLock;

use super::{ComputeCapability, Device, Limits, costs, opcodes, parameters};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub compute_capability: Vec<Limits>,
    pub device: Vec<Device>,
    parameter: Vec<parameters::Entry>,
    operation: Vec<costs::Entry>,
    opcode: Vec<opcodes::Entry>,
}

/// The file is part of the program, so a mistake in it is a defect of the build and not an input: the tests of this module read
/// all of it.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| match read(include_str!("../../devices.toml")) {
    Ok(table) => table,
    Err(error) => panic!("devices.toml, built into this program, is wrong: {error}"),
});

#[derive(Debug, thiserror::Error)]
enum TableError {
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error("device {device} has compute capability {version}, which has no entry of its own")]
    NoLimits { device: String, version: ComputeCapability },
    #[error("device {device}: {source}")]
    Parameters { device: String, source: serde::de::value::Error },
    #[error("device {device}: operation class {class:?} has no cost")]
    NoCost { device: String, class: costs::Class },
    #[error("device {device}: opcodes {names} have no cost")]
    NoOpcodeCost { device: String, names: String },
}

fn read(text: &str) -> Result<Table, TableError> {
    let mut table: Table = toml::from_str(text)?;
    for device in &mut table.device {
        let version = device.compute_capability;
        let limits = table.compute_capability.iter().find(|limits| limits.compute_capability == version);
        let name = || device.name.clone();
        let missing = TableError::NoLimits { device: name(), version };
        let resolved = parameters::resolve(&table.parameter, &device.name, version);
        let (parameters, provenance) = resolved.map_err(|source| TableError::Parameters { device: name(), source })?;
        let costs = costs::resolve(&table.operation, &device.name, version);
        device.costs = costs.map_err(|class| TableError::NoCost { device: name(), class })?;
        let opcodes = opcodes::resolve(&table.opcode, &device.name, version);
        device.opcodes = opcodes.map_err(|names| TableError::NoOpcodeCost { device: name(), names })?;
        device.limits = limits.ok_or(missing)?.clone();
        (device.parameters, device.provenance) = (parameters, provenance);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../devices.toml");

    #[test]
    fn every_entry_is_read_and_the_default_comes_first() {
        let table = read(FILE).unwrap();
        assert_eq!(table.compute_capability.len(), 12);
        assert_eq!(table.device.len(), 19);
        assert_eq!(table.device[0].name, crate::device::DEFAULT_DEVICE);
    }

    #[test]
    fn limits_are_consistent_with_each_other() {
        for limits in &read(FILE).unwrap().compute_capability {
            let version = limits.compute_capability;
            assert_eq!(limits.max_threads_per_sm, limits.max_warps_per_sm * 32, "{version}");
            let largest = *limits.shared_carveouts_bytes.last().unwrap();
            assert!(limits.shared_carveouts_bytes.is_sorted(), "{version}");
            assert_eq!(largest, limits.shared_per_sm_bytes, "{version}");
            assert!(largest <= limits.l1_and_shared_bytes, "{version}");
            let most = limits.shared_per_block_optin_bytes + limits.shared_reserved_per_block_bytes;
            assert_eq!(most, largest, "{version}: one block can have the whole");
        }
    }

    #[test]
    fn names_marked_unverified_are_names_of_fields() {
        let value: toml::Value = toml::from_str(FILE).unwrap();
        for kind in ["compute_capability", "device"] {
            for entry in value[kind].as_array().unwrap() {
                for name in entry["unverified"].as_array().unwrap() {
                    assert!(entry.get(name.as_str().unwrap()).is_some(), "{name:?} in {entry:?}");
                }
            }
        }
    }

    #[test]
    fn a_device_without_limits_is_a_mistake() {
        let text = FILE.replace("version = \"7.5\"", "version = \"7.6\"");
        let error = read(&text).err().unwrap().to_string();
        assert_eq!(error, "device T4 has compute capability 7.5, which has no entry of its own");
    }

    #[test]
    fn a_parameter_without_a_value_or_a_meaning_is_a_mistake() {
        let without = FILE.replace("name = \"l1_ways\"", "name = \"l1_waves\"");
        let error = read(&without).err().unwrap().to_string();
        assert!(error.starts_with("device RTX 5070: unknown field `l1_waves`"), "{error}");
        let error = read(&FILE.replace("class = \"fp64\"", "class = \"half\"")).err().unwrap().to_string();
        assert_eq!(error, "device RTX 5070: operation class Fp64 has no cost");
    }

    #[test]
    fn the_most_particular_value_counts_and_keeps_its_origin() {
        let table = read(FILE).unwrap();
        let device = |name: &str| table.device.iter().find(|device| device.name == name).unwrap();
        let channels = |name: &str| {
            device(name).provenance.iter().find(|parameter| parameter.name == "dram_channels").unwrap().clone()
        };
        assert_eq!((channels("RTX 4090").value, channels("RTX 5070").value), (24.0, 12.0));
        assert_eq!(device("RTX 5070").parameters.dram_channels, 12.0);
        assert_eq!(device("H200").parameters.l2_near_latency_cycles, 280.0);
        assert!(channels("RTX 5070").from.contains("192-bit"));
    }

    #[test]
    fn latencies_grow_outwards_on_every_device() {
        for Device { name, parameters: p, .. } in &read(FILE).unwrap().device {
            assert!(p.l1_hit_latency_cycles < p.l2_near_latency_cycles, "{name}");
            assert!(p.l2_near_latency_cycles < p.dram_latency_cycles, "{name}");
            if p.l2_partitions > 1.0 {
                assert!(p.l2_near_latency_cycles < p.l2_far_latency_cycles, "{name}");
                assert!(p.l2_far_latency_cycles < p.dram_latency_cycles, "{name}");
            }
        }
    }
}
