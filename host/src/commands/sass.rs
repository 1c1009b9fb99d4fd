//! `sass KERNEL`: the instructions that the chip would run, under the Rust lines that they come from.

use warpwise_simt::device::{ComputeCapability, limits_of};

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::listing::{Sources, print, sass};
use crate::report::terminal;
use crate::suggest::UnknownName;
use crate::workbench::Workbench;

/// Show a kernel's SASS beside its Rust
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A kernel, as `list` shows it
    kernel: String,
    /// The architecture, such as sm_120; else the device's
    #[arg(long, value_name = "ARCH")]
    arch: Option<String>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "sim")?;
    let arch = match &options.arch {
        Some(arch) => known_arch(arch)?,
        None => bench.device.arch(),
    };
    let listing = bench.sass(&arch)?;
    let function = listing.function(&options.kernel).ok_or_else(|| {
        UnknownName::new("kernel", &options.kernel, listing.functions.iter().map(|function| function.name.as_str()))
    })?;
    let mut terminal = terminal::stdout();
    terminal.dim_line(&format!("{} for {arch}", options.kernel))?;
    print::print(&mut terminal, &sass::entry(function), &mut Sources::of(&bench.kernels))?;
    Ok(Outcome::Good)
}

/// `sm_120` from any spelling of an architecture that there is.
pub fn known_arch(given: &str) -> Result<String, CommandError> {
    let version: ComputeCapability = given.parse()?;
    Ok(limits_of(version)?.compute_capability.arch())
}
