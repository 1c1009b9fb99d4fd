//! The program that the machine executes of a kernel in a text of PTX that is somebody's own.

use std::sync::Arc;

use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device::Device;
use warpwise_simt::isa::Program;

use super::{Code, Executed, NothingToExecute, Sass, SassUnusable, executed};
use crate::backend::{IsaChoice, MachineOptions};
use crate::toolbox::{Target, ToolError, Toolbox};

/// Why a text has no program.
#[derive(Debug, thiserror::Error)]
pub enum NoProgram {
    #[error(transparent)]
    Execute(#[from] NothingToExecute),
    #[error("--check watches PTX, and --isa sass was given\nleave one of the two out")]
    Checks,
    #[error("--isa sass needs the kernel's SASS: {0}")]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Sass(#[from] SassUnusable),
}

/// As [`executed`], of what ptxas makes of this text for the device. With `auto` the PTX runs where checks are asked for, where there
/// is no ptxas or nvdisasm, and, said on standard error, where ptxas refuses the kernel or the machine does not know all of its SASS.
/// Nothing is fetched.
///
/// # Errors
/// Where the kernel is unknown, or must be SASS and cannot.
pub fn of_text(
    code: &Code,
    text: &str,
    kernel: &str,
    device: &Device,
    options: MachineOptions,
) -> Result<Arc<Program>, NoProgram> {
    let sass = match (options.isa, options.checks.any()) {
        (IsaChoice::Sass, true) => return Err(NoProgram::Checks),
        (IsaChoice::Ptx, _) | (IsaChoice::Auto, true) => None,
        (IsaChoice::Sass, false) => Some(sass(text, kernel, device)?),
        (IsaChoice::Auto, false) => match sass(text, kernel, device) {
            Ok(sass) => Some(sass),
            Err(NoProgram::Tool(ToolError::Missing(_) | ToolError::MissingBeside(_))) => None,
            Err(reason) => {
                say(&reason.to_string());
                None
            }
        },
    };
    let Executed { program, instead_of_sass } = executed(code, sass.as_ref(), options, kernel)?;
    if let Some(reason) = instead_of_sass {
        say(&reason.to_string());
    }
    Ok(program)
}

fn say(reason: &str) {
    eprintln!("warpwise: {reason}\nthe machine runs its PTX instead");
}

fn sass(text: &str, kernel: &str, device: &Device) -> Result<Sass, NoProgram> {
    let tools = Toolbox::look(None);
    let target = Target { entry: Some(kernel.to_owned()), ..Target::arch(&device.arch()) };
    let compiled = tools.compile(text, &target)?;
    let listing = tools.sass_of(text, &target, ListingOptions::default())?;
    Ok(Sass::new(&compiled.cubin, listing)?)
}
