//! Reads what `ptxas -v` prints.
//!
//! Each entry is a paragraph: `Compiling entry function 'k' for 'sm_120'`, the stack and spills of the entry, `Used 24
//! registers, …`; then may follow stack and spills of functions that were not inlined. Before the paragraphs stand
//! warnings and the module's global memory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// All that ptxas said of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// In the order of ptxas, which is not that of the PTX.
    pub entries: Vec<Resources>,
    /// Functions that entries call, compiled on their own.
    pub functions: Vec<FunctionResources>,
    /// Bytes of `.global` variables.
    pub global_bytes: u64,
    pub warnings: Vec<Diagnostic>,
}

/// What one entry costs. Bytes are those of a thread, but for shared memory, which is a block's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    pub entry: String,
    /// The architecture it was compiled for: `sm_120`.
    pub arch: String,
    /// Registers a thread, before the hardware rounds up at allocation.
    pub registers: u32,
    pub barriers: u32,
    /// Local memory that spills are written to: bytes that the store instructions write, each counted once.
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    /// The entry's own stack frame: spills, and arrays that are indexed at run time.
    pub stack_bytes: u32,
    /// The stack with that of all functions called; the frame alone where ptxas does not say.
    pub cumulative_stack_bytes: u32,
    /// `.shared` variables of fixed size; memory that ptxas reserves for itself included.
    pub shared_bytes: u32,
    /// Constant banks and the bytes used of each, for the architectures for which ptxas still says.
    pub constant_banks: Vec<(u32, u32)>,
}

/// What a function that was not inlined costs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionResources {
    pub function: String,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    pub stack_bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Severity {
    Warning,
    Error,
}

/// A warning or an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Line of the PTX, from 1, where ptxas names one.
    pub line: Option<u32>,
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "PTX line {line}: {}", self.text),
            None => out.write_str(&self.text),
        }
    }
}

/// A report without what belongs in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    #[error("`{line}` where {expected} was expected")]
    Line { line: String, expected: &'static str },
    #[error("no register count for the entry `{entry}`")]
    NoRegisters { entry: String },
}

/// Reads the report of a successful run.
pub fn parse(text: &str) -> Result<Report, ReportError> {
    let mut report = Report::default();
    let mut function: Option<String> = None;
    let mut unfinished: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = function.take() {
            read_properties(&mut report, name, line)?;
            continue;
        }
        if let Some(diagnostic) = diagnostic(line) {
            if diagnostic.severity == Severity::Warning {
                report.warnings.push(diagnostic);
            }
            continue;
        }
        let Some(info) = information(line) else { continue };
        if let Some(rest) = info.strip_prefix("Compiling entry function ") {
            refuse_unfinished(&unfinished)?;
            let quoted: Vec<&str> = rest.split('\'').collect();
            let [_, entry, _, arch, _] = quoted[..] else { return Err(bad(line, "an entry and an architecture")) };
            let (entry, arch) = (entry.to_owned(), arch.to_owned());
            unfinished = Some(entry.clone());
            report.entries.push(Resources { entry, arch, ..Resources::default() });
        } else if let Some(name) = info.strip_prefix("Function properties for ") {
            function = Some(name.trim().to_owned());
        } else if let Some(used) = info.strip_prefix("Used ") {
            let entry = report.entries.last_mut().ok_or_else(|| bad(line, "an entry before its registers"))?;
            read_usage(entry, used, line)?;
            unfinished = None;
        } else if let Some(bytes) = info.split(',').next().and_then(|first| first.strip_suffix(" bytes gmem")) {
            report.global_bytes = number(bytes, line)?;
        }
    }
    refuse_unfinished(&unfinished)?;
    Ok(report)
}

fn refuse_unfinished(entry: &Option<String>) -> Result<(), ReportError> {
    entry.clone().map_or(Ok(()), |entry| Err(ReportError::NoRegisters { entry }))
}

/// The errors of a run that failed.
pub fn errors(text: &str) -> Vec<Diagnostic> {
    let errors = text.lines().filter_map(diagnostic).filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut errors: Vec<Diagnostic> = errors.collect();
    if errors.len() > 1 {
        errors.retain(|error| error.text != "Ptx assembly aborted due to errors");
    }
    errors
}

