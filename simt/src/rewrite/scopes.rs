//! Which function an instruction was written in, and which calls brought it to where it is.
//!
//! The DWARF has a tree for each function: itself, the calls inlined in it, the calls inlined in those. A call that was
//! inlined covers one stretch of code; where the compiler moved or unrolled code, LLVM's back end for PTX writes the
//! hull of the pieces, so stretches of sibling calls overlap. `-Z verbose-asm` makes it say in a comment which calls are
//! meant, and that decides. Without the comment the scope is taken whose function can hold the line that `.loc` gives:
//! declared in that file, and closest above that line.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    AttributeValue, DebugAbbrev, DebugInfo, DebugInfoOffset, DebugStr, DebuggingInformationEntry, DwAt, EndianSlice,
    LittleEndian, UnitHeader, constants,
};

use super::RewriteError;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a, 'b> = DebuggingInformationEntry<'a, 'a, Bytes<'b>>;

/// How many references are followed from a function to the entry that has its name; compilers write at most two.
const REFERENCES_MAX: usize = 4;

/// A position in a source file. `file` is a number of PTX's `.file`; a `line` of 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub file: u64,
    pub line: u64,
    pub column: u64,
}

/// A position in a file that is not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: u64,
    pub column: u64,
}

impl std::fmt::Display for Location {
    /// As the operands of `.loc` and `inlined_at`.
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{} {} {}", self.file, self.line, self.column)
    }
}

/// One level of a chain of inlined calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'s> {
    pub location: Location,
    /// Path of the function that the location lies in, without generic arguments; empty if the DWARF has none.
    pub function: &'s str,
}

#[derive(Debug, Default, Clone)]
struct Function {
    name: String,
    file: Option<u64>,
    line: u64,
    /// The entry that says what this one does not.
    origin: Option<usize>,
}

struct Scope {
    places: Range<u64>,
    /// Offset of the function's entry in `.debug_info`.
    function: usize,
    /// The enclosing scope and the position of the call there; none for a function that was not inlined.
    call: Option<(usize, Location)>,
}

/// All scopes of a module, each after the one that encloses it.
#[derive(Default)]
pub struct Scopes {
    scopes: Vec<Scope>,
    functions: HashMap<usize, Function>,
    unknown: Function,
}

/// The assembled sections that describe functions.
pub struct Sections {
    pub info: Vec<u8>,
    pub abbreviations: Vec<u8>,
    pub strings: Vec<u8>,
}

impl Scopes {
    /// Reads every unit of the DWARF.
    pub fn read(sections: &Sections) -> Result<Self, RewriteError> {
        let info = DebugInfo::new(&sections.info, LittleEndian);
        let abbreviations = DebugAbbrev::new(&sections.abbreviations, LittleEndian);
        let strings = DebugStr::new(&sections.strings, LittleEndian);
        let mut scopes = Self::default();
        let mut units = info.units();
        while let Some(unit) = units.next()? {
            scopes.read_unit(&unit, &abbreviations, &strings)?;
        }
        scopes.resolve_origins();
        Ok(scopes)
    }

