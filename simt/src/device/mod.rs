//! The GPUs that the machine can stand for: limits of each compute capability and figures of each device, as data.
//!
//! Everything comes from `devices.toml`, which also says where each number is from; a new device is a new entry there. What the
//! numbers mean for a launch is for others to decide: [`crate::occupancy`] for residency, the cycle model for time.

mod costs;
mod find;
mod limits;
mod opcodes;
mod parameters;
mod table;

pub use costs::{Class, Cost, Costs, Pipe};
pub use find::{UnknownComputeCapability, UnknownDevice, find, limits_of};
pub use limits::{ComputeCapability, Limits, ParseComputeCapabilityError};
pub use opcodes::{OpcodeCost, Opcodes, opcode};
pub use parameters::{How, Parameters, Provenance};

/// The device that is meant when none is named.
pub const DEFAULT_DEVICE: &str = "RTX 5070";

/// One GPU product.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub name: String,
    /// Other names it answers to, such as `A100` for the 80 GB SXM board.
    pub aliases: Vec<String>,
    pub compute_capability: ComputeCapability,
    pub sm_count: u32,
    pub boost_clock_mhz: u32,
    /// Peak bandwidth of the device's memory, 10⁹ bytes a second.
    pub memory_bandwidth_gbs: f64,
    pub l2_bytes: u64,
    /// Size of the device's memory, bytes.
    #[serde(rename = "memory_bytes")]
    pub dram_bytes: u64,
    /// Whether modelled times were held against this device. Where false, every modelled time says so.
    pub validated: bool,
    /// Fields above that no primary source confirms.
    pub unverified: Vec<String>,
    pub notes: String,
    /// What every device of this compute capability allows.
    #[serde(skip)]
    pub limits: Limits,
    /// Parameters of the cycle model.
    #[serde(skip)]
    pub parameters: Parameters,
    /// Where each of them comes from, in the file's order.
    #[serde(skip)]
    pub provenance: Vec<Provenance>,
    /// What PTX operations cost in the cycle model.
    #[serde(skip)]
    pub costs: Costs,
    /// What SASS instructions cost there.
    #[serde(skip)]
    pub opcodes: Opcodes,
}

impl Device {
    /// The real architecture that ptxas builds for, such as `sm_120`.
    pub fn arch(&self) -> String {
        self.compute_capability.arch()
    }

    /// The device named [`DEFAULT_DEVICE`].
    pub fn default_device() -> &'static Device {
        &devices()[0]
    }
}

/// All devices, the default one first.
pub fn devices() -> &'static [Device] {
    &table::TABLE.device
}

/// The limits of all compute capabilities, oldest first.
pub fn compute_capabilities() -> &'static [Limits] {
    &table::TABLE.compute_capability
}
