//! Whether `warpwise` is built with its backend for GPUs.
//!
//! The backend looks for the driver's library when it is used, so the same program runs with and without one. It is left out
//! where there is no driver only because it takes a while to compile. What linking it takes is in `.cargo/config.toml`.

use crate::words::Words;
use std::env;
use std::path::PathBuf;

/// Commands that are about GPUs, also where there is none: the tests run the backend on our own driver.
const COMMANDS: [&str; 4] = ["bundle", "ci", "driver", "test"];

/// Where NVIDIA's driver puts its library on Linux, by distribution; the last one is that of WSL.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
];

/// Whether the backend for GPUs is wanted.
pub fn is_wanted(words: &Words) -> bool {
    let asked = words.command.as_deref().is_some_and(|command| COMMANDS.contains(&command))
        || words.rest.iter().any(|word| word == "cuda" || word == "--backend=cuda");
    let search = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = env::split_paths(&search).chain(LIBRARY_FOLDERS.iter().map(PathBuf::from));
    cfg!(target_os = "linux") && (asked || has_driver(folders))
}

fn has_driver(mut folders: impl Iterator<Item = PathBuf>) -> bool {
    folders.any(|folder| folder.join("libcuda.so.1").exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(line: &str) -> Words {
        Words::parse(line.split(' ').map(str::to_owned)).unwrap()
    }

    #[test]
    fn the_backend_is_wanted_where_a_command_is_about_gpus() {
        for line in ["bundle", "driver -- program", "labs --backend cuda", "labs --backend=cuda", "test", "ci"] {
            assert_eq!(is_wanted(&words(line)), cfg!(target_os = "linux"), "{line}");
        }
    }

    #[test]
    fn a_driver_is_found_by_its_library() {
        let folder = env::temp_dir().join(format!("xtask-driver-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(!has_driver([folder.clone()].into_iter()));
        fs::write(folder.join("libcuda.so.1"), "").unwrap();
        assert!(has_driver([folder.clone()].into_iter()));
        fs::remove_dir_all(folder).unwrap();
    }
}
