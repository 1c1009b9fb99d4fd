//! What the choice of a compiler and its installation ask of the machine, so that tests can answer instead.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

pub trait System: Sync {
    /// An environment variable, if it is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;
    /// Whether a file or folder exists.
    fn exists(&self, path: &Path) -> bool;
    /// Whether a folder has an entry with this in its name.
    fn has_entry(&self, folder: &Path, part: &str) -> bool;
    /// What a program prints to its standard output, if it starts and succeeds.
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String>;
    /// Whether this process may install packages for the whole machine.
    fn is_root(&self) -> bool;
}

/// The machine itself.
pub struct Machine;

impl System for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn has_entry(&self, folder: &Path, part: &str) -> bool {
        let Ok(entries) = folder.read_dir() else { return false };
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().contains(part))
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[cfg(target_os = "linux")]
    fn is_root(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_root(&self) -> bool {
        false
    }
}

/// A machine made up for a test.
#[cfg(test)]
#[derive(Default)]
pub struct Fake {
    pub variables: Vec<(&'static str, &'static str)>,
    pub paths: Vec<&'static str>,
    /// Command line, and what it prints.
    pub outputs: Vec<(String, String)>,
    pub root: bool,
}

#[cfg(test)]
impl System for Fake {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn exists(&self, path: &Path) -> bool {
        self.paths.iter().any(|known| Path::new(known) == path)
    }

    fn has_entry(&self, folder: &Path, part: &str) -> bool {
        self.paths.iter().any(|known| Path::new(known).parent() == Some(folder) && known.contains(part))
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let line = [&[program], arguments].concat().join(" ");
        self.outputs.iter().find(|(known, _)| *known == line).map(|(_, output)| output.clone())
    }

    fn is_root(&self) -> bool {
        self.root
    }
}
