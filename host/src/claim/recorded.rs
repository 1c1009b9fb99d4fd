//! The compilers for which exact register counts were recorded.
//!
//! Registers, spills and instruction choice are what one version of rustc, its LLVM and ptxas make of a source; another
//! version may do better or worse and be right. A claim on them binds with a recorded triple; with any other it shows
//! what it found and is not run.

/// Versions of one recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub rustc: &'static str,
    pub llvm: &'static str,
    pub ptxas: &'static str,
}

/// Triples with which all claims on register counts were seen to hold.
pub static RECORDED: &[Recorded] = &[Recorded { rustc: "1.96.0", llvm: "22.1.8", ptxas: "13.2.78" }];

/// The compilers of this run; `None`: not at hand, or the kernels do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolchain {
    /// Release of the rustc that compiled the kernels.
    pub rustc: Option<String>,
    /// Version of its LLVM.
    pub llvm: Option<String>,
    pub ptxas: Option<String>,
}

impl Toolchain {
    /// Whether the three versions are one of the recorded triples.
    pub fn is_recorded(&self) -> bool {
        RECORDED.iter().any(|recorded| {
            self.rustc.as_deref() == Some(recorded.rustc)
                && self.llvm.as_deref() == Some(recorded.llvm)
                && self.ptxas.as_deref() == Some(recorded.ptxas)
        })
    }

    /// Why claims on exact register counts do not bind; `None` if they do.
    pub fn reason_not_recorded(&self) -> Option<String> {
        if self.is_recorded() {
            return None;
        }
        if self.ptxas.is_none() {
            return Some("needs ptxas".to_owned());
        }
        Some(format!("recorded for other compilers than {self}"))
    }
}

impl std::fmt::Display for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let version = |part: &Option<String>| part.clone().unwrap_or_else(|| "unknown".to_owned());
        write!(f, "rustc {}, LLVM {}, ", version(&self.rustc), version(&self.llvm))?;
        match &self.ptxas {
            Some(ptxas) => write!(f, "ptxas {ptxas}"),
            None => f.write_str("no ptxas"),
        }
    }
}
