//! Why a command could not do its work: always the user's input or the machine's state, always exit code 2.

use std::io;

use warpwise_simt::device::{ParseComputeCapabilityError, UnknownComputeCapability, UnknownDevice};
use warpwise_simt::occupancy::{InvalidInput, batch::BatchError};
use warpwise_simt::ptx::PtxError;
use warpwise_simt::rewrite::RewriteError;

use crate::arguments::ArgumentError;
use crate::arguments::bind::BindError;
use crate::backend::GpuError;
use crate::kernels::{CodeError, KernelFilesError, NoProgram, SassUnusable};
use crate::sass_words::UnknownOpcode;
use crate::suggest::UnknownName;
use crate::user_code::UserCodeError;
use crate::workbench::WorkbenchError;

/// One to three lines: what was given, what was expected, what to do.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error(transparent)]
    UnknownOpcode(#[from] UnknownOpcode),
    #[error(transparent)]
    UserCode(#[from] UserCodeError),
    #[error(transparent)]
    Sass(#[from] SassUnusable),
    #[error(transparent)]
    NoProgram(#[from] NoProgram),
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    #[error(transparent)]
    Kernels(#[from] KernelFilesError),
    #[error(transparent)]
    Code(#[from] CodeError),
    #[error(transparent)]
    Arch(#[from] ParseComputeCapabilityError),
    #[error(transparent)]
    UnknownArch(#[from] UnknownComputeCapability),
    #[error(transparent)]
    Workbench(#[from] WorkbenchError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Ptx(#[from] PtxError),
    #[error(transparent)]
    Occupancy(#[from] InvalidInput),
    #[error("`{path}`: {source}")]
    Batch { path: String, source: BatchError },
    #[error("`{path}`: {source}")]
    Finish { path: String, source: RewriteError },
    #[error("cannot write `{path}`: {source}")]
    Write { path: String, source: io::Error },
    #[error("cannot read `{path}`: {source}")]
    Read { path: String, source: io::Error },
    /// An option or argument that cannot be meant so.
    #[error("{0}")]
    Usage(String),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl CommandError {
    /// Whether the reader of standard output went away (`| head`), which is no error of anyone's.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
