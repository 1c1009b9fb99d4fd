//! Warp-wide execution of the inner form.
//!
//! A [`Kernel`] is a program made ready: each instruction has a function chosen by operation, types and CPU level. A [`Grid`] is
//! one launch of it, a [`Block`] the warps that live together, and the [`Executor`] takes one warp at a time through its
//! instructions. An operation works on the lanes and returns what else is to be done (access memory, branch, wait); the loop
//! around it does that, and tells whoever watches.
//!
//! Who runs which warp when, and what time it is, is for others: [`crate::machine`] runs blocks one after another, the cycle
//! model lets instructions issue when their operands are ready. Both stand on the same loop.

mod access;
mod barrier;
mod block;
mod chip;
mod collective;
mod convergence;
mod data;
mod executor;
mod float;
mod frame;
mod kernel;
mod launch;
mod ops;
mod perform;
mod spin;
mod warp;
mod watch;

pub use access::{AccessKind, AccessNote};
pub use block::Block;
pub use executor::{Effect, End, Event, Executor, Probe, Step};
pub use kernel::{Kernel, PrepareError};
pub(crate) use launch::shared_bytes;
pub use launch::{DeviceFacts, Grid};
pub use ops::{CpuLevel, OperandWords, operand_words};
pub use warp::{Divergence, Warp};
pub use watch::Stride;
