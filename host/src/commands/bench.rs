//! `bench`: the machine's speed.

use std::path::PathBuf;

use super::{Outcome, write_text};
use crate::bench;
use crate::claim::format::real;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::progress::Progress;
use crate::report::terminal;
use crate::schema;
use crate::workbench::device;

/// Measure the machine's speed on this computer
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let progress = Progress::stderr();
    let figures = bench::run(device(global)?, &|step| progress.step(step)).map_err(CommandError::Usage)?;
    drop(progress);
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::bench(&figures)))?;
    }
    let rows = figures.iter().map(|figure| {
        let value = match figure.value {
            millions if millions >= 1e6 => format!("{} million", real(millions / 1e6)),
            value => real(value),
        };
        vec![figure.name.to_owned(), value, figure.unit.to_owned()]
    });
    terminal::stdout().rows(&["figure", "value", "unit"].map(str::to_owned), rows)?;
    Ok(Outcome::Good)
}
