//! `cargo xtask ci`: what CI runs. Formatting first, since it is quickest to fail; then lints; then every test.

use crate::commands::test;
use crate::error::Result;
use crate::program;
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::{Command, ExitCode};

const CHECKS: [&[&str]; 2] =
    [&["fmt", "--all", "--check"], &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]];

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    for check in CHECKS {
        eprintln!("cargo {}", check.join(" "));
        let mut cargo = Command::new(&workspace.cargo);
        let code = program::run(cargo.current_dir(&workspace.root).args(check))?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    test::run(workspace, words)
}
