//! Devices and compute capabilities by the names people type.

use super::{ComputeCapability, Device, Limits, compute_capabilities, devices};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no device is called `{given}`; {}", advice(.candidates))]
pub struct UnknownDevice {
    pub given: String,
    /// Devices whose name starts with what was given; empty if none does.
    pub candidates: Vec<&'static str>,
}

fn advice(candidates: &[&'static str]) -> String {
    match candidates {
        [] => format!("there are {}", devices().iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(", ")),
        some => format!("it could be {}; give the full name", some.join(" or ")),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known of compute capability {given}; there are {}",
    compute_capabilities().iter().map(|limits| limits.compute_capability.to_string()).collect::<Vec<_>>().join(", "))]
pub struct UnknownComputeCapability {
    pub given: ComputeCapability,
}

/// The device of that name or alias. Case, spaces and punctuation do not matter, nor a leading `NVIDIA` or `GeForce`; the
/// beginning of a name is enough where only one device has it.
///
/// # Errors
/// Lists the devices there are, or those the name could mean.
pub fn find(name: &str) -> Result<&'static Device, UnknownDevice> {
    let wanted = key(name);
    let names = |device: &'static Device| std::iter::once(&device.name).chain(&device.aliases);
    if let Some(device) = devices().iter().find(|&device| names(device).any(|n| key(n) == wanted)) {
        return Ok(device);
    }
    let candidates: Vec<&Device> = match wanted.is_empty() {
        true => Vec::new(),
        false => devices().iter().filter(|d| key(&d.name).starts_with(&wanted)).collect(),
    };
    match candidates[..] {
        [device] => Ok(device),
        _ => {
            let candidates = candidates.iter().map(|d| d.name.as_str()).collect();
            Err(UnknownDevice { given: name.to_owned(), candidates })
        }
    }
}

/// Limits of a compute capability, whether or not a device of it is listed.
///
/// # Errors
/// Lists the compute capabilities there are.
pub fn limits_of(version: ComputeCapability) -> Result<&'static Limits, UnknownComputeCapability> {
    let found = compute_capabilities().iter().find(|limits| limits.compute_capability == version);
    found.ok_or(UnknownComputeCapability { given: version })
}

fn key(name: &str) -> String {
    let key: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let key = key.strip_prefix("nvidia").unwrap_or(&key);
    key.strip_prefix("geforce").unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_spaces_and_maker_do_not_matter() {
        for name in ["RTX 5070", "rtx5070", " rtx-5070 ", "NVIDIA GeForce RTX 5070"] {
            assert_eq!(find(name).unwrap().name, "RTX 5070", "{name}");
        }
        assert_eq!(find("nvidia h200").unwrap().arch(), "sm_90");
    }

    #[test]
    fn an_alias_or_the_only_beginning_is_enough() {
        assert_eq!(find("A100").unwrap().name, "A100 80GB SXM");
        assert_eq!(find("gb10").unwrap().name, "GB10 (DGX Spark)");
        assert_eq!(find("rtx 3060").unwrap().name, "RTX 3060 12GB");
        assert_eq!(find("L40").unwrap().name, "L40S");
    }

    #[test]
    fn an_unknown_name_lists_all_and_an_ambiguous_one_those_it_fits() {
        let error = find("GTX 480").unwrap_err().to_string();
        assert!(error.starts_with("no device is called `GTX 480`; there are RTX 5070, V100 SXM2, "), "{error}");
        let error = find("rtx 50").unwrap_err().to_string();
        assert_eq!(error, "no device is called `rtx 50`; it could be RTX 5070 or RTX 5090; give the full name");
        assert!(find("").unwrap_err().candidates.is_empty());
    }

    #[test]
    fn compute_capabilities_are_read_in_every_spelling_and_others_refused() {
        for text in ["12.0", "sm_120", "compute_120", "SM_120a", "sm_120f"] {
            assert_eq!(text.parse(), Ok(ComputeCapability::new(12, 0)), "{text}");
        }
        for text in ["", "12", "sm_", "sm_a", "1.x", "+1.0", "12.0.1", "sm_12.0", "."] {
            assert!(text.parse::<ComputeCapability>().is_err(), "{text}");
        }
        assert!(limits_of(ComputeCapability::new(8, 7)).is_ok());
        let error = limits_of(ComputeCapability::new(6, 1)).unwrap_err().to_string();
        assert!(error.contains("6.1; there are 7.0, 7.5, 8.0"), "{error}");
    }
}
