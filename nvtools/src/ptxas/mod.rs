//! PTX to cubin, and what each kernel costs: registers, spills, stack, shared memory, barriers.
//!
//! [`Compiler`] runs ptxas with `-v` and reads what it prints (`report`). ptxas is a pure function of its input, so
//! results are cached on disk by a hash of all that goes in (`kept`); a second run of a lab starts no process.

mod kept;
mod report;

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use report::{
    Diagnostic, FunctionResources, Report, ReportError, Resources, Severity, architectures as parse_architectures,
    errors as parse_errors, parse as parse_report,
};

use crate::cache::{self, Cache};
use crate::locate::Tool;
use crate::process::{self, ProcessError};
use crate::scratch::Scratch;

/// The most time that one ptxas may take. Our largest kernels take a tenth of a second.
pub const LIMIT: Duration = Duration::from_secs(120);

/// One run of ptxas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileRequest<'a> {
    pub ptx: &'a str,
    /// The architecture to compile for: `sm_120`.
    pub arch: &'a str,
    /// Compile this entry only; all if none.
    pub entry: Option<&'a str>,
    /// `--maxrregcount`: the most registers a thread may have. An entry's own `.maxnreg` wins. ptxas raises values
    /// below its minimum (24 in 13.2) and warns.
    pub max_registers: Option<u32>,
    /// `-lineinfo`: keep the source lines of `.loc`. Does not change the code.
    pub line_info: bool,
}

impl<'a> CompileRequest<'a> {
    /// All entries, no register cap, with source lines.
    pub fn new(ptx: &'a str, arch: &'a str) -> Self {
        Self { ptx, arch, entry: None, max_registers: None, line_info: true }
    }

    /// The architecture, or that with the features which the PTX asks for: text with `.target sm_90a` is compiled for sm_90a alone, which is
    /// the same chip.
    fn gpu_name(&self) -> &str {
        let target = self.ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
        let named = target.and_then(|words| words.split(',').next()).map_or("", str::trim);
        let is_same_chip = named.strip_prefix(self.arch).is_some_and(|feature| ["a", "f"].contains(&feature));
        if is_same_chip { named } else { self.arch }
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["-v".to_owned(), format!("--gpu-name={}", self.gpu_name())];
        arguments.extend(self.entry.map(|entry| format!("--entry={entry}")));
        arguments.extend(self.max_registers.map(|registers| format!("--maxrregcount={registers}")));
        arguments.extend(self.line_info.then(|| "--generate-line-info".to_owned()));
        arguments
    }
}

/// A cubin and what ptxas said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// An ELF file that the driver loads on the architecture it was made for.
    #[serde(skip)]
    pub cubin: Vec<u8>,
    pub report: Report,
}

impl Compiled {
    /// What an entry costs, if it is in this cubin.
    pub fn resources(&self, entry: &str) -> Option<&Resources> {
        self.report.entries.iter().find(|resources| resources.entry == entry)
    }
}

/// Why there is no cubin.
#[derive(Debug, thiserror::Error)]
pub enum PtxasError {
    #[error("ptxas knows no architecture `{arch}`; it knows {}", known.join(", "))]
    UnknownArchitecture { arch: String, known: Vec<String> },
    #[error("the PTX has no entry `{entry}`")]
    UnknownEntry { entry: String },
    #[error("ptxas refuses the PTX for {arch}: {}", list(diagnostics))]
    Refused { arch: String, diagnostics: Vec<Diagnostic> },
    #[error("ptxas failed on {arch} with {status}: {detail}")]
    Crashed { arch: String, status: String, detail: String },
    #[error("ptxas ({}) printed what this program cannot read: {what}", path.display())]
    Unreadable { path: PathBuf, what: String },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the files that ptxas works on: {0}")]
    Io(#[from] io::Error),
}

/// The first three diagnostics, on one line each.
fn list(diagnostics: &[Diagnostic]) -> String {
    let lines: Vec<String> = diagnostics.iter().take(3).map(Diagnostic::to_string).collect();
    lines.join("\n")
}

/// The version of the PTX and the newest that ptxas knows, if that is what it complains of.
fn too_new(error: &str) -> Option<(&str, &str)> {
    let (version, newest) = error.strip_prefix("Unsupported .version ")?.split_once("; current version is '")?;
    Some((version, newest.strip_suffix('\'')?))
}

/// Compiles with one ptxas, cached.
#[derive(Debug)]
pub struct Compiler<'t> {
    tool: &'t Tool,
    cache: Option<Cache>,
    limit: Duration,
}

impl<'t> Compiler<'t> {
    /// A compiler that keeps its results in a folder, which is made when first needed; none: nothing is kept. A folder
    /// that cannot be written to is as good as none.
    pub fn new(tool: &'t Tool, cache_dir: Option<&Path>) -> Self {
        Self { tool, cache: cache_dir.map(Cache::new), limit: LIMIT }
    }

