//! The one error of this program: a message for a person, of one to three lines, that says what to do.

use std::fmt;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub struct Error(String);

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What could not be done with a file, and the system's reason.
    pub fn file(could_not: &str, path: &Path, reason: &std::io::Error) -> Self {
        Self(format!("cannot {could_not} {}: {reason}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
