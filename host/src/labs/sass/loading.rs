//! What a GPU's driver loads: PTX older than the chip, but no cubin of another architecture.

use cuda_std::host::DevicePtr;
use warpwise_kernels::vecadd::vecadd;

use crate::backend::{Gpu, GpuError, LaunchRequest, LaunchShape};
use crate::claim::{Claim, equal, holds};
use crate::lab::{LabContext, LabError};
use crate::labs::input;

use super::SECTION;

const N: u32 = 1_003;
const BLOCK: u32 = 256;
/// The architecture that the kernels' PTX is for, and an older one than any GPU that the claim is about.
const OLDER: &str = "sm_80";

pub fn claims() -> Vec<Claim> {
    let claim = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_gpu();
    vec![
        claim("ptx_runs_later", "PTX for sm_80 runs on a newer chip", holds("it does")),
        claim("cubin_refused", "a cubin for sm_80 is refused on sm_90 and later", holds("it is")),
        claim("driver_registers", "the driver counts as many registers for vecadd as ptxas did", equal(12)),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    if !cx.bench().measures() {
        return Ok(());
    }
    let by_ptx = cx.bench().gpu_with_ptx().and_then(|gpu| adds(&gpu));
    cx.holds("ptx_runs_later", matches!(by_ptx, Ok(true)), format!("{by_ptx:?}"));
    let gpu = cx.gpu()?;
    match gpu.device().arch.as_str() {
        // A cubin is for its own major version.
        arch if arch.starts_with("sm_8") => cx.not_run("cubin_refused", "this GPU is of the same generation"),
        _ => {
            let refused = cx.bench().gpu_with_cubin_for(OLDER)?.err().map(|error| error.to_string());
            cx.holds("cubin_refused", refused.is_some(), "it was loaded");
            cx.note(format!("a cubin for {OLDER}: {}", refused.unwrap_or_else(|| "loaded".to_owned())));
        }
    }
    let null = DevicePtr::NULL;
    let request = LaunchRequest::new(&vecadd, LaunchShape::linear(N, BLOCK), &(null, null, null, N));
    if let Some(loaded) = gpu.loaded(&request)? {
        cx.found("driver_registers", loaded.registers);
    }
    Ok(())
}

/// Whether `vecadd` adds on this context.
fn adds(gpu: &Gpu) -> Result<bool, GpuError> {
    let (a, b) = (input::noise(N, 1), input::noise(N, 2));
    let (on_a, on_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let c = gpu.zeros::<f32>(a.len())?;
    gpu.launch_shaped(&vecadd, LaunchShape::linear(N, BLOCK), (on_a.ptr(), on_b.ptr(), c.ptr(), N))?;
    let sums = a.iter().zip(&b).map(|(a, b)| a + b);
    Ok(input::differences(&c.download()?, sums).none())
}
