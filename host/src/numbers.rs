//! Numbers that carry how they were got.
//!
//! A time comes from a model or from a measurement, a register count from ptxas, from a driver or from an estimate. The
//! variants have no conversion into each other, so that no table can mix them up without saying so.

use warpwise_simt::isa::Isa;

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
    },
    /// By events on a GPU: the median of `samples`, with the extremes.
    Measured { us: f64, us_min: f64, us_max: f64, samples: u32, device: String },
}

impl Time {
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
