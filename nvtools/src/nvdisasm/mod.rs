//! SASS listings: what the chip executes, beside the source lines it came from.
//!
//! nvdisasm is run once for code, encodings and source lines, and a second time where live registers are asked for,
//! since it does not print both at once; `listing` and `live` read the two, and addresses join them.

mod control;
mod listing;
mod live;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub use control::Control;
pub use listing::{Function, Instruction, Label, Listing, ListingError, SourceLine, parse as parse_listing};
pub use live::{Live, LiveByAddress, LiveError, Register, RegisterFile, Use, parse as parse_live};

use crate::locate::Tool;
use crate::process::{self, ProcessError};
use crate::scratch::Scratch;

/// The most time that one nvdisasm may take. Our largest cubins take a quarter of a second.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Why there is no listing.
#[derive(Debug, thiserror::Error)]
pub enum NvdisasmError {
    #[error("nvdisasm refuses the cubin: {detail}")]
    Refused { detail: String },
    #[error("nvdisasm ({}) printed what this program cannot read: {what}", path.display())]
    Unreadable { path: PathBuf, what: String },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the files that nvdisasm works on: {0}")]
    Io(#[from] io::Error),
}

/// What a listing shows beside code and source lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListingOptions {
    /// Live registers of each instruction; doubles the time.
    pub live: bool,
}

/// Disassembles all functions of a cubin.
pub fn listing(nvdisasm: &Tool, cubin: &[u8], options: ListingOptions) -> Result<Listing, NvdisasmError> {
    let scratch = Scratch::new("warpwise-nvdisasm-")?;
    fs::write(scratch.path().join("kernels.cubin"), cubin)?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&nvdisasm.path);
        command.args(arguments).arg("kernels.cubin").current_dir(scratch.path());
        let output = process::run(&mut command, LIMIT)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(NvdisasmError::Refused { detail: output.last_line() })
        }
    };
    let unreadable = |what: String| NvdisasmError::Unreadable { path: nvdisasm.path.clone(), what };
    let text = run(&["--print-code", "--print-instruction-encoding", "--print-line-info-inline"])?;
    let mut listing = listing::parse(&text).map_err(|error| unreadable(error.to_string()))?;
    if options.live {
        let text = run(&["--print-code", "--life-range-mode", "narrow"])?;
        let live = live::parse(&text).map_err(|error| unreadable(error.to_string()))?;
        for function in &mut listing.functions {
            for instruction in &mut function.instructions {
                instruction.live = live.get(&(function.name.clone(), instruction.address)).cloned();
            }
        }
    }
    Ok(listing)
}
