//! `devices.toml`, read once.

use std::sync::LazyLock;

use super::{ComputeCapability, Device, Limits};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub compute_capability: Vec<Limits>,
    pub device: Vec<Device>,
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
}

fn read(text: &str) -> Result<Table, TableError> {
    let mut table: Table = toml::from_str(text)?;
    for device in &mut table.device {
        let version = device.compute_capability;
        let limits = table.compute_capability.iter().find(|limits| limits.compute_capability == version);
        device.limits = limits.ok_or_else(|| TableError::NoLimits { device: device.name.clone(), version })?.clone();
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
}
