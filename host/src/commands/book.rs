//! `book`: serves the lab book on the loopback address, until Ctrl-C.
//!
//! The server is behind the feature `book`, which `cargo xtask book` turns on; a program built without it says so.

use std::path::PathBuf;

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::error::CommandError;

/// The lab book: chapters and labs as pages, in a browser
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The port to serve on; 0 for any that is free
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// Write a static copy of the book with the runs that are recorded, and serve nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "no_open"])]
    export: Option<PathBuf>,
}

#[cfg(feature = "book")]
pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    use crate::book::{Limits, Settings, export, serve};
    // A defect in one page must not end the program, as it does a command.
    std::panic::set_hook(Box::new(|panic| eprintln!("warpwise: a bug in the lab book: {panic}\nplease report it")));
    let program = std::env::current_exe()?;
    let folder = crate::folders::workspace(None).join("warpwise").join("book");
    let settings = |port| Settings { port, program, folder, limits: Limits::default(), global: global.clone() };
    if let Some(folder) = &options.export {
        let files = export(settings(0), folder)
            .map_err(|error| CommandError::Usage(format!("cannot write the copy: {error}")))?;
        println!("{}: {files} files; any web server can serve them", folder.display());
        return Ok(Outcome::Good);
    }
    serve(options.port, !options.no_open, settings).map_err(|error| match options.port {
        Some(port) => CommandError::Usage(format!(
            "cannot serve on port {port}: {error}\nleave --port out to take one that is free"
        )),
        None => CommandError::Usage(format!("cannot serve on the loopback address: {error}")),
    })?;
    Ok(Outcome::Good)
}

#[cfg(not(feature = "book"))]
pub fn run(options: Options, _: &GlobalOptions) -> Result<Outcome, CommandError> {
    let Options { port: _, no_open: _, export: _ } = options;
    Err(CommandError::Usage("this program was built without the lab book\nstart it with `cargo xtask book`".to_owned()))
}
