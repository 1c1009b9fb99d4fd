//! The cycle model through the machine's door: kernels of which it is known what they must cost.

mod bench;

mod bounds;
mod chains;
mod control;
mod divergence;
mod failures;
mod kernels;
mod launches;
mod reordering;
mod results;
mod sampling;
mod sass;
mod shared;
mod tracing;
