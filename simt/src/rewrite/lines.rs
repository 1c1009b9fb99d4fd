//! Writes the lines again: `.loc` with the author's line, no debug sections, no `, debug`.

use std::collections::HashMap;
use std::fmt::Write;

use super::RewriteError;
use super::assemble;
use super::document::{Document, Line, directive, label};
use super::scopes::{Frame, Location, Position, Scopes, Sections};

/// The first PTX version whose `.loc` takes `inlined_at` (PTX ISA, ".loc", "introduced in PTX ISA version 7.2").
const INLINED_AT_SINCE: (u32, u32) = (7, 2);

/// LLVM's labels at the end of sections stand outside them; ptxas refuses them there.
const SECTION_END_LABEL: &str = "$L__sec_end";

/// Writes a document that has `.debug_info`.
pub fn rewrite(document: &Document, ours: &dyn Fn(&str) -> bool) -> Result<String, RewriteError> {
    let scopes = Scopes::read(&Sections {
        info: assemble::section(document, ".debug_info")?,
        abbreviations: assemble::section(document, ".debug_abbrev")?,
        strings: assemble::section(document, ".debug_str")?,
    })?;
    let chains_allowed = version(document) >= INLINED_AT_SINCE;
    let mut writer = Writer { document, scopes: &scopes, ours, chains_allowed, names: Names::default() };
    let mut out = String::new();
    for line in &document.lines {
        if let Some(rest) = directive(line.text, ".loc") {
            writer.write_loc(&mut out, line, rest)?;
        } else if let Some(rest) = directive(line.text, ".target") {
            write_target(&mut out, rest);
        } else if !label(line.text).is_some_and(|label| label.starts_with(SECTION_END_LABEL)) {
            out.push_str(line.text);
        }
    }
    writer.names.write_section(&mut out);
    Ok(out)
}

struct Writer<'d> {
    document: &'d Document<'d>,
    scopes: &'d Scopes,
    ours: &'d dyn Fn(&str) -> bool,
    chains_allowed: bool,
    names: Names,
}

impl Writer<'_> {
    fn write_loc(&mut self, out: &mut String, line: &Line, rest: &str) -> Result<(), RewriteError> {
        let location = location(rest)
            .ok_or_else(|| RewriteError::BadLoc { line: line.number(), text: line.text.trim().to_owned() })?;
        let chain = self.scopes.chain(line.place, location, commented_calls(rest).as_deref());
        let shown = self.innermost_of_ours(&chain)?.unwrap_or(0);
        let (library, chain) = chain.split_at(shown);
        let mut levels = Vec::new();
        if let (true, Some(outermost)) = (self.chains_allowed, chain.last()) {
            levels.push(outermost.location.to_string());
            levels.extend(chain.windows(2).rev().map(|pair| self.inlined(&pair[0], &pair[1])));
        } else {
            levels.push(chain[0].location.to_string());
        }
        let _ = write!(out, "\t.loc\t{}", levels.join("\n\t.loc\t"));
        self.write_library_calls(out, library)?;
        out.push('\n');
        Ok(())
    }

    fn innermost_of_ours(&self, chain: &[Frame]) -> Result<Option<usize>, RewriteError> {
        for (index, frame) in chain.iter().enumerate() {
            let ours = (self.ours)(self.file(frame.location.file)?);
            if ours && frame.location.line != 0 {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// One level of a chain, as the operands of a `.loc`.
    fn inlined(&mut self, frame: &Frame, caller: &Frame) -> String {
        let name = self.names.number(frame.function);
        format!("{}, function_name {STRING_LABEL}{name}, inlined_at {}", frame.location, caller.location)
    }

    /// The library functions between the line shown and the instruction, as a comment.
    fn write_library_calls(&self, out: &mut String, library: &[Frame]) -> Result<(), RewriteError> {
        for (index, frame) in library.iter().rev().enumerate() {
            let path = self.file(frame.location.file)?;
            let file = path.rsplit('/').next().unwrap_or(path);
            let before = if index == 0 { "\t// by" } else { "," };
            let _ = write!(out, "{before} {} ({file}:{})", printable(frame.function), frame.location.line);
        }
        Ok(())
    }

    fn file(&self, number: u64) -> Result<&str, RewriteError> {
        self.document.files.get(&number).copied().ok_or(RewriteError::UnknownFile { number })
    }
}

/// Prefix of the labels in the `.debug_str` written here: nvcc's.
const STRING_LABEL: &str = "$L__info_string";

/// The function names that chains refer to, numbered as met.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    ordered: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.ordered.len();
        self.numbers.insert(name.to_owned(), number);
        self.ordered.push(name.to_owned());
        number
    }

    fn write_section(&self, out: &mut String) {
        if self.ordered.is_empty() {
            return;
        }
        out.push_str("\t.section\t.debug_str\n\t{\n");
        for (number, name) in self.ordered.iter().enumerate() {
            let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            let _ = writeln!(out, "{STRING_LABEL}{number}:\t// {}\n.b8 {}", printable(name), bytes.join(","));
        }
        out.push_str("\t}\n");
    }
}

/// Reads `3 83 5`; an `inlined_at` after it is not read, since the DWARF says it anew.
fn location(rest: &str) -> Option<Location> {
    let position = rest.split([',', '/']).next()?;
    let mut numbers = position.split_whitespace().map(|number| number.parse().ok());
    let location = Location { file: numbers.next()??, line: numbers.next()??, column: numbers.next()?? };
    numbers.next().is_none().then_some(location)
}

/// Reads the calls in LLVM's comment: `// src/maths.rs:5:15 @[ src/lib.rs:14:13 @[ src/lib.rs:40:9 ] ]`.
///
/// None where there is no comment or not this one; no calls where nothing was inlined.
fn commented_calls(rest: &str) -> Option<Vec<Position>> {
    let (_, comment) = rest.split_once("//")?;
    let mut positions = comment.trim_end_matches([' ', ']']).split(" @[ ").map(commented_position);
    positions.next()??;
    positions.collect()
}

/// Reads `src/lib.rs:14:13`; the column is left out where it is 0.
fn commented_position(text: &str) -> Option<Position> {
    let (rest, last) = text.trim().rsplit_once(':')?;
    let last = last.parse().ok()?;
    match rest.rsplit_once(':').and_then(|(_, line)| line.parse().ok()) {
        Some(line) => Some(Position { line, column: last }),
        None => Some(Position { line: last, column: 0 }),
    }
}

fn version(document: &Document) -> (u32, u32) {
    let text = document.lines.iter().find_map(|line| directive(line.text, ".version"));
    let text = text.map(|text| text.split("//").next().unwrap_or_default().trim());
    let numbers = text.and_then(|text| text.split_once('.'));
    numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))).unwrap_or_default()
}

fn write_target(out: &mut String, targets: &str) {
    let targets = targets.split("//").next().unwrap_or_default();
    let kept: Vec<&str> = targets.split(',').map(str::trim).filter(|&target| target != "debug").collect();
    let _ = writeln!(out, ".target {}", kept.join(", "));
}

/// A name that cannot end a comment early.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
