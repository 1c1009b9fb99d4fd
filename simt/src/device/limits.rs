//! What a compute capability fixes: the launch limits, the resources of an SM, and its lanes.

use std::fmt;
use std::str::FromStr;

/// A compute capability such as 12.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct ComputeCapability {
    pub major: u32,
    pub minor: u32,
}

impl ComputeCapability {
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// `sm_120` for 12.0.
    pub fn arch(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a compute capability; write it like 12.0, sm_120 or compute_120")]
pub struct ParseComputeCapabilityError(String);

/// Reads `12.0`, `sm_120`, `compute_120`, and the variants `sm_120a` and `sm_120f`.
impl FromStr for ComputeCapability {
    type Err = ParseComputeCapabilityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseComputeCapabilityError(text.to_owned());
        let lower = text.trim().to_ascii_lowercase();
        let (major, minor) = match lower.strip_prefix("sm_").or_else(|| lower.strip_prefix("compute_")) {
            Some(digits) => {
                let digits = digits.trim_end_matches(['a', 'f']);
                let last = digits.char_indices().next_back().ok_or_else(error)?.0;
                digits.split_at(last)
            }
            None => lower.split_once('.').ok_or_else(error)?,
        };
        let number = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
            true => digits.parse().map_err(|_| error()),
            false => Err(error()),
        };
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

impl TryFrom<String> for ComputeCapability {
    type Error = ParseComputeCapabilityError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// What every device of one compute capability allows. Sources are named in `devices.toml`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    #[serde(rename = "version")]
    pub compute_capability: ComputeCapability,
    /// Products, for a reader.
    pub parts: String,
    pub max_warps_per_sm: u32,
    pub max_threads_per_sm: u32,
    pub max_blocks_per_sm: u32,
    pub registers_per_sm: u32,
    pub registers_per_block: u32,
    pub max_registers_per_thread: u32,
    /// A warp's registers are allocated in multiples of this.
    pub register_unit_per_warp: u32,
    /// Warps are counted in multiples of this when it is checked whether a block can launch at all.
    pub warp_granularity: u32,
    pub sub_partitions: u32,
    pub shared_per_sm_bytes: u32,
    /// Most shared memory a block may have without opting in.
    pub shared_per_block_bytes: u32,
    /// Most shared memory a block may have after opting in.
    pub shared_per_block_optin_bytes: u32,
    /// Shared memory that the system takes from each block's share.
    pub shared_reserved_per_block_bytes: u32,
    pub shared_granularity_bytes: u32,
    /// The memory that L1 and shared memory divide between them.
    pub l1_and_shared_bytes: u32,
    /// Sizes that shared memory can be set to, ascending.
    pub shared_carveouts_bytes: Vec<u32>,
    pub max_threads_per_block: u32,
    pub max_block_dim: [u32; 3],
    pub max_grid_dim: [u32; 3],
    /// Named barriers a SM. They limit occupancy from 9.0 on.
    pub barrier_slots: u32,
    /// Virtual resources a SM, from 10.0 on.
    pub virtual_resources: Option<u32>,
    pub schedulers: u32,
    /// Lanes a SM, that is thread instructions a cycle.
    pub fp32_lanes: u32,
    pub int32_lanes: u32,
    /// 32-bit integer multiply-adds a cycle.
    pub imad_lanes: u32,
    pub fp64_lanes: u32,
    /// Special functions and conversions.
    pub sfu_lanes: u32,
    /// Load-store lanes.
    pub lsu_lanes: u32,
    pub tensor_cores: u32,
    /// Dense f16 multiply-adds a cycle and tensor core, where known.
    pub tensor_fp16_fma_per_core: Option<u32>,
    /// Fields above that no primary source confirms.
    pub unverified: Vec<String>,
    pub notes: String,
}
