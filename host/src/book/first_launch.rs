//! A whole GPU program in seven lines, for the page that walks through it. The tests run it.

use warpwise_kernels::vecadd::vecadd;

use crate::backend::{Gpu, GpuError, LaunchShape};

/// Adds two arrays of the same length on a GPU.
///
/// # Errors
/// Memory that runs out, a launch that is refused, a fault of the kernel.
pub fn add(gpu: &Gpu, left: &[f32], right: &[f32]) -> Result<Vec<f32>, GpuError> {
    let n = left.len() as u32;
    let a = gpu.upload(left)?;
    let b = gpu.upload(right)?;
    let c = gpu.zeros::<f32>(left.len())?;
    let shape = LaunchShape::linear(n, 256);
    gpu.launch_shaped(&vecadd, shape, (a.ptr(), b.ptr(), c.ptr(), n))?;
    gpu.synchronize()?;
    c.download()
}
