//! Exercises as kernel crates: one for the reader, and one with all of them for the test.
//!
//! An entry is a global name of the PTX, and so is a shared array. A second version of a module therefore gets other names: the
//! kernel `scale` as it was is `scale_before`.

use std::fs;
use std::io;
use std::path::Path;

use super::Exercise;

/// What stands behind the names of the module as it was.
const BEFORE: &str = "_before";
const SHARED: &str = include_str!("../../../kernels-gpu/src/shared.rs");
/// The attributes of a kernel crate.
const ATTRIBUTES: &str = "\
#![cfg_attr(target_arch = \"nvptx64\", no_std, feature(abi_ptx, asm_experimental_arch))]
#![allow(non_upper_case_globals)]
";

/// Where in a crate's PTX the two versions of an exercise are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    prefix: String,
    /// The reader's version is the one from before: for the test that the start is not yet right.
    unchanged: bool,
}

impl Names {
    /// In the reader's crate.
    pub fn of_the_reader() -> Self {
        Self { prefix: String::new(), unchanged: false }
    }

    /// In the crate of all exercises: the solution as the reader's version.
    pub fn of_the_solution(exercise: &Exercise) -> Self {
        Self { prefix: prefix(exercise), unchanged: false }
    }

    /// In the crate of all exercises: the start as the reader's version.
    pub fn of_the_start(exercise: &Exercise) -> Self {
        Self { prefix: prefix(exercise), unchanged: true }
    }

    /// The entry as it was.
    pub fn before(&self, entry: &str) -> String {
        format!("{}{entry}{BEFORE}", self.prefix)
    }

    /// The entry as the reader has it.
    pub fn yours(&self, entry: &str) -> String {
        if self.unchanged { self.before(entry) } else { format!("{}{entry}", self.prefix) }
    }
}

fn prefix(exercise: &Exercise) -> String {
    format!("{}_", exercise.lab)
}

/// The package of the reader's crate.
pub fn package(exercise: &Exercise) -> String {
    format!("exercise-{}", exercise.lab)
}

/// Writes the reader's crate into `folder`; `cuda_std` is the folder of that crate.
pub fn write(folder: &Path, exercise: &Exercise, cuda_std: &Path) -> io::Result<()> {
    let Exercise { lab, title, start, .. } = exercise;
    let shared = if uses_shared(start) { "mod shared;\n" } else { "" };
    let library = format!(
        "//! Exercise `{lab}`: {title}.\n\
         //!\n\
         //! `cargo xtask exercise {lab}` says what to change here, `--hint` helps, `--check` tells how far you are.\n\
         //! `before.rs` is what this file is compared with: leave it as it is.\n\
         \n{ATTRIBUTES}\nmod before;\n{shared}\n{start}"
    );
    let before =
        format!("//! The exercise as it was: what your kernel is compared with.\n\n{}", renamed(start, "", BEFORE));
    write_crate(folder, &package(exercise), cuda_std, &library, &[("before", &before)])
}

/// Writes one crate with the start and the solution of each exercise into `folder`.
pub fn write_all(folder: &Path, name: &str, exercises: &[&Exercise], cuda_std: &Path) -> io::Result<()> {
    let mut library =
        format!("//! Every exercise as it is begun and as its author solved it.\n\n{ATTRIBUTES}\nmod shared;\n");
    let mut modules = Vec::new();
    for exercise in exercises {
        let prefix = prefix(exercise);
        modules.push((format!("{prefix}before"), renamed(exercise.start, &prefix, BEFORE)));
        modules.push((format!("{prefix}solution"), renamed(exercise.solution, &prefix, "")));
    }
    for (module, _) in &modules {
        library.push_str(&format!("mod {module};\n"));
    }
    let modules: Vec<(&str, &str)> = modules.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    write_crate(folder, name, cuda_std, &library, &modules)
}

