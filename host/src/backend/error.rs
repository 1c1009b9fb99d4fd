//! What a backend can answer instead of doing what it was asked.

use std::fmt;
use std::sync::Arc;

use crate::suggest::UnknownName;

/// An error of the context or of a call. Only [`GpuError::Fault`] and [`GpuError::Poisoned`] make the context unusable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// The launch's shape or arguments cannot run on this device. Nothing ran; the context is as before.
    #[error("the launch of `{kernel}` was refused: {reason}")]
    Refused { kernel: String, reason: String },
    /// A kernel faulted, seen for the first time.
    #[error("{0}")]
    Fault(Arc<KernelFault>),
    /// A call on a context in which a kernel faulted earlier.
    #[error("the context refuses work since an earlier fault: {0}")]
    Poisoned(Arc<KernelFault>),
    #[error(transparent)]
    UnknownKernel(#[from] UnknownName),
    /// The code of a kernel, or of the whole module, is not one that the backend can run.
    #[error("{0}")]
    Load(String),
    /// An address that is no allocation.
    #[error("{0}")]
    Memory(String),
    #[error("{0}")]
    OutOfMemory(String),
    /// There is no driver to ask for GPUs.
    #[error("{0}")]
    NoDriver(String),
    /// There is a driver, but no GPU that can be used: too old, none listed, lost, or code that it does not take.
    #[error("{0}")]
    Unusable(String),
    #[error("{given} values do not fit a buffer of {capacity}; allocate a larger one")]
    TooLong { given: usize, capacity: usize },
    #[error("there is no time between the two events: {0}")]
    NoTime(&'static str),
    #[error("only the machine can be watched instruction by instruction; run this with `--backend sim`")]
    Unwatched,
    #[error("the report of this launch was fetched before, or the launch was another context's")]
    NoReport,
    /// The backend itself is gone; its own message came first.
    #[error("the backend has stopped; start again with a new context")]
    Stopped,
}

impl GpuError {
    /// Whether the computer is at fault and not the kernel or its caller: a run that meets it has nothing to judge.
    pub fn is_of_the_device(&self) -> bool {
        matches!(self, Self::OutOfMemory(_) | Self::NoDriver(_) | Self::Unusable(_))
    }
}

/// A fault inside a kernel. A GPU tells no more than the kind; the machine tells everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelFault {
    /// One word or two: `out of bounds`, `misaligned`, `trap`.
    pub kind: String,
    /// The whole sentence.
    pub message: String,
    pub kernel: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
    pub address: Option<u64>,
    /// The allocation that was missed or meant, in words.
    pub allocation: Option<String>,
    /// The other thread, where the fault takes two.
    pub other: Option<OtherThread>,
}

/// A second thread in a fault.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherThread {
    /// What it did: `wrote it`.
    pub doing: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
