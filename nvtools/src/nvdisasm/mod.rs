//! SASS listings: what the chip executes, beside the source lines it came from.
//!
//! nvdisasm is run once for code, encodings and source lines, and a second time where live registers are asked for,
//! since it does not print both at once; `listing` and `live` read the two, and addresses join them. [`Disassembler`] keeps what
//! it printed, by content.

mod control;
mod listing;
mod live;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use control::Control;
pub use listing::{Function, Instruction, Label, Listing, ListingError, SourceLine, parse as parse_listing};
pub use live::{Live, LiveByAddress, LiveError, Register, RegisterFile, Use, parse as parse_live};

use crate::cache::{self, Cache};
use crate::locate::Tool;
use crate::process::{self, ProcessError};
use crate::scratch::Scratch;

/// The most time that one nvdisasm may take. Ours take about a second, half of it to start.
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
    Disassembler::new(nvdisasm, None).listing(cubin, options)
}

/// Goes into the key of every text kept; raise it when something else of a run is kept.
const FORMAT: &str = "warpwise-nvdisasm-1";

/// Disassembles with one nvdisasm, and keeps what it printed: it takes half a second to start.
#[derive(Debug)]
pub struct Disassembler<'t> {
    tool: &'t Tool,
    cache: Option<Cache>,
}

impl<'t> Disassembler<'t> {
    /// A disassembler that keeps texts in a folder, which is made when first needed; none: nothing is kept. A folder that
    /// cannot be written to is as good as none.
    pub fn new(tool: &'t Tool, cache_dir: Option<&Path>) -> Self {
        Self { tool, cache: cache_dir.map(Cache::new) }
    }

    /// Disassembles all functions of a cubin, or reads the text that was kept.
    pub fn listing(&self, cubin: &[u8], options: ListingOptions) -> Result<Listing, NvdisasmError> {
        let unreadable = |what: String| NvdisasmError::Unreadable { path: self.tool.path.clone(), what };
        let text = self.print(cubin, &["--print-code", "--print-instruction-encoding", "--print-line-info-inline"])?;
        let mut listing = listing::parse(&text).map_err(|error| unreadable(error.to_string()))?;
        if options.live {
            let text = self.print(cubin, &["--print-code", "--life-range-mode", "narrow"])?;
            let live = live::parse(&text).map_err(|error| unreadable(error.to_string()))?;
            for function in &mut listing.functions {
                for instruction in &mut function.instructions {
                    instruction.live = live.get(&(function.name.clone(), instruction.address)).cloned();
                }
            }
        }
        Ok(listing)
    }

    /// What nvdisasm prints, now or when it was first asked. Refusals are not kept.
    fn print(&self, cubin: &[u8], arguments: &[&str]) -> Result<String, NvdisasmError> {
        let Some(cache) = &self.cache else { return self.run(cubin, arguments) };
        let key = cache::key(FORMAT, &self.tool.banner, arguments, cubin);
        if let Some(text) = cache.get(&key).and_then(|bytes| String::from_utf8(bytes).ok()) {
            return Ok(text);
        }
        let text = self.run(cubin, arguments)?;
        cache.put(&key, text.as_bytes());
        Ok(text)
    }

    fn run(&self, cubin: &[u8], arguments: &[&str]) -> Result<String, NvdisasmError> {
        let scratch = Scratch::new("warpwise-nvdisasm-")?;
        fs::write(scratch.path().join("kernels.cubin"), cubin)?;
        let mut command = Command::new(&self.tool.path);
        command.args(arguments).arg("kernels.cubin").current_dir(scratch.path());
        let output = process::run(&mut command, LIMIT)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(NvdisasmError::Refused { detail: output.last_line() })
        }
    }
}
