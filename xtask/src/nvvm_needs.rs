//! What `--codegen nvvm` needs of a machine. It is looked for before anything is built, so that a machine without it says so at once; nothing
//! of it is installed here: a nightly, LLVM 7 and CUDA are more than a command may bring along unasked.

use crate::error::{Error, Result};
use crate::nvvm::TOOLCHAIN;
use crate::system::System;
use std::env;
use std::path::PathBuf;

/// Variables that rust-cuda takes for CUDA's folder, and the folder that it looks into otherwise.
const CUDA_VARIABLES: [&str; 3] = ["CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
const CUDA_FOLDER: &str = "/usr/local/cuda";

/// Something that has to be there.
#[derive(Debug, PartialEq, Eq)]
pub struct Prerequisite {
    pub name: &'static str,
    /// Where or which, or why not.
    pub found: std::result::Result<String, String>,
    /// How to get it.
    pub way: &'static str,
}

/// All of them, in the order in which one would install them.
pub fn prerequisites(system: &dyn System) -> Vec<Prerequisite> {
    vec![
        Prerequisite {
            name: "Rust nightly-2026-04-02 with rust-src, rustc-dev and llvm-tools",
            found: toolchain(system),
            way: "rustup toolchain install nightly-2026-04-02 --profile minimal --component rust-src,rustc-dev,llvm-tools-preview",
        },
        Prerequisite {
            name: "LLVM 7.1",
            found: llvm(system),
            way: "build llvm-7.1.0 with the targets X86 and NVPTX (docs/rust-cuda.md has the lines), and let LLVM_CONFIG name its llvm-config",
        },
        Prerequisite {
            name: "CUDA toolkit 12 or 13 with libNVVM",
            found: cuda(system),
            way: "install NVIDIA's CUDA toolkit (Debian and Ubuntu: cuda-toolkit-13-0 from NVIDIA's repository), and let CUDA_PATH name its folder",
        },
        Prerequisite {
            name: "clang, for rust-cuda's bindings to CUDA",
            found: program(system, "clang"),
            way: "apt-get install clang libclang-dev",
        },
        Prerequisite {
            name: "a C++ compiler, for its bindings to LLVM",
            found: program(system, "c++"),
            way: "apt-get install g++ zlib1g-dev libxml2-dev libncurses-dev",
        },
        Prerequisite {
            name: "OpenSSL's headers, for what fetches its LLVM elsewhere",
            found: system.output("pkg-config", &["--modversion", "openssl"]).map_or_else(
                || Err("pkg-config knows no openssl".to_owned()),
                |version| Ok(format!("openssl {}", version.trim())),
            ),
            way: "apt-get install libssl-dev pkg-config",
        },
    ]
}

/// The folder of the nightly.
pub fn toolchain(system: &dyn System) -> std::result::Result<String, String> {
    let home = system.variable("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(system.variable("HOME")?).join(".rustup")));
    let toolchains = home.ok_or("there is no home folder")?.join("toolchains");
    let host = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let folder = toolchains.join(format!("{TOOLCHAIN}-{host}"));
    if !system.exists(&folder) {
        return Err(format!("{} is not there", folder.display()));
    }
    let parts = [
        ("rust-src", folder.join("lib/rustlib/src/rust/library/core/src/lib.rs")),
        ("rustc-dev", folder.join("lib/rustlib/rustc-src/rust/compiler/rustc/Cargo.toml")),
        ("llvm-tools", folder.join("lib/rustlib").join(&host).join("bin/llvm-ar")),
    ];
    match parts.iter().find(|(_, path)| !system.exists(path)) {
        Some((component, _)) => Err(format!("{} lacks {component}", folder.display())),
        None => Ok(folder.display().to_string()),
    }
}

fn llvm(system: &dyn System) -> std::result::Result<String, String> {
    let named = system.variable("LLVM_CONFIG");
    let config = named.as_deref().unwrap_or("llvm-config");
    let version = system.output(config, &["--version"]).ok_or_else(|| format!("{config} does not start"))?;
    match version.trim() {
        version if version.starts_with("7.") => Ok(format!("{config}, {version}")),
        version => Err(format!("{config} is of version {version}")),
    }
}

fn cuda(system: &dyn System) -> std::result::Result<String, String> {
    let folder = cuda_folder(system);
    let parts = ["include/cuda.h", "nvvm/lib64/libnvvm.so", "nvvm/libdevice/libdevice.10.bc"];
    match parts.iter().find(|part| !system.exists(&folder.join(part))) {
        Some(part) => Err(format!("there is no {}", folder.join(part).display())),
        None => Ok(folder.display().to_string()),
    }
}

/// Where CUDA is, or would be.
pub fn cuda_folder(system: &dyn System) -> PathBuf {
    let named = CUDA_VARIABLES.iter().find_map(|name| system.variable(name));
    PathBuf::from(named.unwrap_or_else(|| CUDA_FOLDER.to_owned()))
}

fn program(system: &dyn System, name: &str) -> std::result::Result<String, String> {
    let banner = system.output(name, &["--version"]).ok_or_else(|| format!("{name} does not start"))?;
    Ok(banner.lines().next().unwrap_or(name).to_owned())
}

/// The list as a person reads it; whether all is there.
pub fn listed(prerequisites: &[Prerequisite]) -> (String, bool) {
    let line = |one: &Prerequisite| match &one.found {
        Ok(found) => format!("  ✓ {}: {found}\n", one.name),
        Err(reason) => format!("  ✗ {}: {reason}\n      {}\n", one.name, one.way),
    };
    (prerequisites.iter().map(line).collect(), prerequisites.iter().all(|one| one.found.is_ok()))
}

/// What is missing, as an error.
pub fn require(system: &dyn System) -> Result<()> {
    let missing: Vec<Prerequisite> = prerequisites(system).into_iter().filter(|one| one.found.is_err()).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::new(format!(
            "--codegen nvvm needs what is not here:\n{}rust-cuda's container image has all of it, and --ptx FILE takes PTX made there: docs/rust-cuda.md",
            listed(&missing).0
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Fake;

    fn whole() -> Fake {
        let output = |line: &str, text: &str| (line.to_owned(), text.to_owned());
        let host = format!("{}-unknown-linux-gnu", env::consts::ARCH);
        let of_toolchain = |rest: &str| -> &'static str {
            Box::leak(format!("/r/toolchains/nightly-2026-04-02-{host}{rest}").into_boxed_str())
        };
        let tools = format!("/lib/rustlib/{host}/bin/llvm-ar");
        Fake {
            variables: vec![("RUSTUP_HOME", "/r"), ("LLVM_CONFIG", "/l/llvm-config"), ("CUDA_PATH", "/c")],
            paths: vec![
                of_toolchain(""),
                of_toolchain("/lib/rustlib/src/rust/library/core/src/lib.rs"),
                of_toolchain("/lib/rustlib/rustc-src/rust/compiler/rustc/Cargo.toml"),
                of_toolchain(&tools),
                "/c/include/cuda.h",
                "/c/nvvm/lib64/libnvvm.so",
                "/c/nvvm/libdevice/libdevice.10.bc",
            ],
            outputs: vec![
                output("/l/llvm-config --version", "7.1.0\n"),
                output("clang --version", "clang version 14\n"),
                output("c++ --version", "c++ 12\n"),
                output("pkg-config --modversion openssl", "3.0.15\n"),
            ],
            root: false,
        }
    }

    #[test]
    fn a_machine_with_everything_is_ready_and_without_says_what_and_how() {
        assert_eq!(require(&whole()), Ok(()));
        let error = require(&Fake::default()).expect_err("nothing is there").to_string();
        for way in [
            "rustup toolchain install",
            "LLVM_CONFIG",
            "CUDA_PATH",
            "apt-get install clang",
            "g++",
            "libssl-dev",
            "--ptx FILE",
        ] {
            assert!(error.contains(way), "{way}: {error}");
        }
    }

    #[test]
    fn each_prerequisite_is_missed_by_itself() {
        let missed = |fake: &Fake| -> Vec<&str> {
            prerequisites(fake).into_iter().filter(|one| one.found.is_err()).map(|one| one.name).collect()
        };
        assert!(missed(&whole()).is_empty());
        for index in 0..7 {
            let mut fake = whole();
            let part = fake.paths.remove(index);
            assert_eq!(missed(&fake).len(), 1, "{part}");
        }
        let mut fake = whole();
        fake.outputs[0].1 = "14.0.6\n".to_owned();
        assert_eq!(missed(&fake), ["LLVM 7.1"]);
        for index in 1..4 {
            let mut fake = whole();
            fake.outputs.remove(index);
            assert_eq!(missed(&fake).len(), 1);
        }
    }
}
