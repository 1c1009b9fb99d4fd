//! Launch bounds and register caps, written into the headers of entries, where ptxas and the driver's JIT obey them.

use std::fmt::Write;

use super::RewriteError;

/// What to write into one entry's header. Ranges are left to ptxas, which knows the architecture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderBounds<'a> {
    /// The entry's name as PTX has it.
    pub entry: &'a str,
    /// `.maxntid`: the greatest block in x, y and z.
    pub max_threads: Option<[u32; 3]>,
    /// `.minnctapersm`: the blocks that an SM must be able to hold. ptxas heeds it only beside `max_threads`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`: the most registers a thread may have.
    pub max_registers: Option<u32>,
}

impl HeaderBounds<'_> {
    /// Directive and operand of each bound that is set.
    pub(super) fn directives(&self) -> impl Iterator<Item = (&'static str, String)> {
        let threads = self.max_threads.map(|[x, y, z]| (".maxntid", format!("{x}, {y}, {z}")));
        let blocks = self.min_blocks_per_sm.map(|blocks| (".minnctapersm", blocks.to_string()));
        let registers = self.max_registers.map(|registers| (".maxnreg", registers.to_string()));
        [threads, blocks, registers].into_iter().flatten()
    }
}

/// An entry with a body.
pub(super) struct Header<'a> {
    pub name: &'a str,
    /// Offset in the PTX of the line that has `.entry`.
    pub start: usize,
    /// Line number of `.entry`.
    pub line: usize,
    /// From the name up to the body.
    pub text: &'a str,
    /// Offset in the PTX of the brace that opens the body.
    pub body: usize,
}

/// Writes all bounds. Fails where an entry is unknown or already has a bound of the same kind.
pub fn write(ptx: &str, bounds: &[HeaderBounds]) -> Result<String, RewriteError> {
    if bounds.is_empty() {
        return Ok(ptx.to_owned());
    }
    let headers = headers(ptx)?;
    if let Some(stray) = bounds.iter().find(|bound| !headers.iter().any(|header| header.name == bound.entry)) {
        let mut known: Vec<&str> = headers.iter().map(|header| header.name).collect();
        known.sort_unstable();
        let known = if known.is_empty() { "no entries".to_owned() } else { known.join(", ") };
        return Err(RewriteError::UnknownEntry { entry: stray.entry.to_owned(), known });
    }
    let mut out = String::with_capacity(ptx.len());
    let mut written = 0;
    for header in headers {
        out.push_str(&ptx[written..header.body]);
        written = header.body;
        let mut present: Vec<&str> = header.text.split(|c: char| c.is_whitespace() || c == ')').collect();
        for bound in bounds.iter().filter(|bound| bound.entry == header.name) {
            for (directive, operand) in bound.directives() {
                if present.contains(&directive) {
                    let entry = header.name.to_owned();
                    return Err(RewriteError::BoundsExist { entry, directive, line: header.line });
                }
                present.push(directive);
                let _ = writeln!(out, "{directive} {operand}");
            }
        }
    }
    out.push_str(&ptx[written..]);
    Ok(out)
}

/// Finds the entries that have a body; declarations have none.
pub(super) fn headers(ptx: &str) -> Result<Vec<Header<'_>>, RewriteError> {
    let mut headers = Vec::new();
    let mut offset = 0;
    for (index, line) in ptx.split_inclusive('\n').enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if let Some(name_at) = after_entry(code) {
            let rest = ptx[offset + name_at..].trim_start();
            let name = &rest[..rest.find(|c: char| c.is_whitespace() || "({;".contains(c)).unwrap_or(rest.len())];
            let line = index + 1;
            match body(rest) {
                Some((at, '{')) => {
                    let body = ptx.len() - rest.len() + at;
                    headers.push(Header { name, start: offset, line, text: &rest[..at], body });
                }
                Some(_) => {}
                None => return Err(RewriteError::UnfinishedEntry { entry: name.to_owned(), line }),
            }
        }
        offset += line.len();
    }
    Ok(headers)
}

/// Where a line's `.entry` ends, if it has one.
fn after_entry(code: &str) -> Option<usize> {
    let end = code.find(".entry")? + ".entry".len();
    let rest = &code[end..];
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(end)
}

/// The first brace or semicolon outside comments, and its offset.
fn body(text: &str) -> Option<(usize, char)> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        if let Some(at) = code.find(['{', ';']) {
            return Some((offset + at, if code[at..].starts_with('{') { '{' } else { ';' }));
        }
        offset += line.len();
    }
    None
}
