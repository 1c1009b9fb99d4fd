//! PTX as lines, of which some belong to debug sections.
//!
//! LLVM prints one directive, label or instruction a line, so lines are enough here; only `.section` blocks span several.

use std::collections::HashMap;

use super::RewriteError;

/// One line outside the sections.
pub struct Line<'a> {
    /// Index of the line in the whole text: what stands for an address in the DWARF.
    pub place: usize,
    /// The text with its line end.
    pub text: &'a str,
}

impl Line<'_> {
    /// Line number as people count.
    pub fn number(&self) -> usize {
        self.place + 1
    }
}

/// One line inside a section: data, a label or nothing. Comments are gone.
pub struct SectionLine<'a> {
    pub number: usize,
    pub text: &'a str,
}

/// The text taken apart; nothing of it is copied.
pub struct Document<'a> {
    pub lines: Vec<Line<'a>>,
    sections: HashMap<&'a str, Vec<SectionLine<'a>>>,
    /// Places of the labels outside the sections.
    pub labels: HashMap<&'a str, usize>,
    /// Paths by the numbers that `.file` gives them.
    pub files: HashMap<u64, &'a str>,
}

impl<'a> Document<'a> {
    /// Takes PTX apart. Fails on a section without end or a `.file` that cannot be read.
    pub fn split(text: &'a str) -> Result<Self, RewriteError> {
        let mut document =
            Document { lines: Vec::new(), sections: HashMap::new(), labels: HashMap::new(), files: HashMap::new() };
        let mut lines = text.split_inclusive('\n').enumerate();
        while let Some((place, text)) = lines.next() {
            if let Some((section, rest)) = section_head(text) {
                let body = section_body(section, rest, place, &mut lines)?;
                document.sections.entry(section).or_default().extend(body);
                continue;
            }
            if let Some(label) = label(text) {
                document.labels.insert(label, place);
            } else if let Some(rest) = directive(text, ".file") {
                let (number, path) = file(rest)
                    .ok_or_else(|| RewriteError::BadFile { line: place + 1, text: text.trim().to_owned() })?;
                document.files.insert(number, path);
            }
            document.lines.push(Line { place, text });
        }
        Ok(document)
    }

    pub fn has_section(&self, name: &str) -> bool {
        self.sections.contains_key(name)
    }

    /// The lines of a section, none if it is absent.
    pub fn section(&self, name: &str) -> &[SectionLine<'a>] {
        self.sections.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The rest of the line after a directive, if the line begins with it.
pub fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(name)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

/// The label that a line begins with: `$L__tmp3:` gives `$L__tmp3`.
pub fn label(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')))?;
    let (label, rest) = line.split_at(end);
    (!label.is_empty() && rest.starts_with(':') && !rest.starts_with("::")).then_some(label)
}

/// Name of the debug section that begins in this line, and what follows the name.
fn section_head(line: &str) -> Option<(&str, &str)> {
    let rest = directive(line, ".section")?;
    let end = rest.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    name.starts_with(".debug_").then_some((name, rest))
}

/// Reads up to the closing brace. `rest` is what the first line has after the section's name.
fn section_body<'a>(
    section: &str,
    rest: &'a str,
    first: usize,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Vec<SectionLine<'a>>, RewriteError> {
    let mut body = Vec::new();
    let mut open = false;
    let mut current = Some((first, rest));
    while let Some((place, text)) = current {
        let mut text = text.split("//").next().unwrap_or_default().trim();
        if !open && let Some(inside) = text.strip_prefix('{') {
            open = true;
            text = inside;
        }
        let (data, closed) = match text.split_once('}') {
            Some((data, _)) => (data.trim(), true),
            None => (text.trim(), false),
        };
        if !data.is_empty() {
            body.push(SectionLine { number: place + 1, text: data });
        }
        if open && closed {
            return Ok(body);
        }
        current = lines.next();
    }
    Err(RewriteError::UnclosedSection { section: section.to_owned(), line: first + 1 })
}

/// Reads `1 "src/lib.rs"`; a time stamp and a size may follow.
fn file(rest: &str) -> Option<(u64, &str)> {
    let (number, path) = rest.split_once(char::is_whitespace)?;
    let path = path.trim_start().strip_prefix('"')?;
    let (path, _) = path.split_once('"')?;
    Some((number.parse().ok()?, path))
}
