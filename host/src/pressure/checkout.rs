//! The kernels of another commit, or by another compiler: built beside those of this checkout, each into a folder of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Rebuild, Side};
use crate::error::CommandError;
use crate::folders;
use crate::kernels::KernelFiles;

/// The kernels that a side is of; those that are built already where it names neither a commit nor a compiler.
///
/// # Errors
/// There is no such commit, or its kernels do not compile.
pub fn kernels(side: &Side) -> Result<KernelFiles, CommandError> {
    if side.commit.is_none() && side.rustc.is_none() {
        return Ok(KernelFiles::open()?);
    }
    let rebuild = Rebuild::from_environment("diff")?;
    let root = root()?;
    let own = folders::workspace(Some(&root)).join("warpwise").join("sides");
    let mut words = Vec::new();
    let mut name = "here".to_owned();
    if let Some(commit) = &side.commit {
        name = resolved(&root, commit)?;
        let tree = own.join("trees").join(&name);
        check_out(&root, &name, &tree)?;
        words.extend(["--crate".to_owned(), tree.join("kernels-gpu").display().to_string()]);
    }
    let mut variables = Vec::new();
    if let Some(rustc) = &side.rustc {
        let rustc = compiler(rustc)?;
        name = format!("{name}-{:016x}", xxhash_rust::xxh3::xxh3_64(rustc.display().to_string().as_bytes()));
        variables.push(("WARPWISE_DEVICE_RUSTC", rustc));
    }
    let into = own.join("kernels").join(&name);
    words.extend(["--into".to_owned(), into.display().to_string()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match rebuild.run(&words, &variables)? {
        true => Ok(KernelFiles::read(&into)?),
        false => Err(CommandError::Usage(format!("the kernels of `{}` do not compile: see above", side.given))),
    }
}

/// A compiler as the build is told of it: a command of the search path as it is, else its full path. Links are not followed, since rustup's
/// `rustc` is one to a program that goes by its name.
fn compiler(named: &Path) -> Result<PathBuf, CommandError> {
    if named.components().count() == 1 && !named.is_file() {
        return Ok(named.to_owned());
    }
    let cannot = |source| CommandError::Read { path: named.display().to_string(), source };
    named.metadata().map_err(cannot)?;
    std::path::absolute(named).map_err(cannot)
}

/// This checkout's root.
fn root() -> Result<PathBuf, CommandError> {
    let named = env::var_os("WARPWISE_CHECKOUT").map(PathBuf::from);
    named.ok_or_else(|| {
        CommandError::Usage("commits are of a checkout, and none is known\nstart it as `cargo xtask diff`".to_owned())
    })
}

/// The commit's full name.
fn resolved(root: &Path, commit: &str) -> Result<String, CommandError> {
    let refused = || {
        CommandError::Usage(format!(
            "git knows no commit `{commit}` in {}\nexpected a hash, a branch, a tag, HEAD or HEAD~3",
            root.display()
        ))
    };
    let word = format!("{commit}^{{commit}}");
    let output = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &word])?;
    output.filter(|name| name.len() >= 40 && name.chars().all(|digit| digit.is_ascii_hexdigit())).ok_or_else(refused)
}

/// A working tree of the commit, made once.
fn check_out(root: &Path, commit: &str, tree: &Path) -> Result<(), CommandError> {
    if tree.join("kernels-gpu").is_dir() {
        return Ok(());
    }
    // What git still remembers of a folder that was removed would be in the way.
    git(root, &["worktree", "prune"])?;
    let folder = tree.display().to_string();
    let made = git(root, &["worktree", "add", "--quiet", "--detach", &folder, commit])?;
    match made.is_some() && tree.join("kernels-gpu").is_dir() {
        true => Ok(()),
        false => Err(CommandError::Usage(format!("git makes no working tree of {commit} in {folder}"))),
    }
}

/// What git prints, trimmed; none where it fails.
fn git(root: &Path, words: &[&str]) -> Result<Option<String>, CommandError> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output();
    let output = output.map_err(|source| CommandError::Read { path: "git".to_owned(), source })?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success().then_some(text))
}
