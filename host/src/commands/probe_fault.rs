//! `probe-fault`: plants a fault on a GPU and says what was seen. For the lab `launch`, since a fault ends a process's use of
//! the GPU.

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::labs::launch::planted::{Planted, plant};
use crate::workbench::Workbench;

#[derive(clap::Args, Debug)]
pub struct Options {
    what: Planted,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "cuda")?;
    let seen = plant(&bench.gpu()?, options.what)?;
    println!("{}", crate::schema::text(&seen));
    Ok(Outcome::Good)
}
