//! Kernels of the labs in CUDA C++, and one text of PTX with both languages' versions.
//!
//! In one text they are compiled by the same ptxas with the same options, loaded together, and launched in turn. A bundle has that text
//! with it, so that a GPU machine needs no nvcc.

use std::path::{Path, PathBuf};

use warpwise_simt::rewrite::{RewriteError, beside};

use crate::kernels::{KernelFiles, KernelFilesError};
use crate::toolbox::{ToolError, Toolbox};

/// The folder beside the kernels' PTX, in a bundle.
pub const FOLDER: &str = "peers";

/// What ends the name of an entry in C++: `vecadd_cpp` is the peer of `vecadd`.
pub const SUFFIX: &str = "_cpp";

/// The architecture that the kernels in Rust are compiled for, too.
const ARCH: &str = "compute_80";

/// File names and texts.
pub const SOURCES: [(&str, &str); 8] = [
    ("vecadd.cu", include_str!("../../tests/peers/vecadd.cu")),
    ("access.cu", include_str!("../../tests/peers/access.cu")),
    ("stencil.cu", include_str!("../../tests/peers/stencil.cu")),
    ("reduce.cu", include_str!("../../tests/peers/reduce.cu")),
    ("matmul.cu", include_str!("../../tests/peers/matmul.cu")),
    ("transpose.cu", include_str!("../../tests/peers/transpose.cu")),
    ("compute.cu", include_str!("../../tests/peers/compute.cu")),
    ("msda.cu", include_str!("../../tests/peers/msda.cu")),
];

/// Why there is no such text.
#[derive(Debug, thiserror::Error)]
pub enum PeersError {
    #[error(transparent)]
    Files(#[from] KernelFilesError),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("the kernels' PTX: {0}")]
    Rewrite(#[from] RewriteError),
}

/// Name of the peer of a kernel.
pub fn peer(kernel: &str) -> String {
    format!("{kernel}{SUFFIX}")
}

/// The text of these kernels and their peers: a bundle's own, else made with nvcc.
pub fn open(kernels: &KernelFiles, tools: &Toolbox, entries: &[&str]) -> Result<KernelFiles, PeersError> {
    match packed(&kernels.folder) {
        Some(folder) => Ok(KernelFiles::read(&folder)?),
        None => make(kernels, tools, entries),
    }
}

/// Compiles the peers, and puts them beside the kernels.
///
/// # Errors
/// There is no nvcc, or it refuses a source.
pub fn make(kernels: &KernelFiles, tools: &Toolbox, entries: &[&str]) -> Result<KernelFiles, PeersError> {
    let (nvcc, texts) = tools.compile_cplusplus(&SOURCES, ARCH)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut made = kernels.clone();
    made.ptx = beside(&kernels.ptx, entries, &texts)?;
    made.ptx_path = kernels.folder.join(FOLDER).join("kernels.ptx");
    made.facts.nvcc = Some(nvcc);
    Ok(made)
}

fn packed(kernels: &Path) -> Option<PathBuf> {
    Some(kernels.join(FOLDER)).filter(|folder| folder.is_dir())
}
