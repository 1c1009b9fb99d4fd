//! Kernels of the labs in CUDA C++, and one text of PTX with both languages' versions.
//!
//! Beside them stand the kernels as rust-cuda made them, from a text that comes with the program. In one text they are compiled by the same ptxas with the same options, loaded together, and launched in turn. A bundle has that text
//! with it, so that a GPU machine needs no nvcc.

use std::path::{Path, PathBuf};

use warpwise_simt::rewrite::{RewriteError, beside};

use crate::kernels::{KernelFiles, KernelFilesError};
use crate::rust_cuda::Made;
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

/// Compiles the peers, and puts them beside the kernels, with those of rust-cuda that are of the same sources.
///
/// # Errors
/// There is no nvcc, or it refuses a source.
pub fn make(kernels: &KernelFiles, tools: &Toolbox, entries: &[&str]) -> Result<KernelFiles, PeersError> {
    let (nvcc, texts) = tools.compile_cplusplus(&SOURCES, ARCH)?;
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut made = kernels.clone();
    let by_rust_cuda = by_rust_cuda(kernels, &mut made, entries)?;
    texts.extend(by_rust_cuda.as_deref());
    made.ptx = beside(&kernels.ptx, entries, &texts)?;
    made.ptx_path = kernels.folder.join(FOLDER).join("kernels.ptx");
    made.facts.nvcc = Some(nvcc);
    Ok(made)
}

/// rust-cuda's, unless the kernels themselves are.
fn by_rust_cuda(
    kernels: &KernelFiles,
    made: &mut KernelFiles,
    entries: &[&str],
) -> Result<Option<String>, RewriteError> {
    if kernels.facts.are_by_rust_cuda() {
        return Ok(None);
    }
    let kept = Made::kept();
    let changed = kept.changed(kernels, entries)?;
    let unchanged: Vec<&str> = entries.iter().copied().filter(|entry| !changed.contains_key(*entry)).collect();
    let text = kept.text(&unchanged)?;
    made.facts.nvvm = Some(kept.description());
    made.facts.nvvm_changed = changed;
    Ok(Some(text))
}

fn packed(kernels: &Path) -> Option<PathBuf> {
    Some(kernels.join(FOLDER)).filter(|folder| folder.is_dir())
}