    /// Another time limit than [`LIMIT`] for each run of ptxas.
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Compiles, or takes the result from the cache. Refusals are not cached.
    pub fn compile(&self, request: &CompileRequest) -> Result<Compiled, PtxasError> {
        // ptxas takes virtual architectures too (`compute_80`), and then makes no cubin.
        if !request.arch.starts_with("sm_") {
            return Err(PtxasError::UnknownArchitecture { arch: request.arch.to_owned(), known: self.architectures() });
        }
        let Some(cache) = &self.cache else { return self.run_as_it_can(request) };
        let key = cache::key(kept::FORMAT, &self.tool.banner, &request.arguments(), request.ptx.as_bytes());
        if let Some(compiled) = cache.get(&key).and_then(|bytes| kept::decode(&bytes)) {
            return Ok(compiled);
        }
        let compiled = self.run_as_it_can(request)?;
        if let Some(bytes) = kept::encode(&compiled) {
            cache.put(&key, &bytes);
        }
        Ok(compiled)
    }

    /// Compiles many on all cores; results in the order of the requests. `done` gets the number finished, after each.
    pub fn compile_all(
        &self,
        requests: &[CompileRequest],
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Result<Compiled, PtxasError>> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Vec<Mutex<Option<Result<Compiled, PtxasError>>>> =
            requests.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < requests.len()) {
                let result = self.compile(&requests[index]);
                if let Ok(mut slot) = results[index].lock() {
                    *slot = Some(result);
                }
                done(finished.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        thread::scope(|scope| {
            for _ in 1..cores.min(requests.len()) {
                scope.spawn(work);
            }
            work();
        });
        let unpoisoned = results.into_iter().map(|slot| slot.into_inner().unwrap_or_else(|poison| poison.into_inner()));
        unpoisoned
            .map(|result| result.unwrap_or_else(|| Err(io::Error::other("a compiling thread ended early").into())))
            .collect()
    }

    /// Runs ptxas; PTX of a version that it does not know, once more as the newest that it does. Producers name the version of their own
    /// ptxas, and seldom use what came with it; where they do, ptxas refuses that.
    fn run_as_it_can(&self, request: &CompileRequest) -> Result<Compiled, PtxasError> {
        let refused = match self.run(request) {
            Err(PtxasError::Refused { arch, diagnostics }) => PtxasError::Refused { arch, diagnostics },
            other => return other,
        };
        let PtxasError::Refused { diagnostics, .. } = &refused else { return Err(refused) };
        let Some((version, newest)) = diagnostics.iter().find_map(|error| too_new(&error.text)) else {
            return Err(refused);
        };
        let older = request.ptx.replacen(&format!(".version {version}"), &format!(".version {newest}"), 1);
        let mut compiled = self.run(&CompileRequest { ptx: &older, ..*request })?;
        let text = format!("PTX {version} is newer than this ptxas: compiled as {newest}");
        compiled.report.warnings.push(Diagnostic { severity: Severity::Warning, line: None, text });
        Ok(compiled)
    }

    fn run(&self, request: &CompileRequest) -> Result<Compiled, PtxasError> {
        let scratch = Scratch::new("warpwise-ptxas-")?;
        let (ptx, cubin) = (scratch.path().join("kernels.ptx"), scratch.path().join("kernels.cubin"));
        fs::write(&ptx, request.ptx)?;
        let mut command = Command::new(&self.tool.path);
        // Relative names keep the temporary folder out of ptxas's messages.
        command.args(request.arguments()).args(["kernels.ptx", "--output-file", "kernels.cubin"]);
        let output = process::run(command.current_dir(scratch.path()), self.limit)?;
        let printed = format!("{}{}", output.stdout, output.stderr);
        if !output.status.success() {
            return Err(self.refusal(request, &printed, &output));
        }
        let unreadable = |what: String| PtxasError::Unreadable { path: self.tool.path.clone(), what };
        let report = report::parse(&printed).map_err(|error| unreadable(error.to_string()))?;
        let cubin = fs::read(&cubin).map_err(|_| unreadable("it wrote no cubin".to_owned()))?;
        if !cubin.starts_with(b"\x7fELF") {
            return Err(unreadable("its cubin is no ELF file".to_owned()));
        }
        if let Some(entry) = request.entry.filter(|&entry| !report.entries.iter().any(|found| found.entry == entry)) {
            return Err(unreadable(format!("it says nothing of the entry `{entry}`")));
        }
        Ok(Compiled { cubin, report })
    }

    fn refusal(&self, request: &CompileRequest, printed: &str, output: &process::Output) -> PtxasError {
        let arch = request.arch.to_owned();
        let diagnostics = report::errors(printed);
        if diagnostics.iter().any(|error| error.text.contains("is not defined for option 'gpu-name'")) {
            return PtxasError::UnknownArchitecture { arch, known: self.architectures() };
        }
        if let Some(entry) = request.entry
            && diagnostics.iter().any(|error| error.text == format!("Unknown function {entry}"))
        {
            return PtxasError::UnknownEntry { entry: entry.to_owned() };
        }
        if diagnostics.is_empty() {
            let status = output.status.to_string();
            return PtxasError::Crashed { arch, status, detail: output.last_line() };
        }
        PtxasError::Refused { arch, diagnostics }
    }

    /// The architectures that this ptxas compiles for, as its help lists them; empty if it does not say.
    pub fn architectures(&self) -> Vec<String> {
        let help = process::run(Command::new(&self.tool.path).arg("--help"), self.limit);
        help.map(|output| report::architectures(&output.stdout)).unwrap_or_default()
    }
}