/// Reads the values that the help lists for `--gpu-name`.
pub fn architectures(help: &str) -> Vec<String> {
    let option = help.split_once("--gpu-name").map_or("", |(_, rest)| rest);
    let values = option.split_once("Allowed values for this option:").map_or("", |(_, rest)| rest);
    let values = values.split("Default").next().unwrap_or_default();
    let mut names: Vec<&str> = values.split('\'').filter(|name| name.starts_with("sm_")).collect();
    names.sort_by_key(|name| (name.trim_start_matches("sm_").trim_end_matches(char::is_alphabetic).len(), *name));
    names.into_iter().map(str::to_owned).collect()
}

/// `    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
fn read_properties(report: &mut Report, function: String, line: &str) -> Result<(), ReportError> {
    let (mut stack_bytes, mut spill_store_bytes, mut spill_load_bytes) = (None, None, None);
    for part in line.split(',').map(str::trim) {
        let (bytes, what) = part.split_once(" bytes ").ok_or_else(|| bad(line, "stack and spills"))?;
        let bytes = Some(number(bytes, line)?);
        match what {
            "stack frame" => stack_bytes = bytes,
            "spill stores" => spill_store_bytes = bytes,
            "spill loads" => spill_load_bytes = bytes,
            _ => {}
        }
    }
    let (Some(stack_bytes), Some(spill_store_bytes), Some(spill_load_bytes)) =
        (stack_bytes, spill_store_bytes, spill_load_bytes)
    else {
        return Err(bad(line, "stack frame, spill stores and spill loads"));
    };
    match report.entries.last_mut().filter(|entry| entry.entry == function) {
        Some(entry) => {
            (entry.stack_bytes, entry.cumulative_stack_bytes) = (stack_bytes, stack_bytes);
            (entry.spill_store_bytes, entry.spill_load_bytes) = (spill_store_bytes, spill_load_bytes);
        }
        None => report.functions.push(FunctionResources { function, spill_store_bytes, spill_load_bytes, stack_bytes }),
    }
    Ok(())
}

/// `24 registers, used 4 barriers, 264 bytes cumulative stack size, 4224 bytes smem, 360 bytes cmem[0]`
fn read_usage(entry: &mut Resources, used: &str, line: &str) -> Result<(), ReportError> {
    let mut registers = None;
    for part in used.split(',').map(|part| part.trim().trim_start_matches("used ")) {
        let (value, what) = part.split_once(' ').ok_or_else(|| bad(line, "numbers and what they count"))?;
        let value = number(value, line)?;
        match what {
            "registers" => registers = Some(value),
            "barriers" => entry.barriers = value,
            "bytes cumulative stack size" => entry.cumulative_stack_bytes = value,
            // Shared memory that several parts add up to is printed `16+1024`, which `number` adds.
            "bytes smem" => entry.shared_bytes = value,
            _ => entry.constant_banks.extend(constant_bank(what).map(|bank| (bank, value))),
        }
    }
    entry.registers = registers.ok_or_else(|| bad(line, "a number of registers"))?;
    Ok(())
}

/// `bytes cmem[3]`
fn constant_bank(what: &str) -> Option<u32> {
    what.strip_prefix("bytes cmem[")?.strip_suffix(']')?.parse().ok()
}

fn number<N: std::str::FromStr + std::iter::Sum>(text: &str, line: &str) -> Result<N, ReportError> {
    let terms = text.trim().split('+').map(|term| term.trim().parse());
    terms.sum::<Result<N, _>>().map_err(|_| bad(line, "a number"))
}

/// The text after `ptxas info    :`.
fn information(line: &str) -> Option<&str> {
    let (head, text) = line.split_once(':')?;
    (head.trim_end() == "ptxas info").then(|| text.trim())
}

/// `ptxas warning : …`, `ptxas kernels.ptx, line 4; error   : …`, `ptxas fatal   : …`
fn diagnostic(line: &str) -> Option<Diagnostic> {
    let rest = line.strip_prefix("ptxas ")?;
    let (head, text) = rest.split_once(" : ").or_else(|| rest.split_once(": "))?;
    let (place, word) =
        head.trim().rsplit_once(';').map_or((None, head.trim()), |(place, word)| (Some(place), word.trim()));
    let severity = match word {
        "warning" => Severity::Warning,
        "error" | "fatal" => Severity::Error,
        _ => return None,
    };
    let line = place.and_then(|place| place.rsplit_once("line ")?.1.trim().parse().ok());
    Some(Diagnostic { severity, line, text: text.trim().to_owned() })
}

fn bad(line: &str, expected: &'static str) -> ReportError {
    ReportError::Line { line: line.trim().chars().take(200).collect(), expected }
}
