//! Reads `nvdisasm -c -hex -gi`: functions, instructions, encodings, source lines.

use std::sync::Arc;

use super::control::Control;
use super::live::Live;

/// All functions of a cubin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The architecture it was compiled for: `sm_120`.
    pub arch: String,
    pub functions: Vec<Function>,
}

impl Listing {
    /// The code of a kernel, or of a function that stands alone.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// One kernel with the functions that are placed behind it, or one function that stands alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub instructions: Vec<Instruction>,
    pub labels: Vec<Label>,
}

/// A branch target or the start of a called function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Address of the instruction that follows.
    pub address: u32,
    pub name: String,
}

/// One instruction of 128 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Bytes from the start of the function.
    pub address: u32,
    /// `@P0`, `@!UP1`
    pub predicate: Option<String>,
    /// With its modifiers: `LDG.E.128`.
    pub opcode: String,
    /// As printed: `R5, desc[UR4][R4.64]`.
    pub operands: String,
    pub encoding: u128,
    /// Where it comes from: the innermost line first, then the lines that called it. Empty without line information.
    pub source: Arc<[SourceLine]>,
    /// Registers in use, if asked for. None for the padding behind the code.
    pub live: Option<Live>,
}

impl Instruction {
    /// The opcode without its modifiers: `LDG`.
    pub fn base_opcode(&self) -> &str {
        self.opcode.split('.').next().unwrap_or(&self.opcode)
    }

    pub fn control(&self) -> Control {
        Control::of(self.encoding)
    }
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    pub file: Arc<str>,
    pub line: u32,
}

/// Text that is not a listing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    #[error("line {line}: `{text}` where {expected} was expected")]
    Line { line: usize, text: String, expected: &'static str },
    #[error("it has no instructions")]
    Empty,
}

/// Reads a listing.
pub fn parse(text: &str) -> Result<Listing, ListingError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.read(line).map_err(|expected| ListingError::Line {
            line: index + 1,
            text: line.trim().chars().take(200).collect(),
            expected,
        })?;
    }
    if reader.low_half.is_some() {
        let text = "the end".to_owned();
        return Err(ListingError::Line {
            line: text.lines().count(),
            text,
            expected: "the second half of an encoding",
        });
    }
    if reader.listing.functions.iter().all(|function| function.instructions.is_empty()) {
        return Err(ListingError::Empty);
    }
    Ok(reader.listing)
}

#[derive(Default)]
struct Reader {
    listing: Listing,
    /// The first 64 bits of the instruction last read, until the second line of its encoding comes.
    low_half: Option<u64>,
    source: Arc<[SourceLine]>,
    /// Source lines read since the last instruction.
    chain: Vec<SourceLine>,
}

/// What was expected instead.
type Expected = &'static str;

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), Expected> {
        let line = line.trim();
        if let Some(low) = self.low_half.take() {
            return self.read_high_half(line, low);
        }
        if let Some(rest) = line.strip_prefix("//## File ") {
            self.chain.push(source_line(rest).ok_or("a file and a line")?);
        } else if let Some(rest) = line.strip_prefix(".target") {
            self.listing.arch = rest.trim().to_owned();
        } else if let Some(rest) = line.strip_prefix(".section\t") {
            let name = rest.trim().split(',').next().unwrap_or_default().trim_matches('"');
            let name = name.strip_prefix(".text.").ok_or("a section of code")?.to_owned();
            self.listing.functions.push(Function { name, ..Function::default() });
            self.chain.clear();
            self.source = Arc::default();
        } else if line.starts_with("/*") {
            self.read_instruction(line)?;
        } else if let Some(name) = line.strip_suffix(':')
            && let Some(function) = self.listing.functions.last_mut()
            && name != function.name
            && name.strip_prefix(".text.") != Some(&function.name)
        {
            let address = function.instructions.last().map_or(0, |last| last.address + 16);
            function.labels.push(Label { address, name: name.to_owned() });
        }
        Ok(())
    }

    /// `/*0070*/  @P0 EXIT ;  /* 0x000000000000094d */`
    fn read_instruction(&mut self, line: &str) -> Result<(), Expected> {
        let function = self.listing.functions.last_mut().ok_or("a section before code")?;
        let (address, rest) = line[2..].split_once("*/").ok_or("an address")?;
        let address = u32::from_str_radix(address.trim(), 16).map_err(|_| "an address in hexadecimal")?;
        let (code, encoding) = rest.split_once(';').ok_or("an instruction and a semicolon")?;
        let low = half(encoding.trim()).ok_or("the first half of an encoding")?;
        let code = code.trim();
        let (predicate, code) = match code.strip_prefix('@') {
            Some(_) => {
                let (predicate, code) = code.split_once(char::is_whitespace).ok_or("an opcode behind the predicate")?;
                (Some(predicate.to_owned()), code.trim())
            }
            None => (None, code),
        };
        let (opcode, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        if opcode.is_empty() {
            return Err("an opcode");
        }
        if !self.chain.is_empty() {
            self.source = std::mem::take(&mut self.chain).into();
        }
        function.instructions.push(Instruction {
            address,
            predicate,
            opcode: opcode.to_owned(),
            operands: operands.trim().to_owned(),
            encoding: u128::from(low),
            source: self.source.clone(),
            live: None,
        });
        self.low_half = Some(low);
        Ok(())
    }

    fn read_high_half(&mut self, line: &str, low: u64) -> Result<(), Expected> {
        let high = half(line).ok_or("the second half of an encoding")?;
        let instruction = self.listing.functions.last_mut().and_then(|function| function.instructions.last_mut());
        if let Some(instruction) = instruction {
            instruction.encoding = u128::from(high) << 64 | u128::from(low);
        }
        Ok(())
    }
}

/// `/* 0x000e6e0008000a00 */`
fn half(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("/*")?.strip_suffix("*/")?.trim().strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()
}

/// `"src/maths.rs", line 5 inlined at "src/lib.rs", line 14`; the line that is called from has a line of its own below.
fn source_line(rest: &str) -> Option<SourceLine> {
    let (file, rest) = rest.strip_prefix('"')?.split_once("\", line ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some(SourceLine { file: file.into(), line: rest[..end].parse().ok()? })
}
