//! NVIDIA's command-line tools as a library: found or fetched, run with a time limit, their output parsed.
//!
//! [`mod@locate`] finds ptxas, nvdisasm, cuobjdump and ncu, or fetches the first three. [`ptxas`] compiles PTX and reads what
//! a kernel costs in registers, spills, stack, shared memory and barriers; results are cached by content. [`nvcc`] makes PTX of CUDA C++,
//! for which [`locate_nvcc`] finds or fetches it. [`nvdisasm`]
//! reads SASS with source lines, control information and live registers. [`cuobjdump`] unpacks fatbins. [`mod@ncu`] has the hardware count. [`process`] is what they all run on.
//!
//! The crate knows nothing of kernels or labs: PTX text and cubin bytes go in, values come out. A tool that is missing,
//! hangs, fails or prints nonsense is an error value; nothing here panics or ends the program.

mod cache;
pub mod cuobjdump;
pub mod locate;
pub mod ncu;
pub mod nvcc;
pub mod nvdisasm;
pub mod process;
pub mod ptxas;
mod scratch;

pub use locate::{Environment, LocateError, LocateOptions, Tools, locate, locate_nvcc};
