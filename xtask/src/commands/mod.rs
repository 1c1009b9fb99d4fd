//! The commands. Those of this program have a file each; any other word is one of `warpwise`'s.

mod build;
mod ci;
mod driver;
mod new;
mod start;
mod test;

use crate::error::Result;
use crate::nvvm;
use crate::nvvm_needs;
use crate::system::Machine;
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::ExitCode;

/// What stands before warpwise's own help.
const HELP: &str = "\
cargo xtask CMD …  builds what is stale and runs `warpwise CMD …`

Commands of xtask itself:
  test [WORDS…]    builds the kernels, then runs every test; WORDS go to `cargo test`
  ci               what CI runs: formatting, lints, every test
  build            builds kernels and program, and starts nothing
  driver           builds the machine as a CUDA driver and prints its folder; `driver -- CMD …` runs CMD on it
  new kernel NAME  makes a kernel crate in a new folder NAME

Options before or after any command:
  --crate PATH     the kernels of a crate of yours instead of ours
  --no-provision   installs nothing
  --codegen nvvm   the kernels by rust-cuda's back end; `doctor --codegen nvvm` says what it needs
  --ptx FILE       with it: what rust-cuda made of the kernels elsewhere
";

/// What `--codegen nvvm` needs, each with how to get it.
fn doctor() -> Result<ExitCode> {
    let (list, is_whole) = nvvm_needs::listed(&nvvm_needs::prerequisites(&Machine));
    println!("--codegen nvvm, rust-cuda {}:\n{list}", nvvm::REVISION);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn run(words: impl IntoIterator<Item = String>) -> Result<ExitCode> {
    let words = Words::parse(words)?;
    let workspace = Workspace::locate()?;
    match words.command.as_deref() {
        Some("build") => build::run(&workspace, &words),
        Some("ci") => ci::run(&workspace, &words),
        Some("doctor") if words.nvvm => doctor(),
        Some("driver") => driver::run(&workspace, &words),
        Some("new") => new::run(&workspace, &words),
        Some("test") => test::run(&workspace, &words),
        Some("help") | None => {
            print!("{HELP}");
            start::help(&workspace, &words)
        }
        Some(_) => start::run(&workspace, &words),
    }
}
