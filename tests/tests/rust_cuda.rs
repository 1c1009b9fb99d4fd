//! `cuda_std` here against rust-cuda's at the revision that docs/rust-cuda.md names: what kernels may use, under the same names, with the
//! same signatures.
//!
//! The record beside `cuda_std` is what `public_api` finds in rust-cuda's crate. To make it anew, in a checkout of rust-cuda:
//! `RUSTC_BOOTSTRAP=1 cargo rustdoc -p cuda_std -- -Zunstable-options --output-format json --document-hidden-items`, then this test with
//! `WARPWISE_RUST_CUDA_JSON=target/doc/cuda_std.json`, which writes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tests::api::public_api;

const RECORD: &str = "kernels-gpu/std/rust-cuda-api.txt";

/// What is here and not there, on purpose: the host's side, which rust-cuda has in other crates; what `#[kernel]` leans on; and what rust-cuda
/// passes on whole from crates of their own, whose names its own documentation does not have.
const OURS_ALONE: [&str; 4] = ["host", "Parameter", "glam", "kernel"];

/// Sources that stand between the two back ends.
const BETWEEN: [&str; 2] = ["shared.rs", "nvvm.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests crate lies in the workspace").to_path_buf()
}

fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ours() -> BTreeSet<String> {
    let target = std::env::temp_dir().join(format!("warpwise-api-{}", std::process::id()));
    let mut rustdoc = Command::new(env!("CARGO"));
    rustdoc.current_dir(root()).args(["rustdoc", "--quiet", "--package", "cuda_std", "--target-dir"]).arg(&target);
    // The format is unstable, the compiler that the tree is pinned to is not.
    rustdoc
        .args(["--", "-Zunstable-options", "--output-format", "json", "--document-hidden-items"])
        .env("RUSTC_BOOTSTRAP", "1");
    let output = rustdoc.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let api = public_api(&read_json(&target.join("doc/cuda_std.json")));
    let _ = fs::remove_dir_all(target);
    api
}

fn recorded() -> BTreeSet<String> {
    if let Some(json) = std::env::var_os("WARPWISE_RUST_CUDA_JSON") {
        let api = public_api(&read_json(Path::new(&json)));
        let text: String = api.iter().map(|line| format!("{line}\n")).collect();
        fs::write(root().join(RECORD), text).expect("the record can be written");
    }
    let text = fs::read_to_string(root().join(RECORD)).expect("the record is kept");
    text.lines().map(str::to_owned).collect()
}

/// Items that are not recorded, or otherwise.
fn strange<'a>(ours: &'a BTreeSet<String>, recorded: &BTreeSet<String>) -> Vec<&'a str> {
    let is_ours_alone = |line: &str| OURS_ALONE.iter().any(|name| line.split([':', ' ']).next() == Some(name));
    ours.iter().filter(|line| !recorded.contains(*line) && !is_ours_alone(line)).map(String::as_str).collect()
}

/// The names below `cuda_std` that a source uses: `warp::lane_id`.
fn used(source: &str) -> BTreeSet<String> {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    for module in ["thread", "warp", "mid", "cuda_std"] {
        let start = format!("{module}::");
        for (at, _) in code.match_indices(&start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = &code[at + start.len()..];
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            match module {
                "cuda_std" => names.insert(name),
                "mid" => names.insert(format!("atomic::mid::{name}")),
                module => names.insert(format!("{module}::{name}")),
            };
        }
    }
    names
}

/// Names that rust-cuda does not have.
fn unknown(source: &str, recorded: &BTreeSet<String>) -> Vec<String> {
    let is_known = |name: &String| {
        recorded.iter().any(|line| {
            let rest = line.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.starts_with(':'))
        })
    };
    used(source).into_iter().filter(|name| !is_known(name)).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are there").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn what_cuda_std_offers_rust_cuda_offers_with_the_same_signature() {
    let (ours, recorded) = (ours(), recorded());
    assert!(recorded.len() > 100, "the record has {} lines", recorded.len());
    assert!(ours.iter().filter(|line| recorded.contains(*line)).count() > 30, "ours is read wrongly: {ours:?}");
    assert_eq!(strange(&ours, &recorded), Vec::<&str>::new());
}

#[test]
fn kernels_use_no_name_that_rust_cuda_lacks() {
    let recorded = recorded();
    let mut files = Vec::new();
    sources(&root().join("kernels-gpu/src"), &mut files);
    assert!(files.len() > 30, "{} sources were found", files.len());
    let mut uses = 0;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The host's table of kernels is compiled for the host only.
        if BETWEEN.contains(&name.as_str()) || name == "table.rs" {
            continue;
        }
        let source = fs::read_to_string(&file).expect("a source can be read");
        uses += used(&source).len();
        assert_eq!(unknown(&source, &recorded), Vec::<String>::new(), "{}", file.display());
    }
    assert!(uses > 60, "{uses} uses were found: the sources are read wrongly");
}

#[test]
fn a_name_that_rust_cuda_lacks_is_caught_and_so_is_another_signature() {
    let recorded: BTreeSet<String> =
        ["warp: module", "prelude: module", "warp::lane_id: fn() -> u32"].map(str::to_owned).into();
    let source =
        "use cuda_std::prelude::*;\n// warp::in_a_comment\nlet i = my_warp::x() + warp::lane_id() + warp::teleport(i);";
    assert_eq!(unknown(source, &recorded), ["warp::teleport"]);
    let ours = ["warp::lane_id: fn() -> u64", "host::launch: fn()"].map(str::to_owned).into();
    assert_eq!(strange(&ours, &recorded), ["warp::lane_id: fn() -> u64"]);
}