    fn read_unit<'b>(
        &mut self,
        unit: &UnitHeader<Bytes<'b>>,
        abbreviations: &DebugAbbrev<Bytes<'b>>,
        strings: &DebugStr<Bytes<'b>>,
    ) -> Result<(), RewriteError> {
        let abbreviations = unit.abbreviations(abbreviations)?;
        let reader = Reader { unit, strings };
        let mut entries = unit.entries(&abbreviations);
        let mut depth = 0;
        // Of each enclosing entry: its depth, its scope if it has one, the length of the path outside it.
        let mut around: Vec<(isize, Option<usize>, usize)> = Vec::new();
        let mut path = String::new();
        while let Some((delta, entry)) = entries.next_dfs()? {
            depth += delta;
            while around.last().is_some_and(|&(outer, ..)| outer >= depth) {
                if let Some((.., length)) = around.pop() {
                    path.truncate(length);
                }
            }
            let enclosing = around.last().and_then(|&(_, scope, _)| scope);
            let length = path.len();
            let scope = match entry.tag() {
                constants::DW_TAG_subprogram => self.read_function(&reader, entry, &path)?,
                constants::DW_TAG_inlined_subroutine => self.read_inlined(&reader, entry, enclosing)?,
                constants::DW_TAG_lexical_block => enclosing,
                constants::DW_TAG_compile_unit => None,
                _ => {
                    push_segment(&mut path, &reader.name(entry)?);
                    None
                }
            };
            around.push((depth, scope, length));
        }
        Ok(())
    }

    /// Notes what the entry says of a function; gives its scope where it has code.
    fn read_function(
        &mut self,
        reader: &Reader,
        entry: &Entry,
        namespace: &str,
    ) -> Result<Option<usize>, RewriteError> {
        let own = reader.name(entry)?;
        let mut name = String::new();
        if !own.is_empty() {
            name.push_str(namespace);
            push_segment(&mut name, &own);
        }
        let origin = match reader.reference(entry, constants::DW_AT_abstract_origin)? {
            Some(origin) => Some(origin),
            None => reader.reference(entry, constants::DW_AT_specification)?,
        };
        let file = reader.number(entry, constants::DW_AT_decl_file)?;
        let line = reader.number(entry, constants::DW_AT_decl_line)?.unwrap_or(0);
        let Some(offset) = reader.offset(entry) else { return Ok(None) };
        self.functions.insert(offset, Function { name, file, line, origin });
        Ok(reader.places(entry)?.map(|places| self.push(Scope { places, function: offset, call: None })))
    }

    fn read_inlined(
        &mut self,
        reader: &Reader,
        entry: &Entry,
        enclosing: Option<usize>,
    ) -> Result<Option<usize>, RewriteError> {
        let (Some(caller), Some(places), Some(function)) =
            (enclosing, reader.places(entry)?, reader.reference(entry, constants::DW_AT_abstract_origin)?)
        else {
            return Ok(enclosing);
        };
        let number = |name| reader.number(entry, name).map(Option::unwrap_or_default);
        let at = Location {
            file: number(constants::DW_AT_call_file)?,
            line: number(constants::DW_AT_call_line)?,
            column: number(constants::DW_AT_call_column)?,
        };
        Ok(Some(self.push(Scope { places, function, call: Some((caller, at)) })))
    }

    fn push(&mut self, scope: Scope) -> usize {
        self.scopes.push(scope);
        self.scopes.len() - 1
    }

    /// Fills what an entry leaves to the one it refers to.
    fn resolve_origins(&mut self) {
        for _ in 0..REFERENCES_MAX {
            let known = self.functions.clone();
            for function in self.functions.values_mut() {
                let Some(origin) = function.origin.and_then(|offset| known.get(&offset)) else { continue };
                if function.name.is_empty() {
                    function.name.clone_from(&origin.name);
                }
                if function.file.is_none() {
                    (function.file, function.line) = (origin.file, origin.line);
                }
                function.origin = origin.origin;
            }
        }
    }

    /// The chain of calls behind an instruction, innermost first; never empty. `place` is that of its `.loc`,
    /// `location` what that says, `calls` the inlined calls that its comment gives, if there is one.
    pub fn chain(&self, place: usize, location: Location, calls: Option<&[Position]>) -> Vec<Frame<'_>> {
        let mut scope = self.innermost(place as u64, location, calls);
        let mut location = location;
        let mut frames = Vec::new();
        while let Some(at) = scope {
            frames.push(Frame { location, function: &self.function(at).name });
            scope = self.scopes[at].call.map(|(caller, call)| {
                location = call;
                caller
            });
        }
        if frames.is_empty() {
            frames.push(Frame { location, function: "" });
        }
        frames
    }

    fn innermost(&self, place: u64, location: Location, calls: Option<&[Position]>) -> Option<usize> {
        let around = self.scopes.iter().enumerate().filter(|(_, scope)| scope.places.contains(&place));
        let fitness = |index: usize| {
            let named = calls.is_some_and(|calls| self.calls(index).eq(calls.iter().copied()));
            let function = self.function(index);
            let holds = function.file == Some(location.file) && (location.line == 0 || function.line <= location.line);
            (named, holds, if holds { function.line } else { 0 })
        };
        around
            .max_by_key(|(index, scope)| {
                let extent = scope.places.end - scope.places.start;
                (fitness(*index), Reverse(extent), *index)
            })
            .map(|(index, _)| index)
    }

    /// The calls around a scope, innermost first.
    fn calls(&self, scope: usize) -> impl Iterator<Item = Position> {
        let around = std::iter::successors(self.scopes[scope].call, |&(caller, _)| self.scopes[caller].call);
        around.map(|(_, call)| Position { line: call.line, column: call.column })
    }

    fn function(&self, scope: usize) -> &Function {
        self.functions.get(&self.scopes[scope].function).unwrap_or(&self.unknown)
    }
}

/// Reads attributes of the entries of one unit.
struct Reader<'r, 'b> {
    unit: &'r UnitHeader<Bytes<'b>>,
    strings: &'r DebugStr<Bytes<'b>>,
}

impl Reader<'_, '_> {
    /// The entry's name without generic arguments.
    fn name(&self, entry: &Entry) -> Result<String, RewriteError> {
        let name = entry.attr(constants::DW_AT_name)?.and_then(|attribute| attribute.string_value(self.strings));
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(match name.find('<') {
            Some(end) if end > 0 => name[..end].to_owned(),
            _ => name,
        })
    }

    fn number(&self, entry: &Entry, name: DwAt) -> Result<Option<u64>, RewriteError> {
        Ok(match entry.attr_value(name)? {
            Some(AttributeValue::FileIndex(file)) => Some(file),
            Some(value) => value.udata_value(),
            None => None,
        })
    }

    /// Offset in `.debug_info` of the entry that an attribute refers to.
    fn reference(&self, entry: &Entry, name: DwAt) -> Result<Option<usize>, RewriteError> {
        Ok(match entry.attr_value(name)? {
            Some(AttributeValue::UnitRef(offset)) => offset.to_debug_info_offset(self.unit).map(|offset| offset.0),
            Some(AttributeValue::DebugInfoRef(DebugInfoOffset(offset))) => Some(offset),
            _ => None,
        })
    }

    fn offset(&self, entry: &Entry) -> Option<usize> {
        entry.offset().to_debug_info_offset(self.unit).map(|offset| offset.0)
    }

    /// The stretch of code that an entry covers.
    fn places(&self, entry: &Entry) -> Result<Option<Range<u64>>, RewriteError> {
        let Some(AttributeValue::Addr(low)) = entry.attr_value(constants::DW_AT_low_pc)? else { return Ok(None) };
        let high = match entry.attr_value(constants::DW_AT_high_pc)? {
            Some(AttributeValue::Addr(high)) => Some(high),
            Some(value) => value.udata_value().and_then(|length| low.checked_add(length)),
            None => None,
        };
        Ok(high.filter(|&high| high > low).map(|high| low..high))
    }
}

fn push_segment(path: &mut String, segment: &str) {
    if !path.is_empty() {
        path.push_str("::");
    }
    path.push_str(segment);
}
