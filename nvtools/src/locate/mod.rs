//! Where NVIDIA's tools are, and which version they have.
//!
//! In this order: the folder that `WARPWISE_CUDA` names; the pinned packages in the toolchain folder, fetched if need be
//! (`provision`); where that is impossible, `CUDA_PATH`, `CUDA_HOME` and `PATH`. A folder counts if it has ptxas; the
//! other tools are taken from the same folder. ncu is looked for everywhere, since it comes in a package of its own.

mod provision;
mod search;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use provision::{FetchError, PINNED_VERSION};

use crate::process;

/// The environment variables that matter here, so that a test can give its own.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub warpwise_cuda: Option<PathBuf>,
    pub cuda_path: Option<PathBuf>,
    pub cuda_home: Option<PathBuf>,
    pub path: Option<OsString>,
}

impl Environment {
    /// The variables of this process; empty ones count as unset.
    pub fn of_process() -> Self {
        let get = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name| get(name).map(PathBuf::from);
        Self {
            warpwise_cuda: folder("WARPWISE_CUDA"),
            cuda_path: folder("CUDA_PATH"),
            cuda_home: folder("CUDA_HOME"),
            path: get("PATH"),
        }
    }
}

/// How to look for the tools.
pub struct LocateOptions<'a> {
    /// Where the pinned packages are, or will be: `target/toolchain`.
    pub toolchain_dir: &'a Path,
    /// May packages be fetched? `--no-provision` says no; packages that are there already are used all the same.
    pub provision: bool,
    /// The most time a fetch may take, waiting for another run's fetch included.
    pub fetch_limit: Duration,
    pub environment: Environment,
    /// Gets a line of text before each long step.
    pub say: &'a dyn Fn(&str),
}

/// Ten minutes: 48 MB over a slow line.
pub const FETCH_LIMIT: Duration = Duration::from_secs(600);

/// What led to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable that names an installation: `WARPWISE_CUDA`, `CUDA_PATH` or `CUDA_HOME`.
    Variable(&'static str),
    /// The pinned packages in the toolchain folder.
    Pinned,
    /// A folder on `PATH`.
    SearchPath,
    /// One of the folders where Nsight Compute installs itself.
    NsightCompute,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Variable(name) => out.write_str(name),
            Self::Pinned => write!(out, "pinned packages {PINNED_VERSION}"),
            Self::SearchPath => out.write_str("PATH"),
            Self::NsightCompute => out.write_str("Nsight Compute's folder"),
        }
    }
}

/// Nsight Compute's command line on a machine that may have no other of NVIDIA's tools.
pub fn find_ncu(environment: &Environment) -> Option<PathBuf> {
    search::ncu(None, environment)
}

/// One of NVIDIA's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    pub path: PathBuf,
    /// `13.2.78`, from what the program says of itself.
    pub version: String,
    pub origin: Origin,
    /// All that the program prints for `--version`: tells two builds of one version apart.
    pub banner: String,
}

/// NVIDIA's programs on this machine. There is always a ptxas; the rest may be missing.
#[derive(Debug, Clone)]
pub struct Tools {
    ptxas: Tool,
    nvdisasm: Option<Tool>,
    cuobjdump: Option<Tool>,
    ncu: Option<PathBuf>,
    fetch_error: Option<String>,
}

impl Tools {
    pub fn ptxas(&self) -> &Tool {
        &self.ptxas
    }

    pub fn nvdisasm(&self) -> Result<&Tool, MissingTool> {
        self.nvdisasm.as_ref().ok_or_else(|| self.missing("nvdisasm"))
    }

    pub fn cuobjdump(&self) -> Result<&Tool, MissingTool> {
        self.cuobjdump.as_ref().ok_or_else(|| self.missing("cuobjdump"))
    }

    /// Nsight Compute's command line, if it is installed. It is never fetched; see also [`find_ncu`].
    pub fn ncu(&self) -> Option<&Path> {
        self.ncu.as_deref()
    }

    /// Are these the versions that exact claims were recorded with?
    pub fn is_pinned_version(&self) -> bool {
        self.ptxas.version == PINNED_VERSION
    }

    /// Why the pinned packages are not used, where a fetch was tried and failed.
    pub fn fetch_error(&self) -> Option<&str> {
        self.fetch_error.as_deref()
    }

    fn missing(&self, name: &'static str) -> MissingTool {
        let folder = self.ptxas.path.parent().unwrap_or(Path::new("/")).to_owned();
        MissingTool { name, folder, origin: self.ptxas.origin }
    }
}

/// The installation that has ptxas lacks another tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} is not beside ptxas in {} (found by {origin}); install CUDA's {name} there, or unset {origin} so that the \
     pinned packages are used", folder.display()
)]
pub struct MissingTool {
    pub name: &'static str,
    pub folder: PathBuf,
    pub origin: Origin,
}

