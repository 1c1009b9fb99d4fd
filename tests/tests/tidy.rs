//! Facts about the tree that no compiler checks: the map in ARCHITECTURE.md, lengths, and what must not be left in code.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Longest file of Rust that a reader is asked to take in.
const FILE_LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests crate lies in the workspace").to_path_buf()
}

/// Files that git tracks with this ending, relative to the root.
fn tracked(ending: &str) -> Vec<String> {
    let output = Command::new("git").arg("ls-files").current_dir(root()).output().expect("git lists the tracked files");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let files: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|file| file.ends_with(ending))
        .map(String::from)
        .collect();
    assert!(!files.is_empty(), "no tracked file ends in {ending}: the check would pass on nothing");
    files
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Cells in backticks that name a path of the tree, in the tables of ARCHITECTURE.md.
fn paths_on_the_map(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2).map(String::from).collect::<Vec<_>>())
        .filter(|cell| cell.contains('/'))
        .collect()
}

/// What is wrong with the map, given whether a path exists.
fn map_errors(text: &str, folders: &[String], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mapped = paths_on_the_map(text);
    let missing =
        mapped.iter().filter(|path| !exists(path)).map(|path| format!("{path} is on the map, not in the tree"));
    let unmapped = folders
        .iter()
        .filter(|folder| !mapped.iter().any(|path| path.trim_end_matches('/') == folder.as_str()))
        .map(|folder| format!("{folder} is in the tree, not on the map"));
    missing.chain(unmapped).collect()
}

/// Folders that the map must show: every package, and every module folder of the machine.
fn folders_to_map() -> Vec<String> {
    let packages =
        tracked("Cargo.toml").into_iter().filter_map(|file| file.strip_suffix("/Cargo.toml").map(String::from));
    let modules = tracked(".rs").into_iter().filter_map(|file| {
        let inner = file.strip_prefix("simt/src/")?;
        inner.split_once('/').map(|(module, _)| format!("simt/src/{module}"))
    });
    let mut folders: Vec<String> = packages.chain(modules).collect();
    folders.sort();
    folders.dedup();
    folders
}

#[test]
fn the_map_in_architecture_md_names_what_is_in_the_tree_and_nothing_else() {
    let exists = |path: &str| root().join(path).exists() || root().join(format!("{path}.rs")).exists();
    let errors = map_errors(&read("ARCHITECTURE.md"), &folders_to_map(), exists);
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn a_map_that_names_a_ghost_or_misses_a_folder_is_caught() {
    let text = "| `warpwise` | `host/` | the program |\n| `ghost` | `ghost/` | gone |";
    let errors = map_errors(text, &["host".into(), "simt".into()], |path| path == "host/");
    assert_eq!(errors, ["ghost/ is on the map, not in the tree", "simt is in the tree, not on the map"]);
}

#[test]
fn no_file_of_rust_is_longer_than_a_reader_can_take_in() {
    let long: Vec<String> = tracked(".rs")
        .into_iter()
        .map(|file| (read(&file).lines().count(), file))
        .filter(|(lines, _)| *lines > FILE_LINES_MAX)
        .map(|(lines, file)| format!("{file}: {lines} lines, {FILE_LINES_MAX} at most; split it by purpose"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn nothing_is_left_open_in_the_code() {
    // Put together here, so that this file does not name them itself.
    let marks: Vec<String> = [("to", "do!("), ("unimplement", "ed!("), ("FIX", "ME"), ("TO", "DO"), ("#[ig", "nore")]
        .iter()
        .map(|(a, b)| format!("{a}{b}"))
        .collect();
    let left: Vec<String> = tracked(".rs")
        .into_iter()
        .flat_map(|file| {
            let text = read(&file);
            marks
                .iter()
                .filter(|mark| text.contains(mark.as_str()))
                .map(|mark| format!("{file} has {mark}"))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(left.is_empty(), "{}", left.join("\n"));
}
