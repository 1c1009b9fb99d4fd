//! A file of the user's: PTX, a cubin, a fatbin, or a program that holds one.

use std::path::Path;

use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::sass::Cubin;

use crate::kernels::{Sass, SassUnusable};
use crate::suggest::UnknownName;
use crate::toolbox::{Target, ToolError, Toolbox};

/// Why a file's code cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum UserCodeError {
    #[error("cannot read `{path}`: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("`{path}`: {source}")]
    Tool { path: String, source: ToolError },
    #[error("`{path}`: {source}")]
    Sass { path: String, source: SassUnusable },
    #[error("`{path}` has code for {}, none for {arch}, and no PTX to compile for it", .known.join(", "))]
    NoArch { path: String, arch: String, known: Vec<String> },
    #[error("`{path}` has no kernels")]
    Empty { path: String },
    #[error("`{path}` has {} kernels; choose one with --entry: {}", .known.len(), .known.join(", "))]
    Several { path: String, known: Vec<String> },
    #[error("`{path}` has cubins only, no PTX")]
    NoPtx { path: String },
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

/// What is in the file.
#[derive(Debug)]
pub struct UserCode {
    path: String,
    /// By architecture.
    cubins: Vec<(String, Vec<u8>)>,
    ptx: Option<String>,
}

impl UserCode {
    /// Whether a word names a file rather than a kernel that was built.
    pub fn is_meant(word: &str) -> bool {
        word.ends_with(".ptx") || word.ends_with(".cubin") || word.ends_with(".fatbin") || Path::new(word).is_file()
    }

    /// Reads a file; what it is shows in its first bytes.
    ///
    /// # Errors
    /// If it cannot be read, or holds no code.
    pub fn read(path: &str, tools: &Toolbox) -> Result<Self, UserCodeError> {
        let bytes = std::fs::read(path).map_err(|source| UserCodeError::Read { path: path.to_owned(), source })?;
        let is_elf = bytes.starts_with(b"\x7fELF");
        if let Some(cubin) =
            is_elf.then(|| Cubin::parse(&bytes).ok()).flatten().filter(|cubin| !cubin.entries().is_empty())
        {
            let arch = cubin.entries().first().map_or(0, |entry| entry.arch);
            return Ok(Self { path: path.to_owned(), cubins: vec![(format!("sm_{arch}"), bytes)], ptx: None });
        }
        match std::str::from_utf8(&bytes) {
            _ if is_elf || path.ends_with(".fatbin") || path.ends_with(".cubin") => {}
            Ok(text) => return Ok(Self { path: path.to_owned(), cubins: Vec::new(), ptx: Some(text.to_owned()) }),
            // Comments of old files.
            Err(_) if path.ends_with(".ptx") => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                return Ok(Self { path: path.to_owned(), cubins: Vec::new(), ptx: Some(text) });
            }
            Err(_) => {}
        }
        let unpacked = tools.unpack(&bytes).map_err(|source| UserCodeError::Tool { path: path.to_owned(), source })?;
        let ptx = unpacked.ptx.into_iter().next().map(|(_, text)| text);
        Ok(Self { path: path.to_owned(), cubins: unpacked.cubins, ptx })
    }

    /// The PTX.
    ///
    /// # Errors
    /// If there is none.
    pub fn ptx(&self) -> Result<&str, UserCodeError> {
        self.ptx.as_deref().ok_or_else(|| UserCodeError::NoPtx { path: self.path.clone() })
    }

    /// Architectures of the cubins in it.
    pub fn archs(&self) -> Vec<String> {
        self.cubins.iter().map(|(arch, _)| arch.clone()).collect()
    }

    /// The cubin for an architecture: the file's own, else what ptxas makes of the file's PTX.
    ///
    /// # Errors
    /// If there is neither, or ptxas refuses it.
    pub fn cubin(&self, arch: &str, tools: &Toolbox) -> Result<Vec<u8>, UserCodeError> {
        let own = self.cubins.iter().find(|(known, _)| known == arch);
        match (own, &self.ptx) {
            (Some((_, cubin)), _) => Ok(cubin.clone()),
            (None, Some(ptx)) => match tools.compile(ptx, &Target::arch(arch)) {
                Ok(compiled) => Ok(compiled.cubin.clone()),
                Err(source) => Err(UserCodeError::Tool { path: self.path.clone(), source }),
            },
            (None, None) => {
                Err(UserCodeError::NoArch { path: self.path.clone(), arch: arch.to_owned(), known: self.archs() })
            }
        }
    }

    /// The cubin for an architecture with its disassembly.
    ///
    /// # Errors
    /// As [`UserCode::cubin`], or if nvdisasm is missing or refuses it.
    pub fn sass(&self, arch: &str, tools: &Toolbox) -> Result<Sass, UserCodeError> {
        let cubin = self.cubin(arch, tools)?;
        let listing = tools.disassemble(&cubin, ListingOptions::default());
        let listing = listing.map_err(|source| UserCodeError::Tool { path: self.path.clone(), source })?;
        Sass::new(&cubin, listing).map_err(|source| UserCodeError::Sass { path: self.path.clone(), source })
    }

    /// The kernel that is meant: the one named, or the only one.
    ///
    /// # Errors
    /// If there is none of that name, none at all, or several and no name.
    pub fn entry(&self, named: Option<&str>, known: &[String]) -> Result<String, UserCodeError> {
        match (named, known) {
            (Some(name), _) if known.iter().any(|other| other == name) => Ok(name.to_owned()),
            (Some(name), _) => Err(UnknownName::new("kernel", name, known).into()),
            (None, []) => Err(UserCodeError::Empty { path: self.path.clone() }),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(UserCodeError::Several { path: self.path.clone(), known: known.to_vec() }),
        }
    }
}
