//! `launch-cases`: launches kernels on a GPU, each once, and says nothing: what `counters` has `ncu` start.

use super::Outcome;
use crate::accuracy::{CASES, run as accuracy};
use crate::cli::GlobalOptions;
use crate::counters::{self, cases};
use crate::error::CommandError;
use crate::workbench::Workbench;

#[derive(clap::Args, Debug)]
pub struct Options {
    /// None: all that have a launch
    kernels: Vec<String>,
    /// The cases of `accuracy` instead, for profiles by hand
    #[arg(long)]
    accuracy: bool,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "cuda")?;
    let gpu = bench.gpu()?;
    if options.accuracy {
        let is_chosen = |kernel: &str| options.kernels.is_empty() || options.kernels.iter().any(|name| name == kernel);
        for case in CASES.iter().filter(|case| is_chosen(case.kernel)) {
            accuracy::once(&bench, &gpu, case)?;
        }
        return Ok(Outcome::Good);
    }
    for case in cases::chosen(&options.kernels)? {
        counters::run(&bench, &gpu, case, None)?;
    }
    Ok(Outcome::Good)
}
