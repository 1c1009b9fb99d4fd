//! Finishes the PTX that rustc writes: source lines that name the kernel's author, launch bounds in the headers.
//!
//! rustc's own back end leaves three things undone. Inlined code carries lines of core or of `cuda_std` (`ptr.add` is at
//! `const_ptr.rs`), while LLVM writes no `inlined_at`. Debug information comes as DWARF in text, which ptxas refuses.
//! And Rust has no attribute for launch bounds. [`finish`] mends all three and changes no instruction.
//!
//! The idea: DWARF's addresses are labels between instructions, so a label's *place*, the index of its line in the text,
//! can stand for its address. `document` splits the text into lines and sections, `assemble` turns the sections'
//! `.b8 … .b64 label` into bytes with places for labels, `scopes` reads the inlined calls out of them with gimli, and
//! `lines` writes each `.loc` anew. `bounds` writes the headers, from the
//! `table` in the text; `excerpt` has one kernel compiled under other bounds,
//! `beside` has kernels of two texts compiled as one. Parsing instructions is left to the PTX front end.

mod assemble;
mod beside;
mod bounds;
mod document;
mod excerpt;
mod lines;
mod scopes;
mod table;

pub use beside::{beside, chosen};
pub use bounds::HeaderBounds;
pub use excerpt::{Bounds, Excerpt};

use std::borrow::Cow;

use document::Document;
use table::Table;

/// What [`finish`] needs to know beside the PTX.
pub struct FinishOptions<'a> {
    /// Launch bounds and register caps, written into the headers of the entries they name, where the text has no table of its own: that of
    /// kernel crates which leave one in the variable `WARPWISE_LAUNCH_BOUNDS` is of their sources, and comes first.
    pub bounds: &'a [HeaderBounds<'a>],
    /// Is this source file, spelled as in the PTX's `.file`, one of the author's? An inlined instruction gets the line
    /// of the innermost function for which this holds.
    pub ours: &'a dyn Fn(&str) -> bool,
}

/// Why PTX could not be finished. Line numbers count from 1 and are those of the raw PTX.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    #[error("PTX line {line}: section {section} has no closing brace")]
    UnclosedSection { section: String, line: usize },
    #[error("PTX line {line}: `{text}` in section {section}, where {expected} was expected")]
    BadData { section: String, line: usize, text: String, expected: &'static str },
    #[error("PTX line {line}: section {section} names the label `{label}`, which the text does not have")]
    UnknownLabel { section: String, line: usize, label: String },
    #[error("the DWARF in the PTX cannot be read: {0}")]
    Dwarf(#[from] gimli::Error),
    #[error("PTX line {line}: `{text}` is no `.loc FILE LINE COLUMN`")]
    BadLoc { line: usize, text: String },
    #[error("PTX line {line}: `{text}` is no `.file NUMBER \"PATH\"`")]
    BadFile { line: usize, text: String },
    #[error("source file number {number} is used, but no `.file {number}` names it")]
    UnknownFile { number: u64 },
    #[error("PTX line {line}: the variable with launch bounds holds no table of them")]
    BadBounds { line: usize },
    #[error("launch bounds are given for `{entry}`, which the PTX does not have; it has {known}")]
    UnknownEntry { entry: String, known: String },
    #[error("PTX line {line}: the entry `{entry}` has no body")]
    UnfinishedEntry { entry: String, line: usize },
    #[error(
        "PTX line {line}: the entry `{entry}` already has `{directive}`, so the bounds given for it would contradict"
    )]
    BoundsExist { entry: String, directive: &'static str, line: usize },
}

/// Finishes raw PTX.
///
/// Where the text has a `.debug_info` section, every `.loc` is rewritten to the line of the innermost function whose
/// file is [`FinishOptions::ours`]; where none is, it keeps the innermost line. The functions that called it, up to the
/// kernel, follow as PTX's `function_name` and `inlined_at` (ISA 7.2 and later), the outer ones first, as nvcc writes
/// them; the library functions inside it stand in a comment. The debug sections and `, debug` go, but for a
/// `.debug_str` that holds the function names. A line of 0 is LLVM's "no line" and stays.
///
/// PTX without `.debug_info` is returned as it came, with only the bounds added.
pub fn finish(raw_ptx: &str, options: &FinishOptions) -> Result<String, RewriteError> {
    let table = Table::read(raw_ptx)?;
    let cleared = table.as_ref().map_or(Cow::Borrowed(raw_ptx), |table| Cow::Owned(table.cleared(raw_ptx)));
    let document = Document::split(&cleared)?;
    let lined = match document.has_section(".debug_info") {
        true => Cow::Owned(lines::rewrite(&document, options.ours)?),
        false => Cow::Borrowed(&*cleared),
    };
    let Some(table) = &table else { return bounds::write(&lined, options.bounds) };
    let headers = bounds::headers(&lined)?;
    let names: Vec<&str> = headers.iter().map(|header| header.name).collect();
    bounds::write(&lined, &table.of_entries(&names))
}

#[cfg(test)]
mod tests;
