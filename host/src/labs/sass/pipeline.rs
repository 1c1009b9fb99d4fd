//! From Rust to SASS in files: PTX for a virtual architecture, a cubin for a real one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ARCH, SECTION};
use crate::claim::{Claim, equal, holds};
use crate::lab::{LabContext, LabError, Table};
use crate::toolbox::{Target, ToolError};
use crate::workbench::WorkbenchError;

/// Architectures that cubins are written for: the oldest that the PTX is for, a server part's, the chapter's.
const CUBINS: [&str; 3] = ["sm_80", "sm_90", ARCH];

pub fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "ptx_file",
            SECTION,
            "the first compiler leaves PTX, a text, on disk",
            holds("the file has the entries"),
        ),
        Claim::new("virtual", SECTION, "it is for a virtual architecture, sm_80", equal("sm_80"))
            .note("its .target line"),
        Claim::new(
            "cubin_files",
            SECTION,
            "the second leaves a cubin for each real architecture",
            holds("each is an ELF file"),
        ),
        Claim::new("real", SECTION, "each is for its architecture alone", holds("each names its own"))
            .note("the architecture that its notes name"),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let bench = cx.bench();
    let ptx_path = bench.kernels.ptx_path.clone();
    let mut table = Table::new("the pipeline on disk", ["file", "what it is", "for", "bytes"]);
    let ptx = fs::read_to_string(&ptx_path).map_err(|error| cannot("read", &ptx_path, &error))?;
    let virtual_arch = ptx.lines().find_map(|line| line.strip_prefix(".target ")).map(|arch| arch.trim().to_owned());
    let virtual_arch = virtual_arch.unwrap_or_else(|| "no .target line".to_owned());
    table.row([shown(&ptx_path), "PTX, text".into(), virtual_arch.as_str().into(), ptx.len().into()]);
    let entry = ptx.contains(".entry branch_paths");
    cx.holds("ptx_file", entry, format!("{} has no entry branch_paths", ptx_path.display()));
    cx.found("virtual", virtual_arch);

    let mut real = Vec::new();
    for arch in CUBINS {
        let compiled = match bench.tools.compile(&bench.kernels.ptx, &Target::arch(arch)) {
            Err(ToolError::Missing(_)) => {
                for claim in ["cubin_files", "real"] {
                    cx.not_run(claim, crate::labs::code::NO_TOOLS);
                }
                cx.table(table);
                return Ok(());
            }
            other => other.map_err(WorkbenchError::from)?,
        };
        let path = bench.kernels.folder.join(format!("kernels.{arch}.cubin"));
        write(&path, &compiled.cubin).map_err(|error| cannot("write", &path, &error))?;
        let cubin = fs::read(&path).map_err(|error| cannot("read", &path, &error))?;
        table.row([shown(&path), "cubin, ELF".into(), arch.into(), cubin.len().into()]);
        real.push((arch, cubin));
    }
    cx.table(table);
    let not_elf = real.iter().find(|(_, cubin)| !cubin.starts_with(b"\x7fELF"));
    cx.holds(
        "cubin_files",
        not_elf.is_none(),
        not_elf.map_or(String::new(), |(arch, _)| format!("{arch}: no ELF file")),
    );
    let wrong = real.iter().find(|(arch, cubin)| architecture(cubin).as_deref() != Some(arch));
    let otherwise = wrong.map(|(arch, cubin)| format!("the cubin for {arch} names {:?}", architecture(cubin)));
    cx.holds("real", otherwise.is_none(), otherwise.unwrap_or_default());
    Ok(())
}

/// Writes the file if it is not there with these contents. A reader never sees half of one: it is renamed into place.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let scratch = PathBuf::from(format!("{}.{}", path.display(), std::process::id()));
    fs::write(&scratch, bytes)?;
    fs::rename(&scratch, path)
}

/// The real architecture in a cubin's ELF header: bits 8 to 15 of `e_flags`, at offset 48 (`EF_CUDA_SM` of the second ABI version
/// in LLVM's BinaryFormat/ELF.h).
fn architecture(cubin: &[u8]) -> Option<String> {
    let flags: [u8; 4] = cubin.get(48..52)?.try_into().ok()?;
    Some(format!("sm_{}", flags[1]))
}

/// The path below the folder that has the project's files, as a reader of the report would type it.
fn shown(path: &Path) -> crate::claim::Value {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| path.to_owned()).display().to_string().into()
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> LabError {
    LabError::Other(format!("cannot {verb} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_read_from_the_elf_header() {
        let mut header = vec![0; 64];
        header[48..52].copy_from_slice(&0x0900_7802_u32.to_le_bytes());
        assert_eq!(architecture(&header).as_deref(), Some("sm_120"));
        assert_eq!(architecture(&header[..50]), None);
    }
}
