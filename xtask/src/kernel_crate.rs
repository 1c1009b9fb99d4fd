//! The crate whose kernels are built: ours, or one of the user's.

use crate::error::{Error, Result};
use crate::workspace::Workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Debug)]
pub struct KernelCrate {
    /// The package's name.
    pub name: String,
    /// The library's name, which cargo gives to what it makes.
    pub library: String,
    /// The folder of its Cargo.toml, absolute.
    pub folder: PathBuf,
    /// The folder of its workspace's Cargo.toml: its own, where it is in no workspace.
    pub root: PathBuf,
    /// Where its PTX goes.
    pub output: PathBuf,
    /// The kernels that alone are compiled, their names between commas; none: all.
    pub only: Option<String>,
}

impl KernelCrate {
    /// The laboratories' kernels.
    pub fn ours(workspace: &Workspace) -> Self {
        Self {
            name: "warpwise-kernels".to_owned(),
            library: "warpwise_kernels".to_owned(),
            folder: workspace.root.join("kernels-gpu"),
            root: workspace.root.clone(),
            output: workspace.own_folder().join("kernels"),
            only: None,
        }
    }

    /// The kernel crate in a folder of the user's.
    pub fn of_the_user(workspace: &Workspace, given: &Path) -> Result<Self> {
        let problem = |what: &str| {
            let given = given.display();
            Error::new(format!(
                "--crate {given}: {what}\n`cargo xtask new kernel NAME` makes a kernel crate to start from"
            ))
        };
        let folder = given.canonicalize().map_err(|_| problem("there is no such folder"))?;
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(|_| problem("there is no Cargo.toml in it"))?;
        let name = name_in(&text, "[package]").ok_or_else(|| problem("its Cargo.toml names no package"))?;
        let library = name_in(&text, "[lib]").unwrap_or_else(|| name.clone()).replace('-', "_");
        let root = workspace_root(workspace, &manifest).unwrap_or_else(|| folder.clone());
        let output = workspace.own_folder().join("crates").join(&name);
        Ok(Self { name, library, folder, root, output, only: None })
    }
}

/// The `name` of a table of a manifest.
fn name_in(manifest: &str, table: &str) -> Option<String> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != table).skip(1);
    let mut lines = lines.take_while(|line| !line.starts_with('['));
    let value = lines.find_map(|line| line.strip_prefix("name")?.trim_start().strip_prefix('='))?;
    let value = value.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split_once(quote).map(|(name, _)| name.to_owned())
}

/// The folder of the workspace that cargo takes the crate to be in.
fn workspace_root(workspace: &Workspace, manifest: &Path) -> Option<PathBuf> {
    let mut cargo = Command::new(&workspace.cargo);
    cargo.args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"]).arg(manifest);
    let output = cargo.output().ok().filter(|output| output.status.success())?;
    Path::new(String::from_utf8_lossy(&output.stdout).trim()).parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn names_are_read_from_their_own_table() {
        let manifest = "[dependencies]\nname = \"no\"\n\n[package]\nedition = \"2024\"\n  name='my-kernels' # mine\n[lib]\npath = \"x.rs\"\n";
        assert_eq!(name_in(manifest, "[package]").as_deref(), Some("my-kernels"));
        assert_eq!(name_in(manifest, "[lib]"), None);
        assert_eq!(name_in("[lib]\nname = \"other\"\n", "[lib]").as_deref(), Some("other"));
    }

    #[test]
    fn what_is_no_string_is_no_name() {
        assert_eq!(name_in("[package]\nname.workspace = true\nnamed = \"x\"\n", "[package]"), None);
        assert_eq!(name_in("[workspace]\nmembers = []\n", "[package]"), None);
        assert_eq!(name_in("[package]\nname = \"open\n", "[package]"), None);
    }
}
