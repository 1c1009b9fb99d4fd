//! What a device does at most, in bytes copied and in multiply-adds a second: what kernels are put against.
//!
//! On a GPU both are measured once a run, with the code of this run and in the minutes of this run: a data sheet's figures are
//! not reached by anything. For the machine they are what its parameters allow, and modelled as its times are.

use warpwise_kernels::ceilings::{FMA_CHAIN_STEPS, FMA_CHAINS, fma_chains};
use warpwise_simt::device::Device;
use warpwise_simt::isa::Isa;

use crate::backend::{Gpu, GpuError, LaunchShape, StreamId};
use crate::numbers::Time;

/// Bytes of the buffer that is copied: far more than any L2 holds.
const COPY_BYTES: usize = 1 << 30;
const COPY_WARM_UP: usize = 3;
const COPY_SAMPLES: usize = 30;

/// Threads a block of the kernel of multiply-adds, and its steps: about a millisecond on large GPUs.
const FMA_BLOCK: u32 = 256;
const FMA_STEPS: u32 = 1000;
/// An FMA is a multiplication and an addition.
const FLOPS_PER_FMA: f64 = 2.0;

/// How fast a device does one kind of work when it does nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Bytes read and written, or floating-point operations.
    work: f64,
    /// How long they took.
    pub time: Time,
}

/// Both ceilings of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// A copy within device memory; GB/s, read and written.
    pub copy: Ceiling,
    /// Fused multiply-adds of 32 bits; GFLOP/s.
    pub fma: Ceiling,
}

/// What a launch moved and computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes between L1 and what lies behind it, or the least that the kernel has to move.
    pub bytes: Option<f64>,
    pub flops: Option<f64>,
}

impl Ceiling {
    /// 10⁹ bytes or operations a second.
    pub fn giga_per_second(&self) -> f64 {
        self.work / self.time.us() / 1e3
    }

    /// The share of this ceiling that so much work in `us` microseconds makes; 1 is all.
    fn share(&self, work: f64, us: f64) -> f64 {
        work / us / (self.work / self.time.us())
    }
}

impl Ceilings {
    /// Measures both on a GPU.
    ///
    /// # Errors
    /// [`GpuError::Memory`] where there is no room for two buffers of a gibibyte.
    pub fn measure(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { copy: copy(gpu)?, fma: fma(gpu)? })
    }

    /// What the model's parameters allow.
    pub fn of_model(device: &Device) -> Self {
        let time = |us: f64| Time::Modelled {
            cycles: (us * f64::from(device.boost_clock_mhz)).round() as u64,
            us,
            isa: Isa::Ptx,
            device: device.name.clone(),
            validated: device.validated,
            sampled: None,
        };
        let bytes = 2.0 * COPY_BYTES as f64;
        let bytes_per_us = device.memory_bandwidth_gbs * 1e3 * device.parameters.dram_efficiency;
        let lanes = f64::from(device.sm_count) * f64::from(device.limits.fp32_lanes);
        let flops_per_us = FLOPS_PER_FMA * lanes * f64::from(device.boost_clock_mhz);
        Self {
            copy: Ceiling { work: bytes, time: time(bytes / bytes_per_us) },
            // A millisecond of it.
            fma: Ceiling { work: 1e3 * flops_per_us, time: time(1e3) },
        }
    }

    /// Whether they were got as this time was, on the same device.
    pub fn are_of(&self, time: &Time) -> bool {
        self.copy.time.device() == time.device() && self.copy.time.is_measured() == time.is_measured()
    }

    /// The share of the copy bandwidth that moving so many bytes in this time makes.
    pub fn share_of_copy(&self, bytes: f64, time: &Time) -> f64 {
        self.copy.share(bytes, time.us())
    }

    /// The share of the FMA rate that so many operations in this time make.
    pub fn share_of_fma(&self, flops: f64, time: &Time) -> f64 {
        self.fma.share(flops, time.us())
    }
}

/// Copies a buffer within the device, between two events.
fn copy(gpu: &Gpu) -> Result<Ceiling, GpuError> {
    let (from, to) = (gpu.zeros::<u8>(COPY_BYTES)?, gpu.uninitialised::<u8>(COPY_BYTES)?);
    let (start, end) = (gpu.create_event()?, gpu.create_event()?);
    let mut samples = Vec::new();
    for round in 0..COPY_WARM_UP + COPY_SAMPLES {
        gpu.record(start, StreamId::DEFAULT)?;
        gpu.copy(&from, &to)?;
        gpu.record(end, StreamId::DEFAULT)?;
        let time = gpu.elapsed(start, end)?;
        if round >= COPY_WARM_UP {
            samples.push(time.us());
        }
    }
    let time = Time::measured(&mut samples, gpu.device().name.clone());
    Ok(Ceiling { work: 2.0 * COPY_BYTES as f64, time })
}

/// One wave of threads that do nothing but multiply-adds.
fn fma(gpu: &Gpu) -> Result<Ceiling, GpuError> {
    let device = gpu.device();
    let n = device.sm_count * device.limits.max_threads_per_sm;
    let (x, y) = (gpu.zeros::<f32>(n as usize)?, gpu.zeros::<f32>(n as usize)?);
    let args = (x.ptr(), y.ptr(), n, FMA_STEPS);
    let report = gpu.profile(&fma_chains, LaunchShape::linear(n, FMA_BLOCK), None, args)?;
    let time = report.time().cloned().ok_or(GpuError::NoTime("the kernel of multiply-adds was not timed"))?;
    let fmas = f64::from(n) * f64::from(FMA_STEPS) * f64::from(FMA_CHAIN_STEPS) * FMA_CHAINS as f64;
    Ok(Ceiling { work: FLOPS_PER_FMA * fmas, time })
}

#[cfg(test)]
mod tests {
    use warpwise_simt::device::find;

    use super::*;

    fn h200() -> Ceilings {
        Ceilings::of_model(find("H200").expect("a known device"))
    }

    #[test]
    fn the_model_of_an_h200_copies_at_the_rate_its_parameters_give_and_computes_at_its_lanes_times_clock() {
        let ceilings = h200();
        assert!((ceilings.copy.giga_per_second() - 4800.0 * 0.92).abs() < 1.0, "{ceilings:?}");
        // 132 SMs × 128 lanes × 2 × 1,980 MHz.
        assert!((ceilings.fma.giga_per_second() - 66_908.0).abs() < 10.0, "{ceilings:?}");
    }

    #[test]
    fn a_copy_as_fast_as_the_ceiling_has_all_of_it_and_one_half_as_fast_has_half() {
        let ceilings = h200();
        let time = ceilings.copy.time.clone();
        let bytes = 2.0 * COPY_BYTES as f64;
        assert!((ceilings.share_of_copy(bytes, &time) - 1.0).abs() < 1e-12);
        assert!((ceilings.share_of_copy(bytes / 2.0, &time) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn modelled_ceilings_are_not_those_of_a_measured_time_or_of_another_device() {
        let ceilings = h200();
        assert!(ceilings.are_of(&ceilings.fma.time));
        assert!(!ceilings.are_of(&Time::measured(&mut [1.0], "H200".to_owned())));
        let other = Ceilings::of_model(Device::default_device());
        assert!(!ceilings.are_of(&other.copy.time));
    }
}
