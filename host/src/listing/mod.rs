//! Listings: the instructions of a kernel under the source lines that they come from.
//!
//! PTX is read line by line here ([`ptx`]): a listing shows what is written, so it needs no front end and cannot fail on an
//! instruction that the machine does not know. SASS comes from NVIDIA's disassembler ([`sass`]). Both become a [`Listing`];
//! [`print()`](print::print) sets it under its sources, [`fold()`](fold::fold) sums it up by source line, and [`peak`] says what is
//! alive where most is.

pub mod fold;
mod life;
pub mod peak;
pub mod print;
pub mod ptx;
mod ptx_life;
pub mod sass;
mod sources;

pub use life::{Life, Use};
pub use sources::Sources;

/// What paths of libraries have in them: Rust's core, `cuda_std`, CUDA's headers, Triton's own functions.
const OF_LIBRARIES: [&str; 5] = ["library/", "/rustc", "kernels-gpu/std", "/include/", "site-packages/"];

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePlace {
    /// As the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl SourcePlace {
    /// Whether it is the author's: not of a standard library, of `cuda_std`, or of a compiler's headers and packages.
    pub fn is_own(&self) -> bool {
        !OF_LIBRARIES.iter().any(|part| self.file.contains(part))
    }

    /// `vecadd.rs:14`.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or(&self.file), self.line)
    }
}

/// One line of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Where it comes from: the innermost line of the author's if there is one; `None`: the compiler's own.
    pub source: Option<SourcePlace>,
    /// All the lines that lead to it, the innermost first.
    pub chain: Vec<SourcePlace>,
    /// What the standard library adds to the chain, in words; empty if nothing is known of that.
    pub library: String,
    pub text: String,
    /// An instruction, not a label or a declaration.
    pub is_instruction: bool,
    /// How it waits and makes others wait, for SASS.
    pub control: Option<String>,
}

/// A kernel's lines, and what is alive at each of them.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub lines: Vec<Line>,
    pub life: Option<Life>,
}

impl Listing {
    /// Whether any line says where it comes from.
    pub fn has_sources(&self) -> bool {
        self.lines.iter().any(|line| line.source.is_some())
    }
}

impl Line {
    /// The place that the line is shown under, of those that lead to it.
    fn own(chain: &[SourcePlace]) -> Option<SourcePlace> {
        chain.iter().find(|place| place.is_own()).or(chain.first()).cloned()
    }
}
