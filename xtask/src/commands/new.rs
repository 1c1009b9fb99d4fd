//! `cargo xtask new kernel NAME`: a kernel crate to start from, in a new folder NAME of the working directory.
//!
//! It compiles for both sides: to PTX with `cargo xtask CMD --crate NAME`, and for the host with plain cargo, where its
//! maths is tested and rust-analyzer reads it.

use crate::error::{Error, Result};
use crate::words::Words;
use crate::workspace::Workspace;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const MANIFEST: &str = include_str!("../template/Cargo.toml.in");
const LIBRARY: &str = include_str!("../template/lib.rs.in");
const USAGE: &str = "usage: cargo xtask new kernel NAME";

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    let name = match words.rest.as_slice() {
        [what, name] if what == "kernel" => name,
        [what, ..] if what != "kernel" => {
            return Err(Error::new(format!("`{what}` cannot be made new; a kernel can\n{USAGE}")));
        }
        _ => return Err(Error::new(USAGE)),
    };
    check(name)?;
    let folder = Path::new(name);
    write(workspace, name, folder)?;
    println!(
        "made the kernel crate {name}: its kernel is in {name}/src/lib.rs\nsee what it costs: cargo xtask regs --crate {name}\nrun it: cargo xtask run --crate {name} --grid 4 --block 256 --arg a=scalar:f32:2 --arg x=in:f32:1000:ramp --arg y=inout:f32:1000:const:1 --arg n=scalar:u32:1000"
    );
    Ok(ExitCode::SUCCESS)
}

/// Names that cargo refuses would fail later, with a worse message.
fn check(name: &str) -> Result<()> {
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let goes_on_well = name.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character));
    if !begins_well || !goes_on_well {
        return Err(Error::new(format!(
            "`{name}` is no name for a crate: it begins with a letter and has letters, digits, - and _ after it"
        )));
    }
    if ["core", "std", "alloc", "test", "proc_macro", "cuda_std"].contains(&name.replace('-', "_").as_str()) {
        return Err(Error::new(format!("`{name}` is the name of a crate that the kernel needs: take another")));
    }
    Ok(())
}

fn write(workspace: &Workspace, name: &str, folder: &Path) -> Result<()> {
    if folder.exists() {
        return Err(Error::new(format!("{} is there already: take another name, or remove it", folder.display())));
    }
    let cuda_std = workspace.root.join("kernels-gpu").join("std");
    // A TOML literal string: it has no escapes, so a path stays as it is.
    let manifest = MANIFEST.replace("{name}", name).replace("{cuda_std}", &cuda_std.display().to_string());
    let library = LIBRARY.replace("{kernel}", &name.replace('-', "_"));
    Workspace::create(&folder.join("src"))?;
    for (path, content) in
        [("Cargo.toml", manifest.as_str()), ("src/lib.rs", library.as_str()), (".gitignore", "target/\n")]
    {
        let path = folder.join(path);
        fs::write(&path, content).map_err(|error| Error::file("write", &path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_that_cargo_takes_are_taken() {
        for name in ["saxpy", "my-kernels", "k2_x"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn paths_flags_digits_first_and_names_of_core_are_refused() {
        for name in ["", "a/b", "..", "2d", "-x", "naïve", "core", "cuda-std"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
