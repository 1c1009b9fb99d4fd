//! The kernels as files: where the PTX is, and what each kernel takes of an SM.

mod files;
mod resources;

pub use files::{KernelFiles, KernelFilesError};
pub use resources::Resources;
