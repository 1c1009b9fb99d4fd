//! The table of launch bounds that a kernel crate leaves in its PTX: rows out of a variable, the variable out of the text.
//!
//! Rust has no attribute for bounds, and what is in the PTX is of the same sources as the code. The variable holds text, a line an entry,
//! with the words of a header: `heavy_capped .maxntid 256,1,1 .minnctapersm 6`. LLVM prints it as one line of numbers.

use std::ops::Range;

use super::RewriteError;
use super::bounds::HeaderBounds;
use super::excerpt::{Bounds, parted};

/// The variable's name.
const VARIABLE: &str = "WARPWISE_LAUNCH_BOUNDS";

/// The table, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    rows: Vec<(String, Bounds)>,
    /// The variable's line in the text, in bytes.
    place: Range<usize>,
}

impl Table {
    /// The table of a text, if it has one.
    ///
    /// # Errors
    /// The variable holds no text of bounds.
    pub fn read(ptx: &str) -> Result<Option<Self>, RewriteError> {
        let head = format!(" {VARIABLE}[");
        let Some(found) = ptx.match_indices(&head).map(|(at, _)| at).find(|at| is_variable(ptx, *at)) else {
            return Ok(None);
        };
        let start = ptx[..found].rfind('\n').map_or(0, |end| end + 1);
        let end = ptx[start..].find('\n').map_or(ptx.len(), |length| start + length + 1);
        let line = &ptx[start..end];
        let bad = || RewriteError::BadBounds { line: ptx[..start].matches('\n').count() + 1 };
        let (_, numbers) = line.split_once('{').ok_or_else(bad)?;
        let (numbers, _) = numbers.split_once('}').ok_or_else(bad)?;
        let bytes = numbers.split(',').map(|number| number.trim().parse::<u8>()).collect::<Result<Vec<u8>, _>>();
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(bad)?;
        let row = |line: &str| {
            let (entry, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (bounds, rest) = parted(rest);
            (rest.trim().is_empty() && !entry.is_empty()).then(|| (entry.to_owned(), bounds))
        };
        let rows = text.lines().map(row).collect::<Option<_>>().ok_or_else(bad)?;
        Ok(Some(Self { rows, place: start..end }))
    }

    /// The rows of entries that the text has: of a crate not all kernels need be compiled.
    pub fn of_entries<'t>(&'t self, names: &[&str]) -> Vec<HeaderBounds<'t>> {
        let rows = self.rows.iter().filter(|(entry, _)| names.contains(&entry.as_str()));
        rows.map(|(entry, bounds)| bounds.header(entry)).collect()
    }

    /// The text with the variable's line empty, so that the others keep their numbers.
    pub fn cleared(&self, ptx: &str) -> String {
        let Range { start, end } = self.place;
        format!("{}\n{}", &ptx[..start], &ptx[end..])
    }
}

/// Whether a name in a text is that of a variable of bytes, and not a use or a comment.
fn is_variable(ptx: &str, at: usize) -> bool {
    let start = ptx[..at].rfind('\n').map_or(0, |end| end + 1);
    let words: Vec<&str> = ptx[start..at].split_whitespace().collect();
    words.contains(&".global") && words.last() == Some(&".b8")
}
