//! `cargo xtask build`: kernels and program, and nothing started.

use crate::error::Result;
use crate::prepare::{self, Need};
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::ExitCode;

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    if let Some(folder) = prepare::prepare(workspace, words, Need::Kernels)? {
        println!("{}", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}
