//! Why a kernel's SASS cannot be run.

/// An instruction that the front end does not know, or a kernel that the cubin does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SassError {
    #[error("kernel {kernel}, address {address:#06x}: `{text}`: {what}")]
    Unsupported { kernel: String, address: u32, text: String, what: String },
    #[error("kernel {kernel}: the disassembly has no instructions")]
    Empty { kernel: String },
    #[error("kernel {kernel}: compiled for {arch}; SASS of 8.0 to 12.x runs on the machine")]
    Architecture { kernel: String, arch: String },
    #[error("kernel {kernel}: {count} different constants; the machine has room for {limit}")]
    Constants { kernel: String, count: usize, limit: usize },
}

/// What is wrong with one instruction, before it is known where it stands.
pub(super) type Problem = String;
