//! `cargo xtask build [--into FOLDER]`: kernels and program, and nothing started. With a folder, the kernels go there, as files beside
//! those that other commands use.

use crate::error::{Error, Result};
use crate::prepare::{self, Need};
use crate::words::Words;
use crate::workspace::Workspace;
use std::path::PathBuf;
use std::process::ExitCode;

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    if let Some(folder) = prepare::prepare_into(workspace, words, Need::Kernels, into(words)?)? {
        println!("{}", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn into(words: &Words) -> Result<Option<PathBuf>> {
    match words.rest.as_slice() {
        [] => Ok(None),
        [option, folder] if option == "--into" => Ok(Some(folder.into())),
        _ => Err(Error::new("usage: cargo xtask build [--into FOLDER] [--crate PATH]")),
    }
}
