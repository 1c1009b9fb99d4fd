//! The program as users start it: its words, what it prints, how it ends.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// The program that `cargo xtask` builds and users start: the one named in `WARPWISE_PROGRAM`, else that of this tree.
pub fn path() -> PathBuf {
    std::env::var_os("WARPWISE_PROGRAM").map_or_else(|| root().join("target/release/warpwise"), PathBuf::from)
}

/// The root of this tree.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// Runs the program with these words, at the root.
pub fn warpwise(words: &[&str]) -> Output {
    let program = path();
    let output = Command::new(&program).args(words).current_dir(root()).env_remove("RUST_BACKTRACE").output();
    output.unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask test` builds it", program.display()))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the program printed for words that must work.
pub fn good(words: &[&str]) -> String {
    let output = warpwise(words);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{words:?}\n{}{}",
        stdout(&output),
        String::from_utf8_lossy(&output.stderr)
    );
    stdout(&output)
}

/// The message for words that cannot be meant: exit code 2, one to three lines, no backtrace.
pub fn refused(words: &[&str]) -> String {
    let output = warpwise(words);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}\n{}{message}", stdout(&output));
    let lines = message.trim_end().lines().count();
    assert!((1..=3).contains(&lines), "{words:?} was answered in {lines} lines:\n{message}");
    assert!(!message.contains("panicked") && !message.contains("backtrace"), "{message}");
    message
}

/// A file of a test's own, gone when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpwise-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("the temporary folder can be written");
        Self(path)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("the temporary folder has a name in UTF-8")
    }

    pub fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("the file was written")
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text()).expect("it is JSON")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
