//! The SASS of one kernel, for labs that read it.

use warpwise_nvtools::nvdisasm::{Function, Instruction, ListingOptions};

use crate::lab::{LabContext, LabError};
use crate::toolbox::ToolError;
use crate::workbench::WorkbenchError;

/// Why a claim on SASS is not run where NVIDIA's tools are missing.
pub const NO_TOOLS: &str = "needs ptxas and nvdisasm";

/// The kernel's SASS on an architecture, with live registers if asked for. `None` without the tools, and then the claims are
/// recorded as not run.
pub fn sass(
    cx: &mut LabContext<'_>,
    kernel: &str,
    arch: &str,
    options: ListingOptions,
    claims: &[&str],
) -> Result<Option<Function>, LabError> {
    let bench = cx.bench();
    let listing = match bench.tools.sass(&bench.kernels.ptx, arch, options) {
        Ok(listing) => listing,
        Err(ToolError::Missing(_) | ToolError::MissingBeside(_)) => {
            for claim in claims {
                cx.not_run(claim, NO_TOOLS);
            }
            return Ok(None);
        }
        Err(error) => return Err(WorkbenchError::from(error).into()),
    };
    let function = listing.function(kernel).cloned();
    let missing = || LabError::Other(format!("the listing for {arch} has no `{kernel}`"));
    function.ok_or_else(missing).map(Some)
}

/// An instruction as a listing shows it: `@P0 EXIT`.
pub fn text(instruction: &Instruction) -> String {
    let Instruction { predicate, opcode, operands, .. } = instruction;
    let predicate = predicate.as_deref().unwrap_or_default();
    format!("{predicate} {opcode} {operands}").trim().to_owned()
}
