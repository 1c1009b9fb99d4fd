//! What `#[kernel]` says to a mistake: each file in `errors/` is a library of wrong kernels, with the message that a
//! line must get in a comment on it, `//~ message`. Every message is wanted, and no other error may come.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a file of `errors/` as a library of its own; what the compiler says, a message a line.
fn check(name: &str) -> String {
    let crate_folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernel-errors-{name}"));
    fs::create_dir_all(&crate_folder).expect("a folder for the test");
    let manifest = format!(
        "[package]\nname = \"wrong-{name}\"\nedition = \"2024\"\n[lib]\npath = '{}'\n\
         [dependencies]\ncuda_std = {{ path = '{}' }}\n[workspace]\n",
        source(name).display(),
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(crate_folder.join("Cargo.toml"), manifest).expect("a manifest for the test");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--offline", "--message-format", "short", "--manifest-path"]);
    cargo.arg(crate_folder.join("Cargo.toml")).env("CARGO_TARGET_DIR", crate_folder.join("target"));
    let output = cargo.output().expect("cargo starts");
    assert!(!output.status.success(), "wrong kernels compile");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors").join(name).with_extension("rs")
}

/// Holds the errors of a file to its comments, in both directions.
fn hold(name: &str) {
    let said = check(name);
    let text = fs::read_to_string(source(name)).expect("a readable source");
    let file = format!("{name}.rs:");
    let mut errors: Vec<&str> = said.lines().filter(|line| line.contains(&file) && line.contains(": error")).collect();
    for (index, line) in text.lines().enumerate() {
        let Some((_, message)) = line.split_once("//~ ") else { continue };
        let place = format!("{file}{}:", index + 1);
        let found = errors.iter().position(|error| error.contains(&place) && error.contains(message));
        let found =
            found.unwrap_or_else(|| panic!("line {} did not get `{message}`; the compiler said\n{said}", index + 1));
        errors.remove(found);
    }
    assert!(errors.is_empty(), "unexpected: {errors:#?}");
}

#[test]
fn a_function_that_is_no_kernel_is_told_why_at_the_very_token() {
    hold("signature");
}

#[test]
fn a_parameter_that_is_neither_pointer_nor_scalar_is_refused_at_its_type() {
    hold("parameter");
}
