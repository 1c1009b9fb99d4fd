//! The cycle model.

pub mod memory;
