//! Atomic operations on memory that other threads change at the same time.
//!
//! rust-cuda has them at several levels; the laboratories use the middle one, [`mid`], where each operation takes an
//! ordering and its name says the scope.

pub mod mid;
