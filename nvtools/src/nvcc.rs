//! CUDA C++ to PTX, cached by content like everything else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cache::{self, Cache};
use crate::locate::Tool;
use crate::process::{self, ProcessError};
use crate::scratch::Scratch;

/// The most time that one nvcc may take; a file of kernels takes a second.
pub const LIMIT: Duration = Duration::from_secs(120);

const FORMAT: &str = "nvcc-ptx-1";

/// Why there is no PTX.
#[derive(Debug, thiserror::Error)]
pub enum NvccError {
    #[error("nvcc refuses {file}: {printed}")]
    Refused { file: String, printed: String },
    #[error(
        "nvcc ({}) found no C++ compiler, which reads the source before it: {printed}\ninstall g++ (Debian: apt-get install g++)",
        path.display()
    )]
    NoHostCompiler { path: PathBuf, printed: String },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the files that nvcc works on: {0}")]
    Io(#[from] io::Error),
}

/// Compiles one file for a virtual architecture (`compute_80`) at nvcc's usual settings: optimised, products and sums fused.
/// `file` is its name in messages; it includes CUDA's own headers only.
///
/// # Errors
/// What nvcc printed where it made no PTX.
pub fn compile(
    nvcc: &Tool,
    cache_dir: Option<&Path>,
    file: &str,
    source: &str,
    arch: &str,
) -> Result<String, NvccError> {
    let arguments = ["-ptx".to_owned(), format!("-arch={arch}"), file.to_owned()];
    let cache = cache_dir.map(Cache::new);
    let key = cache::key(FORMAT, &nvcc.banner, &arguments, source.as_bytes());
    let known = cache.as_ref().and_then(|cache| cache.get(&key)).and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(ptx) = known {
        return Ok(ptx);
    }
    let scratch = Scratch::new("warpwise-nvcc-")?;
    fs::write(scratch.path().join(file), source)?;
    let mut command = Command::new(&nvcc.path);
    // A relative name keeps the temporary folder out of what nvcc prints.
    command.args(&arguments).args(["-o", "kernels.ptx"]).current_dir(scratch.path());
    let output = process::run(&mut command, LIMIT)?;
    if !output.status.success() {
        let printed = format!("{}{}", output.stdout, output.stderr).trim().to_owned();
        let no_compiler = ["not found", "No such file", "Failed to preprocess host compiler"];
        return Err(match no_compiler.iter().any(|words| printed.contains(words)) && !printed.contains("error:") {
            true => NvccError::NoHostCompiler { path: nvcc.path.clone(), printed },
            false => NvccError::Refused { file: file.to_owned(), printed },
        });
    }
    let ptx = fs::read_to_string(scratch.path().join("kernels.ptx"))?;
    if let Some(cache) = &cache {
        cache.put(&key, ptx.as_bytes());
    }
    Ok(ptx)
}
