//! `cargo xtask driver [-- CMD …]`: builds the machine as a CUDA driver, says where it is, or runs a program on it.

use crate::error::{Error, Result};
use crate::program;
use crate::progress;
use crate::words::Words;
use crate::workspace::Workspace;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Names under which programs look for NVIDIA's driver.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
/// Where the loader looks first.
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    let program = program_of(&words.rest)?;
    let folder = install(workspace)?;
    let Some((name, arguments)) = program.split_first() else {
        println!("{}", folder.display());
        return Ok(ExitCode::SUCCESS);
    };
    let mut command = Command::new(name);
    command.args(arguments).env(SEARCH_PATH, before(&folder, env::var_os(SEARCH_PATH))?);
    program::become_it(command)
}

/// The words after `--`.
fn program_of(words: &[String]) -> Result<&[String]> {
    match words.split_first() {
        None => Ok(&[]),
        Some((first, program)) if first == "--" => Ok(program),
        Some((first, _)) => {
            Err(Error::new(format!("`{first}` is no option of driver; a program goes after `--`: driver -- {first} …")))
        }
    }
}

/// Builds the library and puts it into a folder of its own, under both names. The folder.
pub fn install(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = Command::new(&workspace.cargo);
    cargo.current_dir(&workspace.root).args(["build", "--quiet", "--release", "--package", "warpwise-driver"]);
    let status = progress::step("compiling the driver", || cargo.stdin(Stdio::null()).status());
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(Error::new("the driver does not compile: the compiler's messages are above")),
        Err(error) => return Err(Error::new(format!("cannot start cargo: {error}"))),
    }
    let built = workspace.target.join("release").join("libcuda.so");
    let folder = workspace.own_folder().join("driver");
    Workspace::create(&folder)?;
    for name in NAMES {
        let place = folder.join(name);
        // A copy beside it that is then renamed: a program that runs on the old one keeps it.
        let fresh = folder.join(format!("{name}.{}", std::process::id()));
        let copied = std::fs::copy(&built, &fresh).and_then(|_| std::fs::rename(&fresh, &place));
        copied.map_err(|error| Error::file("put the driver into", &place, &error))?;
    }
    Ok(folder)
}

/// A search path with the folder before what is there.
fn before(folder: &Path, rest: Option<std::ffi::OsString>) -> Result<std::ffi::OsString> {
    let rest = rest.unwrap_or_default();
    let folders =
        std::iter::once(folder.to_owned()).chain(env::split_paths(&rest).filter(|path| !path.as_os_str().is_empty()));
    env::join_paths(folders)
        .map_err(|error| Error::new(format!("{} cannot be in {SEARCH_PATH}: {error}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_program_stands_after_the_dashes_with_its_own_options() {
        assert_eq!(program_of(&words("-- ./client --fast -- x")).unwrap(), words("./client --fast -- x"));
        assert!(program_of(&[]).unwrap().is_empty() && program_of(&words("--")).unwrap().is_empty());
        let error = program_of(&words("./client")).unwrap_err().to_string();
        assert!(error.contains("driver -- ./client"), "{error}");
    }

    #[test]
    fn the_drivers_folder_comes_before_others() {
        let path = before(Path::new("/w/driver"), Some("/usr/lib:/opt".into())).unwrap();
        assert_eq!(path, "/w/driver:/usr/lib:/opt");
        assert_eq!(before(Path::new("/w/driver"), None).unwrap(), "/w/driver");
    }
}
