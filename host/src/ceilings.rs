//! What a device does at most, in bytes moved and in multiply-adds a second: what kernels are put against.
//!
//! On a GPU they are measured once a run, with the code of this run and in the minutes of this run: a data sheet's figures are
//! not reached by anything. For the machine they are what its parameters allow, and modelled as its times are. The copy is the
//! fastest of those that there are; what moves bytes in one direction alone is in [`streams`].

mod streams;

use warpwise_kernels::ceilings::{FMA_CHAIN_STEPS, FMA_CHAINS, fma_chains};
use warpwise_simt::device::Device;
use warpwise_simt::isa::Isa;

use crate::backend::{Gpu, GpuError, LaunchShape};
use crate::numbers::Time;

/// Bytes of the copy that a model's rate is told by.
const MODELLED_COPY_BYTES: usize = 1 << 30;

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

/// All ceilings of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// The fastest copy within device memory; GB/s, read and written.
    pub copy: Ceiling,
    /// Whose copy that is: the driver's or a kernel's.
    pub copy_by: &'static str,
    /// What was measured beside that copy; `None` for a model, which has one bandwidth for all.
    pub beside: Option<Beside>,
    /// Fused multiply-adds of 32 bits; GFLOP/s.
    pub fma: Ceiling,
}

/// Other streams; GB/s. Memory that changes between reading and writing loses time, so one of them alone is faster than a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The driver's copy of 1 GiB, which is what "the copy bandwidth" usually means.
    pub usual_copy: Ceiling,
    pub read: Ceiling,
    pub write: Ceiling,
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
    /// Measures all on a GPU.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] where there is no room for two buffers that no L2 holds.
    pub fn measure(gpu: &Gpu) -> Result<Self, GpuError> {
        let streams = streams::measure(gpu)?;
        let (copy, copy_by) = streams.fastest_copy();
        Ok(Self { copy, copy_by, beside: Some(streams.beside), fma: fma(gpu)? })
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
        let bytes = 2.0 * MODELLED_COPY_BYTES as f64;
        let bytes_per_us = device.memory_bandwidth_gbs * 1e3 * device.parameters.dram_efficiency;
        let lanes = f64::from(device.sm_count) * f64::from(device.limits.fp32_lanes);
        let flops_per_us = FLOPS_PER_FMA * lanes * f64::from(device.boost_clock_mhz);
        Self {
            copy: Ceiling { work: bytes, time: time(bytes / bytes_per_us) },
            copy_by: "the model",
            beside: None,
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

    /// The share of the driver's copy of the usual size; `None` for a model.
    pub fn share_of_usual_copy(&self, bytes: f64, time: &Time) -> Option<f64> {
        self.beside.as_ref().map(|beside| beside.usual_copy.share(bytes, time.us()))
    }

    /// The share of the bandwidth of reading alone; `None` for a model.
    pub fn share_of_read(&self, bytes: f64, time: &Time) -> Option<f64> {
        self.beside.as_ref().map(|beside| beside.read.share(bytes, time.us()))
    }

    /// Whether moving so many bytes in this time is more than memory does in any direction: they came from a cache.
    pub fn is_beyond_memory(&self, bytes: f64, time: &Time) -> bool {
        let one_way = self.beside.iter().flat_map(|beside| [&beside.read, &beside.write]);
        one_way.chain([&self.copy]).all(|ceiling| ceiling.share(bytes, time.us()) > 1.0)
    }

    /// The share of the FMA rate that so many operations in this time make.
    pub fn share_of_fma(&self, flops: f64, time: &Time) -> f64 {
        self.fma.share(flops, time.us())
    }
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
        let bytes = 2.0 * MODELLED_COPY_BYTES as f64;
        assert!((ceilings.share_of_copy(bytes, &time) - 1.0).abs() < 1e-12);
        assert!((ceilings.share_of_copy(bytes / 2.0, &time) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_faster_than_a_copy_came_from_a_cache_only_if_it_is_faster_than_reading_too() {
        let one_way = |us| Ceiling { work: 1e6, time: Time::measured(&mut [us], "H200".to_owned()) };
        let copy = one_way(1.0);
        let mut ceilings = Ceilings { copy, ..h200() };
        let time = Time::measured(&mut [0.9], "H200".to_owned());
        assert!(ceilings.is_beyond_memory(1e6, &time), "nothing is known but the copy");
        ceilings.beside = Some(Beside { usual_copy: one_way(1.1), read: one_way(0.8), write: one_way(0.95) });
        assert!(!ceilings.is_beyond_memory(1e6, &time));
        let of_read = ceilings.share_of_read(1e6, &time);
        assert!(of_read.is_some_and(|share| (share - 0.8 / 0.9).abs() < 1e-12), "{of_read:?}");
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
