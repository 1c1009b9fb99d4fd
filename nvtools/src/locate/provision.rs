//! Fetches the pinned packages of ptxas, nvdisasm and cuobjdump, or those of nvcc, from the Python package index.
//!
//! The packages are unpacked into a folder with a name of its own, tried, and then renamed: so the final folder is
//! either absent or complete. A lock file lets one run at a time do this; whoever holds it also removes what an
//! interrupted run has left.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::search::{self, on_path};
use super::{LocateOptions, Origin, identify};
use crate::process;
use crate::scratch::unique_name;

/// The version of every package. Exact claims on registers were recorded with it.
pub const PINNED_VERSION: &str = "13.2.78";

/// Packages that are installed together, into a folder of their own.
pub struct Set {
    /// The folder's name, before the version.
    folder: &'static str,
    /// Each with its version.
    packages: &'static [(&'static str, &'static str)],
    /// What must run afterwards; the first is the one that is looked for.
    programs: &'static [&'static str],
    /// What is said of them before a fetch.
    said: &'static str,
}

/// What reads PTX and cubins.
pub const TOOLS: Set = Set {
    folder: "cuda",
    packages: &[
        ("nvidia-cuda-nvcc", PINNED_VERSION),
        ("nvidia-cuda-nvdisasm", PINNED_VERSION),
        ("nvidia-cuda-cuobjdump", PINNED_VERSION),
    ],
    programs: &["ptxas", "nvdisasm", "cuobjdump"],
    said: "ptxas, nvdisasm and cuobjdump 13.2.78 (48 MB)",
};

/// What compiles CUDA C++: nvcc, the compiler behind it, and the headers that every source includes unasked.
pub const CPLUSPLUS: Set = Set {
    folder: "cuda-cplusplus",
    packages: &[
        ("nvidia-cuda-nvcc", PINNED_VERSION),
        ("nvidia-nvvm", PINNED_VERSION),
        ("nvidia-cuda-crt", PINNED_VERSION),
        ("nvidia-cuda-runtime", "13.2.75"),
    ],
    programs: &["nvcc"],
    said: "nvcc 13.2.78 with its compiler and headers (110 MB)",
};

/// Where the packages keep their programs. CUDA 13's packages share this folder.
pub const PACKAGE_BIN: &str = "nvidia/cu13/bin";

/// Begins the names of folders that a fetch is unpacking into.
const UNFINISHED: &str = ".fetching-";

/// Why the pinned packages are not there.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("the pinned packages are not in the toolchain folder, and --no-provision forbids to fetch them")]
    NotAllowed,
    #[error("NVIDIA publishes no packages of its tools for {system} on {architecture}")]
    NotShipped { system: &'static str, architecture: &'static str },
    #[error("fetching NVIDIA's tools needs python3 with pip, or uv, and neither is on PATH")]
    NoPython,
    #[error("fetching NVIDIA's tools needs pip, but {} has none, and uv is not on PATH", python.display())]
    NoPip { python: PathBuf },
    #[error("fetching NVIDIA's tools with `{command}` failed: {detail}")]
    Failed { command: String, detail: String },
    #[error("fetching NVIDIA's tools took more than {} s", .limit.as_secs_f32())]
    TimedOut { limit: Duration },
    #[error("another run has been fetching NVIDIA's tools for more than {} s (it holds {})", .limit.as_secs_f32(), lock.display())]
    Locked { lock: PathBuf, limit: Duration },
    #[error("the fetched tools do not work: {0}")]
    Unusable(String),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The folder with a set's pinned programs; fetches them first where they are missing.
