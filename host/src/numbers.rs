//! Numbers that carry how they were got.
//!
//! A time comes from a model or from a measurement, a register count from ptxas, from a driver or from an estimate. The
//! variants have no conversion into each other, so that no table can mix them up without saying so.

use warpwise_simt::isa::Isa;
pub use warpwise_simt::timing::Sampled;

/// Samples whose quartiles are further apart than this share of their median are called noisy. A choice: on an H200
/// all samples of a kernel of a millisecond lie within 0.3% (docs/measurements), so a quarter of them 5% off is not the kernel.
pub const SPREAD_MAX: f64 = 0.05;

/// A GPU's clocks while samples were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    pub sm_mhz_min: u32,
    pub sm_mhz_max: u32,
    pub memory_mhz: u32,
    /// What held them down, in a word or two each; empty if nothing did.
    pub throttled: Vec<&'static str>,
}

impl Clocks {
    /// These and what another reading showed.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sm_mhz_min = self.sm_mhz_min.min(other.sm_mhz_min);
        self.sm_mhz_max = self.sm_mhz_max.max(other.sm_mhz_max);
        self.memory_mhz = self.memory_mhz.min(other.memory_mhz);
        for reason in other.throttled {
            if !self.throttled.contains(&reason) {
                self.throttled.push(reason);
            }
        }
        self
    }
}

/// How long a kernel took.
#[derive(Clone, Debug, PartialEq)]
pub enum Time {
    /// By the cycle model of the SIMT machine.
    Modelled {
        cycles: u64,
        /// Microseconds at the device's boost clock.
        us: f64,
        /// The code that was timed.
        isa: Isa,
        device: String,
        /// Whether the model of this device was ever held against the hardware.
        validated: bool,
        /// Set where not all blocks were timed, with the error that this may make.
        sampled: Option<Sampled>,
    },
    /// By events on a GPU: the median of `samples`, with the extremes.
    Measured {
        us: f64,
        us_min: f64,
        us_max: f64,
        /// How far apart the quartiles are, as a share of the median.
        spread: f64,
        samples: u32,
        /// What the clocks did meanwhile, where that could be read.
        clocks: Option<Clocks>,
        device: String,
    },
}

impl Time {
    /// Of samples in microseconds, which are sorted; all zero if there are none.
    pub fn measured(samples_us: &mut [f64], device: String) -> Self {
        samples_us.sort_by(f64::total_cmp);
        let us = quantile(samples_us, 0.5);
        Time::Measured {
            us,
            us_min: samples_us.first().copied().unwrap_or(us),
            us_max: samples_us.last().copied().unwrap_or(us),
            spread: if us > 0.0 { (quantile(samples_us, 0.75) - quantile(samples_us, 0.25)) / us } else { 0.0 },
            samples: u32::try_from(samples_us.len()).unwrap_or(u32::MAX),
            clocks: None,
            device,
        }
    }

    /// The same time with what the clocks did meanwhile; a modelled one has the model's clock and stays as it is.
    #[must_use]
    pub fn with_clocks(mut self, read: Option<Clocks>) -> Self {
        if let Time::Measured { clocks, .. } = &mut self {
            *clocks = read;
        }
        self
    }

    /// Why a measured time is to be taken with care: its samples scatter, or the clocks were held down.
    pub fn doubts(&self) -> Vec<String> {
        let Time::Measured { spread, clocks, .. } = self else {
            return Vec::new();
        };
        let noisy = (*spread > SPREAD_MAX).then(|| format!("noisy: quartiles {:.0}% apart", 100.0 * spread));
        let reasons = clocks.iter().filter(|clocks| !clocks.throttled.is_empty());
        let throttled =
            reasons.map(|clocks| format!("throttled to {} MHz: {}", clocks.sm_mhz_min, clocks.throttled.join(", ")));
        noisy.into_iter().chain(throttled).collect()
    }

