//! Where the project keeps what it makes: Cargo's target folder in a checkout, the user's cache folder elsewhere.

use std::env;
use std::path::{Path, PathBuf};

/// The file that Cargo puts into a target folder (bford.info/cachedir).
const TARGET_MARK: &str = "CACHEDIR.TAG";

/// Cargo's target folder: the nearest folder above `near` or above the executable that bears Cargo's mark.
pub fn cargo_target(near: Option<&Path>) -> Option<PathBuf> {
    let executable = env::current_exe().ok();
    let starts = near.into_iter().chain(executable.as_deref());
    let above = starts.flat_map(Path::ancestors).find(|folder| folder.join(TARGET_MARK).is_file());
    above.map(Path::to_owned)
}

/// [`cargo_target`], or for a program that stands alone the user's cache folder.
pub fn workspace(near: Option<&Path>) -> PathBuf {
    cargo_target(near).unwrap_or_else(user_cache)
}

fn user_cache() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("warpwise")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_finds_the_target_folder_that_it_lies_in() {
        let target = cargo_target(None).expect("tests are built into a target folder");
        assert!(env::current_exe().is_ok_and(|executable| executable.starts_with(&target)));
    }

    #[test]
    fn a_folder_near_the_kernels_comes_before_the_executables() {
        let folder = env::temp_dir().join(format!("warpwise-folders-{}", std::process::id()));
        let kernels = folder.join("warpwise").join("kernels");
        std::fs::create_dir_all(&kernels).expect("a folder");
        std::fs::write(folder.join(TARGET_MARK), "").expect("a file");
        assert_eq!(cargo_target(Some(&kernels)), Some(folder.clone()));
        std::fs::remove_dir_all(&folder).expect("its removal");
    }
}
