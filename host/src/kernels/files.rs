//! Where the kernels' PTX is found, and what it says of its making.
//!
//! `WARPWISE_KERNELS` names the folder; else `kernels/` beside the executable (a bundle); else `warpwise/kernels` in the target
//! folder that the executable was built into, or in the `target` of a folder above the working directory (a checkout).

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::folders;

const PTX: &str = "kernels.ptx";
const FACTS: &str = "kernels.json";
/// The crate of the labs' kernels.
const OURS: &str = "warpwise-kernels";
const IN_CHECKOUT: &str = "target/warpwise/kernels";

#[derive(Debug, thiserror::Error)]
pub enum KernelFilesError {
    #[error(
        "no kernels: there is no {PTX} in {}\nbuild them with `cargo xtask labs`, or name their folder in WARPWISE_KERNELS",
        .looked_in.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<_>>().join(", ")
    )]
    NotFound { looked_in: Vec<PathBuf> },
    #[error("cannot read `{path}`: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "`{path}` is not what the kernels' build writes: {source}\nbuild the kernels again with `cargo xtask labs`"
    )]
    Facts { path: PathBuf, source: serde_json::Error },
    #[error(
        "`{command}` stands on Warpwise's own kernels, and these are of the crate `{package}`\n\
         leave --crate out; with it go list, regs, sweep, watch, diff, ptx, sass and run"
    )]
    NotOurs { command: &'static str, package: String },
}

/// The compiled kernels.
#[derive(Clone, Debug)]
pub struct KernelFiles {
    pub folder: PathBuf,
    pub ptx_path: PathBuf,
    pub ptx: String,
    pub facts: KernelFacts,
}

/// How the PTX was made; everything unknown where the build left no word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct KernelFacts {
    /// The crate that they are from.
    #[serde(rename = "crate")]
    pub package: Option<String>,
    pub rustc: Option<String>,
    pub llvm: Option<String>,
    /// Of the kernels in CUDA C++ beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvcc: Option<String>,
    /// Of those by rust-cuda beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvvm: Option<String>,
    /// Kernels that rust-cuda's text does not have as they are now, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nvvm_changed: BTreeMap<String, String>,
    /// Path of the compiler.
    pub compiler: Option<String>,
    pub core_source: Option<String>,
    pub source_hash: Option<String>,
    /// Path and hash of each source of ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Source paths in the PTX are relative to it.
    pub source_root: Option<PathBuf>,
}

impl KernelFacts {
    /// Whether `--codegen nvvm` built them.
    pub fn are_by_rust_cuda(&self) -> bool {
        self.rustc.as_deref().is_some_and(|rustc| rustc.contains("rust-cuda"))
    }

    /// As JSON, without what is true on this computer only.
    pub fn without_paths(&self) -> std::io::Result<String> {
        let facts = Self { compiler: None, core_source: None, source_root: None, ..self.clone() };
        Ok(serde_json::to_string_pretty(&facts)?)
    }
}

impl KernelFiles {
    /// Finds and reads the kernels.
    pub fn open() -> Result<Self, KernelFilesError> {
        let candidates = candidates();
        match candidates.iter().find(|folder| folder.join(PTX).is_file()) {
            Some(folder) => Self::read(folder),
            None => Err(KernelFilesError::NotFound { looked_in: candidates }),
        }
    }

    /// Kernels of a text of the user's.
    pub fn of_text(path: &Path, ptx: &str) -> Self {
        let facts = KernelFacts { package: Some(path.display().to_string()), ..KernelFacts::default() };
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Self { folder, ptx_path: path.to_owned(), ptx: ptx.to_owned(), facts }
    }

    /// Whether they are the labs' kernels, not those of a user's crate.
    pub fn are_ours(&self) -> bool {
        self.facts.package.as_deref().is_none_or(|package| package == OURS)
    }

    /// For a command that stands on the labs' kernels.
    ///
    /// # Errors
    /// If they are those of a user's crate.
    pub fn require_ours(&self, command: &'static str) -> Result<(), KernelFilesError> {
        match &self.facts.package {
            Some(package) if !self.are_ours() => Err(KernelFilesError::NotOurs { command, package: package.clone() }),
            _ => Ok(()),
        }
    }

    /// Reads the kernels of one folder.
    pub fn read(folder: &Path) -> Result<Self, KernelFilesError> {
        let ptx_path = folder.join(PTX);
        let ptx = std::fs::read_to_string(&ptx_path)
            .map_err(|source| KernelFilesError::Unreadable { path: ptx_path.clone(), source })?;
        let facts_path = folder.join(FACTS);
        let facts = match std::fs::read_to_string(&facts_path) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|source| KernelFilesError::Facts { path: facts_path, source })?
            }
            Err(_) => KernelFacts::default(),
        };
        Ok(Self { folder: folder.to_owned(), ptx_path, ptx, facts })
    }
}

/// Folders to look in, the first that has the PTX wins. A folder that was named is the only candidate.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("WARPWISE_KERNELS").filter(|value| !value.is_empty()) {
        return vec![named.into()];
    }
    let executable = env::current_exe().ok();
    let beside = executable.as_deref().and_then(Path::parent).map(|folder| folder.join("kernels"));
    let in_target = folders::cargo_target(None).map(|target| target.join("warpwise").join("kernels"));
    let working = env::current_dir().unwrap_or_default();
    let checkout = working.ancestors().map(|folder| folder.join(IN_CHECKOUT)).find(|folder| folder.is_dir());
    let mut candidates: Vec<PathBuf> = beside.into_iter().chain(in_target).chain(checkout).collect();
    candidates.dedup();
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_with_more_or_fewer_fields_are_read() {
        let facts: KernelFacts = serde_json::from_str(r#"{"rustc": "1.96.0", "flags": ["-O"]}"#).expect("a valid file");
        assert_eq!(facts.rustc.as_deref(), Some("1.96.0"));
        assert_eq!(facts.llvm, None);
    }

    #[test]
    fn kernels_of_a_users_crate_are_told_from_ours() {
        let files = |package: Option<&str>| KernelFiles {
            folder: PathBuf::new(),
            ptx_path: PathBuf::new(),
            ptx: String::new(),
            facts: KernelFacts { package: package.map(str::to_owned), ..KernelFacts::default() },
        };
        assert!(files(None).require_ours("labs").is_ok() && files(Some(OURS)).require_ours("labs").is_ok());
        let error = files(Some("mine")).require_ours("labs").expect_err("not ours");
        assert_eq!(
            error.to_string(),
            "`labs` stands on Warpwise's own kernels, and these are of the crate `mine`\n\
             leave --crate out; with it go list, regs, sweep, watch, diff, ptx, sass and run"
        );
    }

    #[test]
    fn kernels_that_are_not_there_say_where_they_were_looked_for_and_what_to_do() {
        let error = KernelFilesError::NotFound { looked_in: vec!["/a".into(), "/b".into()] };
        assert_eq!(
            error.to_string(),
            "no kernels: there is no kernels.ptx in `/a`, `/b`\n\
             build them with `cargo xtask labs`, or name their folder in WARPWISE_KERNELS"
        );
    }
}
