//! Debug sections from text to bytes: `.b8 1`, `.b32 .debug_abbrev`, `.b64 $L__tmp3`.
//!
//! A label outside the sections is written as its place in the text, a label inside a section as its offset there, a
//! section's name as 0. Differences of two places order as the code does, which is all that DWARF's ranges need here.

use std::collections::HashMap;

use super::RewriteError;
use super::document::{Document, SectionLine, label};

/// Assembles one section; an absent one is empty.
pub fn section(document: &Document, name: &str) -> Result<Vec<u8>, RewriteError> {
    let lines = document.section(name);
    let inner = inner_labels(name, lines)?;
    let mut bytes = Vec::new();
    for line in lines {
        let Some((width_bytes, values)) = datum(name, line)? else { continue };
        for text in values.split(',') {
            let value = value(document, &inner, name, line, text.trim())?;
            bytes.extend_from_slice(&value.to_le_bytes()[..width_bytes]);
        }
    }
    Ok(bytes)
}

/// Offsets of the labels inside a section.
fn inner_labels<'a>(name: &str, lines: &[SectionLine<'a>]) -> Result<HashMap<&'a str, i64>, RewriteError> {
    let mut labels = HashMap::new();
    let mut offset = 0;
    for line in lines {
        if let Some(label) = label(line.text) {
            labels.insert(label, offset);
        }
        if let Some((width_bytes, values)) = datum(name, line)? {
            offset += (values.split(',').count() * width_bytes) as i64;
        }
    }
    Ok(labels)
}

/// Width in bytes and the values of a data line; nothing for a line that is only a label.
fn datum<'a>(section: &str, line: &SectionLine<'a>) -> Result<Option<(usize, &'a str)>, RewriteError> {
    let text = match label(line.text) {
        Some(label) => line.text[label.len() + 1..].trim(),
        None => line.text,
    };
    if text.is_empty() {
        return Ok(None);
    }
    let (width, values) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let width_bytes = match width {
        ".b8" => 1,
        ".b16" => 2,
        ".b32" => 4,
        ".b64" => 8,
        _ => return Err(bad_data(section, line, ".b8, .b16, .b32 or .b64")),
    };
    Ok(Some((width_bytes, values)))
}

/// A number, or names joined by `+` and `-` with numbers.
fn value(
    document: &Document,
    inner: &HashMap<&str, i64>,
    section: &str,
    line: &SectionLine,
    text: &str,
) -> Result<i64, RewriteError> {
    let mut sum = 0i64;
    let mut rest = text;
    let mut first = true;
    while first || !rest.is_empty() {
        let negative = rest.starts_with('-');
        if negative || (!first && rest.starts_with('+')) {
            rest = &rest[1..];
        }
        rest = rest.trim_start();
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let (term, after) = rest.split_at(end);
        let term = term_value(document, inner, section, line, term.trim())?;
        sum = if negative { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
        rest = after;
        first = false;
    }
    Ok(sum)
}

fn term_value(
    document: &Document,
    inner: &HashMap<&str, i64>,
    section: &str,
    line: &SectionLine,
    term: &str,
) -> Result<i64, RewriteError> {
    if term.starts_with(|c: char| c.is_ascii_digit()) {
        let parsed = match term.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => term.parse(),
        };
        return parsed.map(|n| n as i64).map_err(|_| bad_data(section, line, "a number of at most 64 bits"));
    }
    if term.starts_with(".debug_") {
        return Ok(0);
    }
    if term.is_empty() {
        return Err(bad_data(section, line, "a number or a label"));
    }
    let place = document.labels.get(term).map(|&place| place as i64);
    inner.get(term).copied().or(place).ok_or_else(|| RewriteError::UnknownLabel {
        section: section.to_owned(),
        line: line.number,
        label: term.to_owned(),
    })
}

fn bad_data(section: &str, line: &SectionLine, expected: &'static str) -> RewriteError {
    RewriteError::BadData { section: section.to_owned(), line: line.number, text: line.text.to_owned(), expected }
}
