//! The kernels through rust-cuda's back end: `--codegen nvvm`. PTX that rust-cuda made elsewhere is taken in its place (`--ptx FILE`).
//! What the back end needs of a machine is `nvvm_needs`'s business, what a text says of its making `nvvm_head`'s.

use crate::compiler::{Compiler, Origin};
use crate::device_build::Raw;
use crate::error::{Error, Result};
use crate::facts;
use crate::kernel_crate::KernelCrate;
use crate::nvvm_head::{self, Head};
use crate::nvvm_needs::{cuda_folder, toolchain};
use crate::process;
use crate::progress;
use crate::stamp;
use crate::system::{Machine, System};
use crate::workspace::Workspace;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What kernels-gpu/nvvm/rust-toolchain.toml names; a test holds the two together.
pub const TOOLCHAIN: &str = "nightly-2026-04-02";

/// rust-cuda's revision, as the manifests there name it.
pub const REVISION: &str = "946c91f080770f30d42d7c706ac8185969274073";

/// rust-cuda's back end is compiled first, which takes minutes.
const LIMIT: Duration = Duration::from_secs(3600);

/// Where Linux's loader looks first.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// Our kernels, in a folder of their own.
pub fn kernels(workspace: &Workspace) -> KernelCrate {
    let ours = KernelCrate::ours(workspace);
    KernelCrate { output: workspace.own_folder().join("nvvm"), ..ours }
}

/// The compiler as reports name it: what the PTX says of its making.
pub fn compiler(workspace: &Workspace, raw: &Raw) -> Result<Compiler> {
    let ptx = fs::read_to_string(&raw.path).map_err(|error| Error::file("read", &raw.path, &error))?;
    let head = Head::of(&ptx);
    let rust_cuda = head.value("rust-cuda").chars().take(7).collect::<String>();
    Ok(Compiler {
        rustc: "rust-cuda".into(),
        version: format!("{}, rust-cuda {rust_cuda}, kernels of {}", head.value("rustc"), head.value("commit")),
        llvm: format!("{}, libNVVM of CUDA {}", head.value("llvm"), head.value("cuda")),
        core_source: workspace.root.join("kernels-gpu/nvvm"),
        origin: Origin::Variable,
    })
}

/// Has rust-cuda compile the kernels, or takes a file that it made elsewhere.
pub fn build(workspace: &Workspace, given: Option<&Path>) -> Result<Raw> {
    let kernels = kernels(workspace);
    Workspace::create(&kernels.output)?;
    let path = kernels.output.join("raw.ptx");
    match given {
        Some(file) => {
            let ptx = fs::read_to_string(file).map_err(|error| Error::file("read --ptx", file, &error))?;
            say_what_changed(workspace, file, &ptx)?;
            facts::replace(&path, ptx.as_bytes())?;
        }
        None => {
            // The head is of the sources as they are before they are compiled.
            let head = head(workspace, &Machine)?;
            let made = kernels.output.join("made.ptx");
            compile(workspace, &made)?;
            let ptx = fs::read_to_string(&made).map_err(|error| Error::file("read", &made, &error))?;
            facts::replace(&path, format!("{head}{ptx}").as_bytes())?;
        }
    }
    let ptx = fs::read(&path).map_err(|error| Error::file("read", &path, &error))?;
    Ok(Raw { path, source_hash: format!("{:016x}", stamp::hash(&ptx)) })
}

/// A text of other sources than those here is taken, but not silently.
fn say_what_changed(workspace: &Workspace, file: &Path, ptx: &str) -> Result<()> {
    let changed = nvvm_head::changed(&workspace.root, ptx)?;
    let file = file.display();
    let commit = Head::of(ptx).value("commit").to_owned();
    if nvvm_head::sources_of(ptx).is_empty() {
        eprintln!("{file} does not say of which sources it is: it may be of others than those here");
    } else if !changed.is_empty() {
        eprintln!("{file} is of {commit}; since then have changed:\n  {}", changed.join("\n  "));
    }
    Ok(())
}

/// What the PTX is to say of its making.
fn head(workspace: &Workspace, system: &dyn System) -> Result<String> {
    let rustc = toolchain(system).ok().and_then(|folder| {
        let banner = system.output(&format!("{folder}/bin/rustc"), &["--version"])?;
        Some(banner.trim().to_owned())
    });
    let config = system.variable("LLVM_CONFIG").unwrap_or_else(|| "llvm-config".to_owned());
    let llvm = system.output(&config, &["--version"]);
    let unknown = "unknown".to_owned();
    let rustc = rustc.unwrap_or_else(|| unknown.clone());
    let llvm = llvm.map_or_else(|| unknown.clone(), |version| version.trim().to_owned());
    let cuda = fs::read_to_string(cuda_folder(system).join("include/cuda.h")).ok();
    let cuda = cuda.and_then(|header| cuda_version(&header)).unwrap_or(unknown);
    nvvm_head::now(system, &workspace.root, REVISION, &rustc, &llvm, &cuda)
}

/// `#define CUDA_VERSION 13020` is 13.2.
fn cuda_version(header: &str) -> Option<String> {
    let number = header.lines().find_map(|line| line.trim().strip_prefix("#define CUDA_VERSION "))?;
    let number: u32 = number.trim().parse().ok()?;
    Some(format!("{}.{}", number / 1000, number % 1000 / 10))
}

fn compile(workspace: &Workspace, ptx: &Path) -> Result<()> {
    let folder = workspace.root.join("kernels-gpu/nvvm");
    // By name, so that rustup takes the toolchain that the folder names: this process runs under another.
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&folder).args(["build", "--release", "--locked"]);
    cargo.arg("--target-dir").arg(workspace.target.join("nvvm")).env("WARPWISE_NVVM_PTX", ptx);
    for of_this_toolchain in
        ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTC_BOOTSTRAP", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"]
    {
        cargo.env_remove(of_this_toolchain);
    }
    // rust-cuda links libNVVM, and CUDA's installers tell the loader of no folder of it.
    let libraries = [Some(cuda_folder(&Machine).join("nvvm/lib64").into_os_string()), env::var_os(LIBRARIES)];
    let libraries: Vec<OsString> = libraries.into_iter().flatten().collect();
    cargo.env(LIBRARIES, libraries.join(OsStr::new(":")));
    let log = workspace.own_folder().join("logs").join("nvvm.log");
    let finished = progress::step("compiling the kernels with rust-cuda", || process::run(&mut cargo, &log, LIMIT))?;
    match finished.success && ptx.is_file() {
        true => Ok(()),
        false => {
            eprintln!("{}", finished.output.trim_end());
            Err(Error::new("rust-cuda made no PTX of the kernels: its messages are above".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_cuda_is_that_of_its_header() {
        assert_eq!(cuda_version("// x\n#define CUDA_VERSION 13020\n").as_deref(), Some("13.2"));
        assert_eq!(cuda_version("#define CUDA_VERSION 12090").as_deref(), Some("12.9"));
        assert_eq!(cuda_version("#define CUDA_VERSION"), None);
    }

    #[test]
    fn toolchain_and_revision_are_those_of_the_manifests() {
        assert!(include_str!("../../kernels-gpu/nvvm/rust-toolchain.toml").contains(TOOLCHAIN));
        for manifest in [
            include_str!("../../kernels-gpu/nvvm/Cargo.toml"),
            include_str!("../../kernels-gpu/nvvm/kernels/Cargo.toml"),
        ] {
            assert!(manifest.contains(REVISION), "{manifest}");
        }
    }
}
