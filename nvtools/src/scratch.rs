//! Folders and files with names of their own, gone when no longer needed.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A name that nobody else uses: std's random hash keys are all the randomness that this takes.
pub fn unique_name(prefix: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let random = RandomState::new().build_hasher().finish();
    format!("{prefix}{}-{}-{random:016x}", process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// A temporary folder; removed when dropped.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a folder in the system's temporary folder.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(unique_name(prefix));
        fs::create_dir(&path)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which empties its temporary folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Writes a file so that a reader sees either nothing, or what was there before, or all of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = folder.join(unique_name(".new-"));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing more can be done about a file that can neither be renamed nor removed.
        let _ = fs::remove_file(&temporary);
    }
    written
}
