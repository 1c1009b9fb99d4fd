//! Times of a case on a context, modelled or measured by the same rule: nothing of its data is in L2 when it starts.

use std::num::NonZeroU32;

use super::Case;
use super::inputs::bind;
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchReport, LaunchRequest, LaunchShape};
use crate::error::CommandError;
use crate::numbers::Time;
use crate::workbench::Workbench;

/// Size of what is overwritten before a launch, as a multiple of L2: the rule by which launches on GPUs are sampled.
const FLUSH_L2_MULTIPLE: u64 = 2;

/// The time of a case; on a GPU the median of samples, each from a cold L2.
///
/// # Errors
/// What the device says of the launch, or what ptxas says of the kernel.
pub fn time(bench: &Workbench, gpu: &Gpu, case: &Case) -> Result<Time, CommandError> {
    let bound = bind(gpu, case.inputs)?;
    let _flushed = flush(bench, gpu)?;
    let report = launch(bench, gpu, case, bound.params, true)?;
    Ok(report.time().cloned().ok_or(GpuError::NoTime("the case ran without a clock"))?)
}

/// Launches a case once, without a clock, and waits.
///
/// # Errors
/// As for [`time`].
pub fn once(bench: &Workbench, gpu: &Gpu, case: &Case) -> Result<(), CommandError> {
    let bound = bind(gpu, case.inputs)?;
    launch(bench, gpu, case, bound.params, false).map(drop)
}

/// Launches the case with these parameters, under a clock if it is to be timed, and waits.
pub(super) fn launch(
    bench: &Workbench,
    gpu: &Gpu,
    case: &Case,
    params: Vec<u8>,
    timed: bool,
) -> Result<LaunchReport, CommandError> {
    let resources = bench.resources(case.kernel, &gpu.device().arch, None)?;
    let shape = LaunchShape { grid: case.grid, block: case.block, dynamic_shared_bytes: case.dynamic_shared_bytes };
    let request = LaunchRequest {
        timed,
        registers: NonZeroU32::new(resources.registers.value()),
        ..LaunchRequest::packed(case.kernel, shape, params)
    };
    let report = gpu.run_in_turn(vec![request])?.pop();
    Ok(report.ok_or(GpuError::NoReport)?)
}

/// Overwrites more memory than L2 holds, so that nothing else is left in it.
pub(super) fn flush(bench: &Workbench, gpu: &Gpu) -> Result<DeviceBuffer<u8>, GpuError> {
    gpu.zeros::<u8>(usize::try_from(FLUSH_L2_MULTIPLE * bench.device.l2_bytes).unwrap_or(usize::MAX))
}
