//! The GPUs of this computer, in builds with and without the backend for them.

use warpwise_simt::device::{ComputeCapability, Device, devices};

#[cfg(not(feature = "cuda"))]
use super::GpuError;
#[cfg(feature = "cuda")]
pub use super::cuda::gpus;

/// A GPU that the CUDA driver lists.
#[derive(Clone, Debug)]
pub struct GpuInfo {
    /// Its number; `--gpu N` chooses.
    pub ordinal: u32,
    /// As the driver names it; "(modelled)" follows where the driver is Warpwise's own.
    pub name: String,
    pub compute_capability: ComputeCapability,
    pub memory_bytes: u64,
    /// Newest CUDA version that the driver supports, as 1000 · major + 10 · minor.
    pub cuda_version: i32,
}

/// Code to load: a cubin for the GPU's architecture, or PTX for the driver to compile.
pub enum Image<'a> {
    Cubin(&'a [u8]),
    Ptx(&'a str),
}

/// What stands behind the name of a device that Warpwise's own driver offers.
pub const MODELLED: &str = " (modelled)";

impl GpuInfo {
    /// Whether it is a device of Warpwise's own driver: its times are modelled.
    pub fn is_modelled(&self) -> bool {
        self.name.ends_with(MODELLED)
    }

    /// The device of our tables that this GPU is, or the one nearest to it: one of the same compute capability.
    pub fn model(&self) -> Option<&'static Device> {
        let name = self.name.trim_start_matches("NVIDIA ").trim_end_matches(MODELLED);
        let named = |model: &&Device| name.starts_with(model.name.as_str());
        // The longest name wins: "A100 80GB SXM" before "A100".
        let by_name = devices().iter().filter(named).max_by_key(|model| model.name.len());
        by_name.or_else(|| devices().iter().find(|model| model.compute_capability == self.compute_capability))
    }
}

/// # Errors
/// Always: this build has no backend for GPUs.
#[cfg(not(feature = "cuda"))]
pub fn gpus() -> Result<Vec<GpuInfo>, GpuError> {
    let message = "this build has no backend for GPUs; `cargo xtask` adds it where the CUDA driver is installed";
    Err(GpuError::NoDriver(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str, major: u32, minor: u32) -> GpuInfo {
        let compute_capability = ComputeCapability { major, minor };
        GpuInfo { ordinal: 0, name: name.to_owned(), compute_capability, memory_bytes: 0, cuda_version: 13_000 }
    }

    #[test]
    fn a_gpu_is_modelled_by_its_own_entry_or_by_one_of_its_compute_capability() {
        let model = |info: GpuInfo| info.model().map(|model| model.name.as_str());
        assert_eq!(model(gpu("NVIDIA H200", 9, 0)), Some("H200"));
        assert_eq!(model(gpu("RTX 5070 (modelled)", 12, 0)), Some("RTX 5070"));
        let stranger = gpu("NVIDIA RTX PRO 9999", 12, 0);
        assert_eq!(stranger.model().map(|model| model.compute_capability), Some(stranger.compute_capability));
        assert_eq!(model(gpu("NVIDIA Q1", 99, 0)), None);
    }
}
