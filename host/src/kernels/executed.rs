//! Which program of a kernel the machine executes: its SASS or its PTX.

use std::sync::Arc;

use warpwise_simt::exec::Divergence;
use warpwise_simt::isa::Program;

use super::{Code, CodeError, Sass, SassUnusable};
use crate::backend::{IsaChoice, MachineOptions};

/// What the machine executes of one kernel.
#[derive(Debug)]
pub struct Executed {
    pub program: Arc<Program>,
    /// Why it is the PTX although the SASS was there.
    pub instead_of_sass: Option<SassUnusable>,
}

/// Why there is nothing to execute.
#[derive(Debug, thiserror::Error)]
pub enum NothingToExecute {
    #[error(transparent)]
    Code(#[from] CodeError),
    #[error(transparent)]
    Sass(#[from] SassUnusable),
    #[error("there is no SASS of {0}: --isa sass needs ptxas and nvdisasm; leave it out, and the machine runs the PTX")]
    NoSass(String),
    #[error("--divergence is how PTX may be run; SASS says itself where lanes meet: leave --isa sass out")]
    Divergence,
}

/// Takes what the options say: with `auto` the SASS where there is one that the machine knows, else the PTX.
///
/// # Errors
/// Where the kernel is unknown, or must be SASS and cannot.
pub fn executed(
    code: &Code,
    sass: Option<&Sass>,
    options: MachineOptions,
    kernel: &str,
) -> Result<Executed, NothingToExecute> {
    // The PTX comes first: it says which kernels there are.
    let ptx = code.program(kernel)?;
    let of_ptx = |instead_of_sass| Ok(Executed { program: ptx, instead_of_sass });
    let of_ptx_alone = options.divergence != Divergence::Converge;
    let sass = match (options.isa, sass) {
        (IsaChoice::Sass, _) if of_ptx_alone => return Err(NothingToExecute::Divergence),
        (IsaChoice::Sass, None) => return Err(NothingToExecute::NoSass(kernel.to_owned())),
        (IsaChoice::Auto, None) | (IsaChoice::Ptx, _) => return of_ptx(None),
        (IsaChoice::Auto, Some(_)) if of_ptx_alone => return of_ptx(None),
        (_, Some(sass)) => sass.program(kernel),
    };
    match (options.isa, sass) {
        (_, Ok(program)) => Ok(Executed { program, instead_of_sass: None }),
        (IsaChoice::Sass, Err(error)) => Err(error.into()),
        (_, Err(error)) => of_ptx(Some(error)),
    }
}
