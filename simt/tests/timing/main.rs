//! The cycle model through the machine's door: kernels of which it is known what they must cost.

mod bench;

mod chains;
mod kernels;
mod results;
