//! Faults planted on purpose, and what became of them.
//!
//! After a kernel's fault NVIDIA's driver serves the whole process no more, not even in a new context. So on a GPU a fault
//! is planted in a process of its own: this program again, with the hidden command `probe-fault`.

use std::process::Command;

use clap::ValueEnum;
use cuda_std::host::DevicePtr;
use serde::{Deserialize, Serialize};
use warpwise_kernels::slices::filter_indexed;
use warpwise_kernels::vecadd::vecadd;

use crate::backend::{Gpu, GpuError, LaunchShape};
use crate::lab::{LabContext, LabError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Planted {
    /// An address that is no one's, on hardware either.
    FarAddress,
    /// A pointer to this program's own memory where a device pointer belongs.
    HostPointer,
    /// A slice shorter than what is read of it: a panic, and so a trap.
    ShortSlice,
}

/// What each step answered: nothing where it succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub synchronise: Option<String>,
    pub later_launch: Option<String>,
    pub later_copy: Option<String>,
}

/// Launches a kernel that must fail, and tries to go on in the same context.
pub fn plant(gpu: &Gpu, what: Planted) -> Result<Seen, GpuError> {
    let on_host = [0.0_f32; 32];
    match what {
        Planted::FarAddress => add_at(gpu, 1 << 46)?,
        Planted::HostPointer => add_at(gpu, on_host.as_ptr() as u64)?,
        Planted::ShortSlice => filter_short_slice(gpu)?,
    }
    let synchronise = message(gpu.synchronize());
    let null = DevicePtr::<f32>::NULL;
    let later_launch = message(gpu.launch(&vecadd, 1, 32, (null, null, null.cast(), 0)));
    let later_copy = message(gpu.upload(&[0.0_f32]));
    Ok(Seen { synchronise, later_launch, later_copy })
}

/// `vecadd` on an address that is not its own.
fn add_at(gpu: &Gpu, address: u64) -> Result<(), GpuError> {
    let bad = DevicePtr::<f32>::from_address(address);
    gpu.launch_shaped(&vecadd, LaunchShape::linear(32, 32), (bad, bad, bad.cast(), 32)).map(drop)
}

/// A filter that is told that its input is one element shorter than it needs. The memory behind it is there, so that nothing but the check
/// can fail. The arrays live until the launch is over: they are kept by the context, which is lost anyway.
fn filter_short_slice(gpu: &Gpu) -> Result<(), GpuError> {
    let (n, taps) = (32, 3);
    let (x, weights, y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(3)?, gpu.zeros::<f32>(32)?);
    let args = (x.ptr(), weights.ptr(), y.ptr(), n + taps - 2, taps, n);
    gpu.launch_shaped(&filter_indexed, LaunchShape::linear(n, 32), args)?;
    std::mem::forget((x, weights, y));
    Ok(())
}

fn message<T>(result: Result<T, GpuError>) -> Option<String> {
    result.err().map(|error| error.to_string())
}

/// As [`plant`], on the context's device; on a GPU in another process.
pub fn plant_apart(cx: &LabContext<'_>, what: Planted) -> Result<Seen, LabError> {
    match &cx.bench().gpu {
        Some(info) if !info.is_modelled() => in_a_process(cx, what, info.ordinal),
        _ => Ok(plant(&cx.gpu()?, what)?),
    }
}

fn in_a_process(cx: &LabContext<'_>, what: Planted, ordinal: u32) -> Result<Seen, LabError> {
    let failed = |reason: String| LabError::Other(format!("planting a fault in another process: {reason}"));
    let word = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["probe-fault", &word, "--gpu", &ordinal.to_string()]);
    command.env("WARPWISE_KERNELS", &cx.bench().kernels.folder);
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_survives_the_way_between_two_processes() {
        let seen =
            Seen { synchronise: Some("a fault".to_owned()), later_launch: None, later_copy: Some("no".to_owned()) };
        let text = serde_json::to_string(&seen).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Seen>(&text).expect("it was written by us"), seen);
    }
}
