//! The register-pressure workbench: one kernel as ptxas makes it under many bounds, what each allows, and what it costs.
//!
//! A [`Variant`] is a kernel with the bounds of its header; [`make`] has ptxas compile many at once. [`cliff`] puts the next step
//! of the occupancy into words. The commands `regs`, `sweep`, `diff` and `watch` and the labs on registers stand on this.

pub mod cliff;
mod numbers;
mod variant;

pub use numbers::{Numbers, parse_numbers};
pub use variant::{Made, Variant, make};
