//! Where things are: the checkout, its target folder, and what this program keeps there.

use crate::error::{Error, Result};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Workspace {
    /// The checkout's root.
    pub root: PathBuf,
    /// Cargo's target folder, wherever the user's configuration puts it.
    pub target: PathBuf,
    /// This program's executable.
    pub own_executable: PathBuf,
    /// The cargo that started this program.
    pub cargo: OsString,
}

impl Workspace {
    pub fn locate() -> Result<Self> {
        let own_executable =
            env::current_exe().map_err(|error| Error::new(format!("cannot find this program: {error}")))?;
        // Cargo puts the executable into TARGET/debug, so that no configuration needs to be read.
        let target = own_executable.ancestors().nth(2).map(Path::to_owned);
        let target = target
            .ok_or_else(|| Error::new("start this program with `cargo xtask`, so that it finds the target folder"))?;
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest.parent().unwrap_or(&manifest).to_owned();
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root, target, own_executable, cargo })
    }

    /// What this program makes and remembers.
    pub fn own_folder(&self) -> PathBuf {
        self.target.join("warpwise")
    }

    /// The device build's own target folder: its flags differ from the host's, and so do its locks.
    pub fn device_target(&self) -> PathBuf {
        self.target.join("device")
    }

    /// The program that the user names, which is taken as it is.
    pub fn named_program() -> Option<PathBuf> {
        env::var_os("WARPWISE_PROGRAM").map(PathBuf::from)
    }

    /// The program: the one named, else that built with the profile release.
    pub fn program(&self) -> PathBuf {
        if let Some(named) = Self::named_program() {
            return named;
        }
        self.target.join("release").join(format!("warpwise{}", env::consts::EXE_SUFFIX))
    }

    /// Creates a folder with its parents.
    pub fn create(folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|error| Error::file("create the folder", folder, &error))
    }
}
