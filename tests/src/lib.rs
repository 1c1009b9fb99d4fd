//! What tests that cross crates share: a context of the machine with the kernels loaded, inputs, comparison.

use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use warpwise::backend::{Gpu, MachineOptions, sim};
use warpwise::kernels::{Code, KernelFiles};
use warpwise_simt::device::Device;

/// A fresh context of the machine on the default device.
///
/// # Panics
/// If the kernels' PTX was not built: `cargo xtask test` builds it.
pub fn machine() -> Gpu {
    let files = KernelFiles::open().unwrap_or_else(|error| panic!("{error}"));
    let code = Code::parse("kernels.ptx", &files.ptx).unwrap_or_else(|error| panic!("{error}"));
    let device = Device::default_device();
    let sim =
        sim::Sim::new(device, Arc::new(code), MachineOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    Gpu::new(Arc::new(sim))
}

/// `n` numbers from -1 to 1.
pub fn noise(n: u32, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| random.random_range(-1.0..=1.0)).collect()
}

/// For comparison: all NaNs alike, since PTX has one NaN and a CPU has many; zeros of two signs apart.
pub fn bits(value: f32) -> u32 {
    if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }
}
