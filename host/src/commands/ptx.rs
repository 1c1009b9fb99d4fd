//! `ptx KERNEL`: a kernel's PTX under the Rust lines that it comes from.

use super::Outcome;
use crate::error::CommandError;
use crate::kernels::KernelFiles;
use crate::listing::{Sources, print, ptx};
use crate::report::terminal;
use crate::suggest::UnknownName;

/// Show a kernel's PTX beside its Rust
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A kernel, as `list` shows it
    kernel: String,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let files = KernelFiles::open()?;
    let listing = ptx::entry(&files.ptx, &options.kernel)
        .ok_or_else(|| UnknownName::new("kernel", &options.kernel, ptx::entries(&files.ptx)))?;
    print::print(&mut terminal::stdout(), &listing, &mut Sources::of(&files))?;
    Ok(Outcome::Good)
}
