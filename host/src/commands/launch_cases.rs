//! `launch-cases`: launches kernels on a GPU, each once, and says nothing: what `counters` has `ncu` start.

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::counters::{self, cases};
use crate::error::CommandError;
use crate::workbench::Workbench;

#[derive(clap::Args, Debug)]
pub struct Options {
    /// None: all that have a launch
    kernels: Vec<String>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "cuda")?;
    let gpu = bench.gpu()?;
    for case in cases::chosen(&options.kernels)? {
        counters::run(&bench, &gpu, case, None)?;
    }
    Ok(Outcome::Good)
}
