//! The register-pressure workbench: one kernel as ptxas makes it under many bounds, what each allows, and what it costs.
//!
//! A [`Variant`] is a kernel with the bounds of its header; [`make`] has ptxas compile many at once. [`cliff`] puts the next step
//! of the occupancy into words, [`code`] has what was compiled as instructions, [`sweep`] puts variants side by side, with times. A
//! [`Snapshot`] is one kernel at one moment; [`changes`] and [`aligned`] say how two differ. The commands `regs`, `sweep`, `diff` and
//! `watch` and the labs on registers stand on this.

pub mod aligned;
pub mod changes;
pub mod checkout;
pub mod cliff;
pub mod code;
pub mod families;
mod launch;
mod mix;
mod numbers;
mod rebuild;
pub mod saves;
mod side;
mod slice;
mod snapshot;
pub mod sweep;
mod times;
mod variant;
mod versions;

pub use launch::{Launch, Ran};
pub use mix::Mix;
pub use numbers::{Numbers, parse_numbers};
pub use rebuild::Rebuild;
pub use side::{Side, parse_side};
pub use slice::Slice;
pub use snapshot::{Code, Snapshot};
pub use variant::{Made, Variant, make};
pub use versions::{Compared, Versions};