/// Why there is no ptxas.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    #[error(
        "WARPWISE_CUDA is `{}`, but there is no ptxas in {}; let it name a CUDA installation, or unset it",
        given.display(), search::list(tried)
    )]
    NotInWarpwiseCuda { given: PathBuf, tried: Vec<PathBuf> },
    #[error(
        "no ptxas: {reason}\nCUDA_PATH, CUDA_HOME and PATH lead to none either\ninstall CUDA's ptxas and nvdisasm and let \
         WARPWISE_CUDA name their folder"
    )]
    NotFound { reason: FetchError },
    #[error(
        "no nvcc: {reason}\nWARPWISE_CUDA, CUDA_PATH, CUDA_HOME and PATH lead to none either\ninstall CUDA's nvcc and let \
         WARPWISE_CUDA name its folder"
    )]
    NoNvcc { reason: FetchError },
    #[error("{} does not work as {name}: {reason}", path.display())]
    Broken { name: &'static str, path: PathBuf, reason: String },
}

/// Finds the tools, or fetches them.
pub fn locate(options: &LocateOptions) -> Result<Tools, LocateError> {
    let environment = &options.environment;
    if let Some(given) = &environment.warpwise_cuda {
        let tried = search::folders_of(given);
        let ptxas = search::in_folders(&tried, "ptxas");
        return match ptxas.as_deref().and_then(Path::parent) {
            Some(folder) => tools_in(folder, Origin::Variable("WARPWISE_CUDA"), environment, None),
            None => Err(LocateError::NotInWarpwiseCuda { given: given.clone(), tried }),
        };
    }
    let reason = match provision::pinned(options, &provision::TOOLS) {
        Ok(folder) => return tools_in(&folder, Origin::Pinned, environment, None),
        Err(reason) => reason,
    };
    match search::installed("ptxas", environment) {
        Some((ptxas, origin)) => {
            let folder = ptxas.parent().unwrap_or(Path::new("/")).to_owned();
            let fetch_error = (!matches!(reason, FetchError::NotAllowed)).then(|| reason.to_string());
            tools_in(&folder, origin, environment, fetch_error)
        }
        None => Err(LocateError::NotFound { reason }),
    }
}

/// Finds nvcc, or fetches it with what it stands on. Unlike for ptxas, a `WARPWISE_CUDA` without it is no error: few need it.
///
/// # Errors
/// There is none and it cannot be fetched, or what is there does not run.
pub fn locate_nvcc(options: &LocateOptions) -> Result<Tool, LocateError> {
    let environment = &options.environment;
    let in_given =
        environment.warpwise_cuda.as_deref().and_then(|given| search::in_folders(&search::folders_of(given), "nvcc"));
    if let Some(path) = in_given {
        return identify("nvcc", path, Origin::Variable("WARPWISE_CUDA"));
    }
    let reason = match provision::pinned(options, &provision::CPLUSPLUS) {
        Ok(folder) => return identify("nvcc", folder.join(search::file_name("nvcc")), Origin::Pinned),
        Err(reason) => reason,
    };
    match search::installed("nvcc", environment) {
        Some((path, origin)) => identify("nvcc", path, origin),
        None => Err(LocateError::NoNvcc { reason }),
    }
}

fn tools_in(
    folder: &Path,
    origin: Origin,
    environment: &Environment,
    fetch_error: Option<String>,
) -> Result<Tools, LocateError> {
    let optional = |name| match search::program(folder, name) {
        Some(path) => identify(name, path, origin).map(Some),
        None => Ok(None),
    };
    let ptxas = identify("ptxas", folder.join(search::file_name("ptxas")), origin)?;
    let (nvdisasm, cuobjdump) = (optional("nvdisasm")?, optional("cuobjdump")?);
    Ok(Tools { ptxas, nvdisasm, cuobjdump, ncu: search::ncu(Some(folder), environment), fetch_error })
}

/// Asks a program for its version: proof that it runs on this machine.
fn identify(name: &'static str, path: PathBuf, origin: Origin) -> Result<Tool, LocateError> {
    const LIMIT: Duration = Duration::from_secs(20);
    let broken = |path: &Path, reason: String| LocateError::Broken { name, path: path.to_owned(), reason };
    let output = process::run(std::process::Command::new(&path).arg("--version"), LIMIT)
        .map_err(|error| broken(&path, error.to_string()))?;
    match version(&output.stdout) {
        Some(version) if output.status.success() => {
            Ok(Tool { path, version: version.to_owned(), origin, banner: output.stdout })
        }
        _ => Err(broken(&path, format!("`--version` printed no version but: {}", output.last_line()))),
    }
}

/// Reads `Cuda compilation tools, release 13.2, V13.2.78`.
fn version(banner: &str) -> Option<&str> {
    let line = banner.lines().find(|line| line.contains("release "))?;
    let version = line.rsplit_once(", V")?.1.trim();
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}
