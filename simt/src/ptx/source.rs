//! The text of a module and positions in it.

/// Bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end.max(self.start) }
    }
}

/// A module's text with its name and an index of its lines.
#[derive(Debug)]
pub(super) struct Source {
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

impl Source {
    /// Longest text, bytes: positions are 32 bits, and no real module comes near.
    pub const BYTES_MAX: usize = 1 << 26;

    pub fn new(name: &str, text: &str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1));
        Self { name: name.to_owned(), text: text.to_owned(), line_starts }
    }

    /// The text at `span`; empty if the span is not one of this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn position(&self, byte: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start <= byte).max(1);
        let start = self.line_starts[line - 1] as usize;
        let before = self.text.get(start..byte as usize).map_or(0, |text| text.chars().count());
        (line as u32, before as u32 + 1)
    }

    /// Line of a byte, from 1.
    pub fn line(&self, byte: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= byte).max(1) as u32
    }

    /// The text of a line, without its end.
    pub fn line_text(&self, line: u32) -> &str {
        let index = line.saturating_sub(1) as usize;
        let Some(&start) = self.line_starts.get(index) else { return "" };
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        self.text.get(start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}