fn write_crate(folder: &Path, name: &str, cuda_std: &Path, library: &str, modules: &[(&str, &str)]) -> io::Result<()> {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\ncuda_std = {{ path = '{}' }}\n\n\
         # A workspace of its own, wherever the folder lies.\n[workspace]\n",
        cuda_std.display()
    );
    let sources = folder.join("src");
    fs::create_dir_all(&sources)?;
    write_if_new(&folder.join("Cargo.toml"), &manifest)?;
    write_if_new(&folder.join(".gitignore"), "target/\n")?;
    write_if_new(&sources.join("lib.rs"), library)?;
    if library.contains("\nmod shared;") {
        // Of what it offers an exercise uses some.
        write_if_new(
            &sources.join("shared.rs"),
            &format!("#![allow(dead_code, unused_imports, unused_macros)]\n{SHARED}"),
        )?;
    }
    for (module, text) in modules {
        write_if_new(&sources.join(format!("{module}.rs")), text)?;
    }
    Ok(())
}

/// Leaves a file alone that has the text already, so that nothing is built again for it.
fn write_if_new(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => fs::write(path, text),
    }
}

fn uses_shared(text: &str) -> bool {
    text.contains("crate::shared")
}

/// The module with other global names.
fn renamed(text: &str, prefix: &str, suffix: &str) -> String {
    let names = global_names(text);
    let is_of_a_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut renamed = String::with_capacity(text.len() + 256);
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|character| !is_of_a_word(character)).unwrap_or(rest.len());
        let between = rest[word..].find(is_of_a_word).map_or(rest.len(), |length| word + length);
        match &rest[..word] {
            name if names.contains(&name) => renamed.push_str(&format!("{prefix}{name}{suffix}")),
            other => renamed.push_str(other),
        }
        renamed.push_str(&rest[word..between]);
        rest = &rest[between..];
    }
    renamed
}

/// Names of kernels and of shared arrays.
fn global_names(text: &str) -> Vec<&str> {
    let word = |text: &str| text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let after = |mark: &'static str| text.match_indices(mark).map(move |(at, _)| &text[at + mark.len()..]);
    let kernels = after("#[kernel]").filter_map(|rest| rest.split_once("fn ").map(|(_, name)| name));
    // A doc comment or an attribute may stand before the name.
    let is_name = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#');
    let arrays = after("shared_array!(").filter_map(|rest| rest.lines().map(str::trim_start).find(is_name));
    kernels.chain(arrays).map(|name| &name[..word(name)]).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
use cuda_std::prelude::*;
shared_array!(TILE: [f32; 32]);
shared_array!(
    /// More of it.
    MORE: [f32; 32]
);

/// Like [`sum()`], but not summary.
#[kernel]
pub unsafe fn sum(x: *const f32) {
    let summed = unsafe { TILE.get(0) };
}

fn helper() {}
";

    #[test]
    fn kernels_and_shared_arrays_are_renamed_as_whole_words_and_nothing_else_is() {
        assert_eq!(global_names(TEXT), ["sum", "TILE", "MORE"]);
        let expected = TEXT
            .replace("(TILE", "(a_TILE_before")
            .replace("MORE:", "a_MORE_before:")
            .replace("{ TILE", "{ a_TILE_before")
            .replace("`sum(", "`a_sum_before(")
            .replace("fn sum(", "fn a_sum_before(");
        assert_eq!(renamed(TEXT, "a_", "_before"), expected);
        assert_eq!(renamed(TEXT, "", ""), TEXT);
    }

    #[test]
    fn the_two_versions_are_found_by_name() {
        let reader = Names::of_the_reader();
        assert_eq!((reader.before("sum"), reader.yours("sum")), ("sum_before".to_owned(), "sum".to_owned()));
        let start = Names { prefix: "a_".to_owned(), unchanged: true };
        assert_eq!((start.before("sum"), start.yours("sum")), ("a_sum_before".to_owned(), "a_sum_before".to_owned()));
    }
}