    /// The SMs' clock in MHz while a measured time was taken, where it was read and did not change.
    pub fn sm_mhz(&self) -> Option<u32> {
        match self {
            Time::Measured { clocks: Some(clocks), .. } if clocks.sm_mhz_min == clocks.sm_mhz_max => {
                Some(clocks.sm_mhz_min)
            }
            _ => None,
        }
    }

    pub fn is_measured(&self) -> bool {
        matches!(self, Time::Measured { .. })
    }

    /// Microseconds, however they were got: for ratios of times that come from the same source.
    pub fn us(&self) -> f64 {
        match self {
            Time::Modelled { us, .. } | Time::Measured { us, .. } => *us,
        }
    }

    pub fn device(&self) -> &str {
        match self {
            Time::Modelled { device, .. } | Time::Measured { device, .. } => device,
        }
    }
}

/// The value below which the share `at` of sorted values lies, between two of them by proportion; 0 of none.
pub fn quantile(sorted: &[f64], at: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let position = at * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

/// 32-bit registers a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regs {
    /// Allocated by ptxas for the architecture.
    Ptxas(u32),
    /// Reported by the CUDA driver for the code it loaded.
    Driver(u32),
    /// Most virtual registers of the PTX alive at one place; ptxas was not at hand.
    Estimated(u32),
}

impl Regs {
    pub fn value(self) -> u32 {
        match self {
            Regs::Ptxas(value) | Regs::Driver(value) | Regs::Estimated(value) => value,
        }
    }

    /// The word that reports use: `ptxas`, `driver` or `estimated`.
    pub fn source(self) -> &'static str {
        match self {
            Regs::Ptxas(_) => "ptxas",
            Regs::Driver(_) => "driver",
            Regs::Estimated(_) => "estimated",
        }
    }
}

/// The word that reports use for an instruction set.
pub fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::Ptx => "ptx",
        Isa::Sass => "sass",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_samples_lies_between_the_middle_two() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 100.0], 0.5), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 100.0], 0.5), 2.0);
        assert_eq!(quantile(&[7.0], 0.75), 7.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    fn clocks(sm_mhz: u32, throttled: &[&'static str]) -> Clocks {
        Clocks { sm_mhz_min: sm_mhz, sm_mhz_max: sm_mhz, memory_mhz: 3_201, throttled: throttled.to_vec() }
    }

    #[test]
    fn readings_of_the_clocks_add_up_to_their_range_and_each_reason_once() {
        let all = clocks(1_980, &[]).and(clocks(1_620, &["power cap"])).and(clocks(1_755, &["power cap", "heat"]));
        assert_eq!((all.sm_mhz_min, all.sm_mhz_max, all.memory_mhz), (1_620, 1_980, 3_201));
        assert_eq!(all.throttled, ["power cap", "heat"]);
    }

    #[test]
    fn scattered_samples_and_clocks_held_down_are_doubts_and_calm_ones_none() {
        let calm = Time::measured(&mut [10.0, 10.1, 10.2], "GPU".to_owned());
        assert!(calm.clone().with_clocks(Some(clocks(1_980, &[]))).doubts().is_empty());
        let throttled = calm.with_clocks(Some(clocks(1_620, &["power cap"])));
        assert_eq!(throttled.doubts(), ["throttled to 1620 MHz: power cap"]);
        let noisy = Time::measured(&mut [8.0, 10.0, 12.0], "GPU".to_owned());
        assert_eq!(noisy.doubts(), ["noisy: quartiles 20% apart"]);
    }

    #[test]
    fn one_sample_far_off_is_in_the_extremes_and_not_in_the_spread() {
        let mut samples = [10.0, 10.0, 30.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0];
        let time = Time::measured(&mut samples, "GPU".to_owned());
        let Time::Measured { us, us_min, us_max, spread, samples, .. } = time else { panic!("it is measured") };
        assert_eq!((us, us_min, us_max, spread, samples), (10.0, 10.0, 30.0, 0.0, 9));
    }
}