pub fn pinned(options: &LocateOptions, set: &Set) -> Result<PathBuf, FetchError> {
    let home = options.toolchain_dir.join(format!("{}-{PINNED_VERSION}", set.folder));
    let bin = home.join(PACKAGE_BIN);
    let is_there = || set.programs.first().is_some_and(|name| search::program(&bin, name).is_some());
    if is_there() {
        return Ok(bin);
    }
    if !options.provision {
        return Err(FetchError::NotAllowed);
    }
    refuse_unknown_systems()?;
    let deadline = Instant::now() + options.fetch_limit;
    fs::create_dir_all(options.toolchain_dir).map_err(io_error(options.toolchain_dir))?;
    let _lock = lock(options, deadline)?;
    if is_there() {
        return Ok(bin);
    }
    remove_unfinished(options.toolchain_dir)?;
    let unfinished = options.toolchain_dir.join(unique_name(UNFINISHED));
    let result = fetch(options, set, &unfinished, deadline).and_then(|()| {
        // A folder without the program is no installation, whoever made it.
        let _ = fs::remove_dir_all(&home);
        fs::rename(&unfinished, &home).map_err(io_error(&home))
    });
    if result.is_err() {
        // What stays behind is removed by the next run.
        let _ = fs::remove_dir_all(&unfinished);
    }
    result.map(|()| bin)
}

fn refuse_unknown_systems() -> Result<(), FetchError> {
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    match (system, architecture) {
        ("linux", "x86_64" | "aarch64") | ("windows", "x86_64") => Ok(()),
        _ => Err(FetchError::NotShipped { system, architecture }),
    }
}

/// Waits for the lock; it is free again when the file is dropped.
fn lock(options: &LocateOptions, deadline: Instant) -> Result<File, FetchError> {
    let path = options.toolchain_dir.join(".lock");
    let file = File::create(&path).map_err(io_error(&path))?;
    let mut said = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(FetchError::Io { path, source }),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(FetchError::Locked { lock: path, limit: options.fetch_limit });
            }
            Err(TryLockError::WouldBlock) => {
                if !said {
                    (options.say)("waiting for another run that is fetching NVIDIA's tools");
                }
                said = true;
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Removes what interrupted runs left; the caller holds the lock, so nobody is writing there.
fn remove_unfinished(folder: &Path) -> Result<(), FetchError> {
    for entry in folder.read_dir().map_err(io_error(folder))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path()).map_err(io_error(&entry.path()))?;
        }
    }
    Ok(())
}

fn fetch(options: &LocateOptions, set: &Set, into: &Path, deadline: Instant) -> Result<(), FetchError> {
    let mut command = installer(options)?;
    command.args(["install", "--quiet", "--no-deps", "--target"]).arg(into);
    command.args(set.packages.iter().map(|(package, version)| format!("{package}=={version}")));
    (options.say)(&format!(
        "fetching {} into {}; they come under NVIDIA's licence, the CUDA Toolkit End User License Agreement",
        set.said,
        options.toolchain_dir.display()
    ));
    let limit = deadline.saturating_duration_since(Instant::now());
    let output = process::run(&mut command, limit).map_err(|error| match error {
        process::ProcessError::TimedOut { .. } => FetchError::TimedOut { limit: options.fetch_limit },
        error => FetchError::Failed { command: written(&command), detail: error.to_string() },
    })?;
    if !output.status.success() {
        return Err(FetchError::Failed { command: written(&command), detail: output.last_line() });
    }
    for &name in set.programs {
        let path = into.join(PACKAGE_BIN).join(search::file_name(name));
        identify(name, path, Origin::Pinned).map_err(|error| FetchError::Unusable(error.to_string()))?;
    }
    Ok(())
}

/// pip of the first Python that has it, else uv; with settings that keep it from asking, hanging or chatting.
fn installer(options: &LocateOptions) -> Result<Command, FetchError> {
    const LIMIT: Duration = Duration::from_secs(30);
    let mut without_pip = None;
    for python in ["python3", "python"].iter().filter_map(|name| on_path(name, &options.environment)) {
        let pip = process::run(Command::new(&python).args(["-m", "pip", "--version"]), LIMIT);
        if pip.is_ok_and(|output| output.status.success()) {
            let mut command = Command::new(python);
            command.args(["-m", "pip", "--timeout", "15", "--retries", "2"]);
            command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1");
            command.env("PIP_ROOT_USER_ACTION", "ignore");
            return Ok(command);
        }
        without_pip.get_or_insert(python);
    }
    if let Some(uv) = on_path("uv", &options.environment) {
        let mut command = Command::new(uv);
        command.arg("pip");
        return Ok(command);
    }
    Err(without_pip.map_or(FetchError::NoPython, |python| FetchError::NoPip { python }))
}

/// A command as one would type it.
fn written(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let path = path.to_owned();
    |source| FetchError::Io { path, source }
}
