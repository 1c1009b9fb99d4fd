//! Listings: the instructions of a kernel under the Rust lines that they come from.
//!
//! PTX is read line by line here ([`ptx`]): a listing shows what is written, so it needs no front end and cannot fail on an
//! instruction that the machine does not know. SASS comes from NVIDIA's disassembler ([`sass`]). Both become [`Line`]s,
//! and [`print()`](print::print) sets them under their sources.

pub mod print;
pub mod ptx;
pub mod sass;
mod sources;

pub use sources::Sources;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// As the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it comes from; `None`: the compiler's own.
    pub source: Option<SourcePlace>,
    pub text: String,
}
