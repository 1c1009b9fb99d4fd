//! What is wrong with a PTX text, and where.
//!
//! Inside the front end a [`Problem`] is a span and a sentence; at the door it becomes a [`PtxError`], which also knows the
//! file, the line and the column.

use std::ops::Range;

use super::source::{Source, Span};

/// A PTX text that is wrong, or that the machine cannot run, at one place of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    file: String,
    line: u32,
    column: u32,
    source_line: String,
    message: String,
    help: Option<String>,
    unsupported: bool,
    span: Range<usize>,
}

impl PtxError {
    pub(super) fn new(source: &Source, problem: Problem) -> Self {
        let (line, column) = source.position(problem.span.start);
        Self(Box::new(Details {
            file: source.name.clone(),
            line,
            column,
            source_line: shorten(source.line_text(line)),
            message: problem.message,
            help: problem.help,
            unsupported: problem.unsupported,
            span: problem.span.start as usize..problem.span.end as usize,
        }))
    }

    /// Name of the module, as given to [`super::Module::parse`].
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Line of the listing, from 1.
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> u32 {
        self.0.column
    }

    /// Text of that line (its first 200 characters).
    pub fn source_line(&self) -> &str {
        &self.0.source_line
    }

    /// What was given and why it is wrong, one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What would be right, where that is known.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Whether the text is right and asks for what the machine does not have, rather than wrong.
    pub fn is_unsupported(&self) -> bool {
        self.0.unsupported
    }

    /// The bytes of the text that are meant.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }
}

impl std::error::Error for PtxError {}

impl std::fmt::Display for PtxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Details { file, line, column, source_line, message, help, .. } = &*self.0;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if let Some(help) = help {
            write!(f, "; {help}")?;
        }
        match source_line.trim() {
            "" => Ok(()),
            line => write!(f, "\n  {line}"),
        }
    }
}

fn shorten(line: &str) -> String {
    line.chars().take(200).collect()
}

/// An error before its place has been looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    pub unsupported: bool,
}

impl Problem {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, unsupported: false }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Marks what is right in itself but not executed by the machine.
    pub fn unsupported(mut self) -> Self {
        self.unsupported = true;
        self
    }
}

pub(super) type Outcome<T> = Result<T, Problem>;
