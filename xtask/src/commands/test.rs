//! `cargo xtask test`: every test of the workspace, with the kernels built and in their hands. Words go on to cargo, so that
//! `WARPWISE_EXHAUSTIVE=1 cargo xtask test --release -p warpwise-simt --lib mufu` makes the comparison that takes minutes: every operand
//! of every special function.

use crate::browser;
use crate::commands::driver;
use crate::error::Result;
use crate::prepare::{self, Need};
use crate::program;
use crate::system::Machine;
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::{Command, ExitCode};

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    let kernels = prepare::prepare(workspace, words, Need::Kernels)?;
    browser::prepare(&Machine, &workspace.own_folder().join("logs"), !words.no_provision);
    let mut cargo = Command::new(&workspace.cargo);
    cargo.current_dir(&workspace.root).arg("test");
    // Words that choose packages choose instead of the workspace.
    if !words.rest.iter().any(|word| word == "-p" || word.starts_with("--package")) {
        cargo.arg("--workspace");
    }
    cargo.args(&words.rest);
    if let Some(folder) = kernels {
        cargo.env("WARPWISE_KERNELS", folder);
    }
    // The program that users start, for tests of the command line.
    cargo.env("WARPWISE_PROGRAM", workspace.program());
    // The driver that its tests give to the program, as `cargo xtask driver` does.
    if cfg!(target_os = "linux") {
        cargo.env("WARPWISE_DRIVER", driver::install(workspace)?);
    }
    // CI is the place where nothing may be left out.
    if words.command.as_deref() == Some("ci") && !words.no_provision {
        cargo.env("WARPWISE_BROWSER", "required");
    }
    if words.no_provision {
        cargo.env("WARPWISE_NO_PROVISION", "1");
    }
    program::run(&mut cargo)
}
