//! Looks for programs in folders.

use std::env;
use std::path::{Path, PathBuf};

use super::{Environment, Origin};

/// Where Nsight Compute installs itself: a folder for each version under these.
const NSIGHT_COMPUTE_FOLDERS: [&str; 2] = ["/opt/nvidia/nsight-compute", "/usr/local/NVIDIA-Nsight-Compute"];

/// Where CUDA's packages for Linux put ncu.
const CUDA_BIN: &str = "/usr/local/cuda/bin";

/// The folders in which an installation named by a variable may keep its programs: as CUDA's installers lay it out, the
/// program folder itself, as the Python packages lay it out.
pub fn folders_of(installation: &Path) -> Vec<PathBuf> {
    vec![installation.join("bin"), installation.to_owned(), installation.join(super::provision::PACKAGE_BIN)]
}

/// The first program of that name in one of the folders.
pub fn in_folders(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    folders.iter().find_map(|folder| program(folder, name))
}

/// A program of a CUDA installation that somebody else made.
pub fn installed(name: &str, environment: &Environment) -> Option<(PathBuf, Origin)> {
    let named = [("CUDA_PATH", &environment.cuda_path), ("CUDA_HOME", &environment.cuda_home)];
    for (variable, installation) in named {
        let folders = installation.as_deref().map(folders_of).unwrap_or_default();
        if let Some(path) = in_folders(&folders, name) {
            return Some((path, Origin::Variable(variable)));
        }
    }
    Some((on_path(name, environment)?, Origin::SearchPath))
}

/// The first program of that name on `PATH`.
pub fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let folders = environment.path.as_deref().map(env::split_paths)?;
    folders.into_iter().find_map(|folder| program(&folder, name))
}

/// A program in a folder, if it is there and may be executed.
pub fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(file_name(name));
    is_executable(&path).then_some(path)
}

/// `ptxas`, or `ptxas.exe` where programs are called so.
pub fn file_name(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

/// Nsight Compute: beside the tools, in an installation's folder, on `PATH`, in its own folders (the newest version).
pub fn ncu(tools: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let variables = [&environment.cuda_path, &environment.cuda_home];
    let mut folders: Vec<PathBuf> = tools.map(Path::to_owned).into_iter().collect();
    folders.extend(variables.into_iter().flatten().map(|installation| installation.join("bin")));
    folders.extend(environment.path.as_deref().map(env::split_paths).into_iter().flatten());
    folders.push(PathBuf::from(CUDA_BIN));
    folders.extend(NSIGHT_COMPUTE_FOLDERS.iter().flat_map(|folder| versions_in(Path::new(folder))));
    folders.iter().find_map(|folder| program(folder, "ncu"))
}

fn versions_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// Folders for people to read: `a, b or c`.
pub fn list(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
