//! The kernels as files: where the PTX is, and what each kernel takes of an SM.

mod code;
mod executed;
mod files;
mod of_text;
mod resources;
mod sass;

pub use code::{Code, CodeError};
pub use executed::{Executed, NothingToExecute, executed};
pub use files::{KernelFacts, KernelFiles, KernelFilesError};
pub use of_text::{NoProgram, of_text};
pub use resources::{ResourceRow, Resources};
pub use sass::{Sass, SassUnusable};
