//! rustc as cargo called it for a kernel crate: written down when cargo does, called again without cargo when the crate's own sources are
//! all that changed since. `watch` waits for that, and cargo takes half a second to find out that nothing else is stale.
//!
//! Cargo calls this program in rustc's place ([`stand_between`]), which notes the words for the crate and goes on as rustc.

use crate::device_build::AS_LINKER;
use crate::error::{Error, Result};
use crate::facts;
use crate::kernel_crate::KernelCrate;
use crate::process::{self, Finished};
use crate::program;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Set for a device build whose call of rustc is to be written down: the file for it.
pub const RECORD: &str = "XTASK_RECORDS_RUSTC";
/// The library whose compilation is meant.
pub const LIBRARY: &str = "XTASK_RECORDS_LIBRARY";

/// What cargo tells a crate's macros, and what the compiler itself reads; no more of an environment is written to a file.
const VARIABLES: [&str; 7] = [
    "CARGO",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "LD_LIBRARY_PATH",
    "RUSTC_BOOTSTRAP",
    AS_LINKER,
];
const VARIABLES_OF_THE_PACKAGE: &str = "CARGO_PKG_";

/// Set by cargo for a crate with a build script, whose words to rustc may change with its inputs: such a crate is left to cargo.
const BUILD_SCRIPT: &str = "OUT_DIR";

/// A call of rustc.
#[derive(Debug, PartialEq, Eq)]
pub struct RustcLine {
    folder: PathBuf,
    variables: Vec<(String, String)>,
    words: Vec<String>,
}

/// Goes on as the rustc that `words` begin with; writes the call down if it is the one that is meant.
pub fn stand_between(record: &Path, words: &[String]) -> Result<ExitCode> {
    if is_meant(words, &env::var(LIBRARY).unwrap_or_default()) && env::var_os(BUILD_SCRIPT).is_none() {
        let is_kept = |name: &str| VARIABLES.contains(&name) || name.starts_with(VARIABLES_OF_THE_PACKAGE);
        let line = RustcLine {
            folder: env::current_dir().unwrap_or_default(),
            variables: env::vars().filter(|(name, _)| is_kept(name)).collect(),
            words: words.to_vec(),
        };
        facts::replace(record, line.text().as_bytes())?;
    }
    let (rustc, words) = words.split_first().ok_or_else(|| Error::new("cargo names no rustc"))?;
    let mut command = Command::new(rustc);
    // rustc calls this program again, as its linker.
    command.args(words).env_remove(RECORD).env_remove(LIBRARY);
    program::become_it(command)
}

fn is_meant(words: &[String], library: &str) -> bool {
    let has = |option: &str, value: &str| words.windows(2).any(|pair| pair[0] == option && pair[1] == value);
    has("--crate-name", library) && has("--crate-type", "cdylib")
}

impl RustcLine {
    /// The call that is written down at `path`, if any is.
    pub fn read(path: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(path).ok()?)
    }

    /// Every part ends in a zero byte, the variables in an empty part.
    fn text(&self) -> String {
        let mut text = format!("{}\0", self.folder.display());
        self.variables.iter().for_each(|(name, value)| text.push_str(&format!("{name}={value}\0")));
        text.push('\0');
        self.words.iter().for_each(|word| text.push_str(&format!("{word}\0")));
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_suffix('\0')?.split('\0');
        let folder = parts.next()?.into();
        let variables = parts.by_ref().take_while(|part| !part.is_empty());
        let variables =
            variables.map(|part| part.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
        let variables = variables.collect::<Option<_>>()?;
        Some(Self { folder, variables, words: parts.map(str::to_owned).collect() })
    }

    /// Calls rustc again, with one variable more, with what it makes beside the PTX in the crate's output folder, and with its messages as
    /// people read them.
    pub fn run(
        &self,
        kernels: &KernelCrate,
        (name, value): (&str, &str),
        log: &Path,
        limit: Duration,
    ) -> Result<Finished> {
        let (rustc, words) = self.words.split_first().ok_or_else(|| Error::new("no call of rustc is written down"))?;
        let mut command = Command::new(rustc);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out-dir" => {
                    words.next();
                    command.arg(word).arg(&kernels.output);
                }
                for_cargo if for_cargo.starts_with("--error-format=") || for_cargo.starts_with("--json=") => {}
                _ => {
                    command.arg(word);
                }
            }
        }
        if env::var("CARGO_TERM_COLOR").is_ok_and(|color| color == "always") {
            command.arg("--color=always");
        }
        command.current_dir(&self.folder).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env(name, value);
        process::run(&mut command, log, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::{RustcLine, is_meant};

    #[test]
    fn a_call_is_read_as_it_was_written_and_half_of_it_is_none() {
        let line = RustcLine {
            folder: "/a b".into(),
            variables: vec![("CARGO_PKG_NAME".to_owned(), "x=y".to_owned()), ("CARGO".to_owned(), String::new())],
            words: ["rustc", "", "src/lib.rs"].map(str::to_owned).to_vec(),
        };
        let text = line.text();
        assert_eq!(RustcLine::parse(&text).as_ref(), Some(&line));
        assert_eq!(RustcLine::parse(&text[..text.len() - 3]), None);
        assert_eq!(RustcLine::parse(""), None);
    }

    #[test]
    fn the_crates_own_library_is_meant_and_no_dependency_of_it() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_meant(&words("rustc --crate-name mine src/lib.rs --crate-type cdylib"), "mine"));
        for line in [
            "rustc --crate-name core src/lib.rs --crate-type lib",
            "rustc -vV",
            "rustc --crate-name minee --crate-type cdylib",
        ] {
            assert!(!is_meant(&words(line), "mine"), "{line}");
        }
    }
}
