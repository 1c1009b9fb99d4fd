//! What is packed into a fatbin, or into an object or program that holds one: cubins by architecture, and PTX.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::locate::Tool;
use crate::process::{self, ProcessError};
use crate::scratch::Scratch;

/// The most time that one cuobjdump may take; it takes well under a second.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Why nothing was unpacked.
#[derive(Debug, thiserror::Error)]
pub enum CuobjdumpError {
    #[error("cuobjdump ({}) finds neither cubins nor PTX in it", path.display())]
    Nothing { path: PathBuf },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the files that cuobjdump works on: {0}")]
    Io(#[from] io::Error),
}

/// The parts, in the order of the file; each with its architecture, such as `sm_80`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked {
    pub cubins: Vec<(String, Vec<u8>)>,
    pub ptx: Vec<(String, String)>,
}

/// Unpacks a fatbin, or whatever else cuobjdump reads.
///
/// # Errors
/// If there is nothing in it, or cuobjdump does not run.
pub fn unpack(cuobjdump: &Tool, bytes: &[u8]) -> Result<Unpacked, CuobjdumpError> {
    let scratch = Scratch::new("warpwise-cuobjdump-")?;
    let folder = scratch.path();
    fs::write(folder.join("code"), bytes)?;
    for kind in ["--extract-elf", "--extract-ptx"] {
        let mut command = Command::new(&cuobjdump.path);
        command.args([kind, "all", "code"]).current_dir(folder);
        // It fails where a file has none of that kind, which is no error as long as there is something of the other.
        process::run(&mut command, LIMIT)?;
    }
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut unpacked = Unpacked::default();
    for file in files {
        // `code.1.sm_80.cubin`
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { continue };
        let arch = name.split('.').find(|part| part.starts_with("sm_")).unwrap_or_default().to_owned();
        match name.rsplit('.').next() {
            Some("cubin") => unpacked.cubins.push((arch, fs::read(&file)?)),
            Some("ptx") => unpacked.ptx.push((arch, String::from_utf8_lossy(&fs::read(&file)?).into_owned())),
            _ => {}
        }
    }
    match unpacked == Unpacked::default() {
        true => Err(CuobjdumpError::Nothing { path: cuobjdump.path.clone() }),
        false => Ok(unpacked),
    }
}
