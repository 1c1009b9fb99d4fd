//! How fast memory is: copies by the driver and by a kernel, reading alone, writing alone.
//!
//! All are sampled in turn, so that a drift of the clocks is in all of them alike.

use warpwise_kernels::ceilings::{READ_STREAM_QUADS, copy_stream, read_stream, write_stream};

use super::{Beside, Ceiling};
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchShape, StreamId};
use crate::numbers::Time;

/// Bytes of each buffer, the first that fits: the longer a stream, the less its beginning and end weigh (on an H200 a copy of 4 GiB
/// is 0.6% faster than one of 1 GiB). The least is still far more than any L2 holds.
const BYTES: [usize; 4] = [4 << 30, 2 << 30, 1 << 30, 512 << 20];

/// Bytes of the usual measurement of a copy's bandwidth: that of 2²⁸ elements of four bytes.
pub const USUAL_BYTES: usize = 1 << 30;

const WARM_UP: usize = 3;
const SAMPLES: usize = 30;

/// Bytes of an access, and threads a block: the fastest of 64 to 1,024 for a copy on an H200.
const QUAD_BYTES: usize = 16;
const BLOCK: u32 = 256;

/// What no thread finds in memory full of zeros.
const NEEDLE: u32 = 0x9e37_79b9;

pub struct Streams {
    drivers_copy: Ceiling,
    kernels_copy: Ceiling,
    pub beside: Beside,
}

impl Streams {
    /// The faster copy, and whose it is.
    pub fn fastest_copy(&self) -> (Ceiling, &'static str) {
        match self.kernels_copy.time.us() < self.drivers_copy.time.us() {
            true => (self.kernels_copy.clone(), "copy_stream"),
            false => (self.drivers_copy.clone(), "the driver"),
        }
    }
}

/// # Errors
/// [`GpuError::OutOfMemory`] where there is no room for two buffers.
pub fn measure(gpu: &Gpu) -> Result<Streams, GpuError> {
    let (from, to) = buffers(gpu)?;
    let bytes = from.len() * size_of::<u32>();
    let usual = gpu.zeros::<u32>(from.len().min(USUAL_BYTES / size_of::<u32>()))?;
    let n = (bytes / QUAD_BYTES) as u32;
    let (wide, fours) = (LaunchShape::linear(n, BLOCK), LaunchShape::linear(n / READ_STREAM_QUADS, BLOCK));
    let work: [&dyn Fn() -> Result<(), GpuError>; 5] = [
        &|| gpu.copy(&from, &usual),
        &|| gpu.copy(&from, &to),
        &|| gpu.launch_shaped(&copy_stream, wide, (from.ptr(), to.ptr(), n)).map(drop),
        &|| gpu.launch_shaped(&read_stream, fours, (from.ptr(), to.ptr(), NEEDLE)).map(drop),
        &|| gpu.launch_shaped(&write_stream, wide, (to.ptr(), n, NEEDLE)).map(drop),
    ];
    let [usual_copy, drivers_copy, kernels_copy, read, write] = sampled(gpu, work)?;
    let ceiling = |time, bytes: usize| Ceiling { work: bytes as f64, time };
    let usual_copy = ceiling(usual_copy, 2 * usual.len() * size_of::<u32>());
    Ok(Streams {
        drivers_copy: ceiling(drivers_copy, 2 * bytes),
        kernels_copy: ceiling(kernels_copy, 2 * bytes),
        beside: Beside { usual_copy, read: ceiling(read, bytes), write: ceiling(write, bytes) },
    })
}

/// Two buffers of the first size of which two fit, full of zeros.
fn buffers(gpu: &Gpu) -> Result<(DeviceBuffer<u32>, DeviceBuffer<u32>), GpuError> {
    let pair = |bytes: usize| {
        let zeros = || gpu.zeros::<u32>(bytes / size_of::<u32>());
        Ok((zeros()?, zeros()?))
    };
    let (last, sooner) = BYTES.split_last().map_or((0, [].as_slice()), |(last, sooner)| (*last, sooner));
    for &bytes in sooner {
        match pair(bytes) {
            Err(GpuError::OutOfMemory(_)) => {}
            other => return other,
        }
    }
    pair(last)
}

/// The time of each, between two events.
fn sampled<const N: usize>(gpu: &Gpu, work: [&dyn Fn() -> Result<(), GpuError>; N]) -> Result<[Time; N], GpuError> {
    let (start, end) = (gpu.create_event()?, gpu.create_event()?);
    let mut samples: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..WARM_UP + SAMPLES {
        for (work, samples) in work.iter().zip(&mut samples) {
            gpu.record(start, StreamId::DEFAULT)?;
            work()?;
            gpu.record(end, StreamId::DEFAULT)?;
            let time = gpu.elapsed(start, end)?;
            if round >= WARM_UP {
                samples.push(time.us());
            }
        }
    }
    Ok(samples.map(|mut samples| Time::measured(&mut samples, gpu.device().name.clone())))
}
