//! What the program says when a GPU cannot be used: a clear message, what to do, exit code 2. The driver is a stub that answers as told.

#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A folder of this test program's own, with a `libcuda.so.1` in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// The folder with the stub, compiled once.
fn stub() -> &'static Path {
    static STUB: OnceLock<PathBuf> = OnceLock::new();
    STUB.get_or_init(|| {
        let folder = folder("stub-driver");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/troubles/libcuda.rs");
        let mut rustc = Command::new("rustc");
        rustc.args(["--crate-type", "cdylib", "--edition", "2024", "-C", "panic=abort", source, "-o"]);
        let output = rustc.arg(folder.join("libcuda.so.1")).output().expect("there is a rustc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    })
}

/// What `labs ids --backend cuda` with more words says on standard error, having ended with 2, with a driver of this folder.
#[track_caller]
fn said(driver: &Path, words: &[&str], environment: &[(&str, &str)]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace");
    let program = env::var_os("WARPWISE_PROGRAM").map_or_else(|| root.join("target/release/warpwise"), PathBuf::from);
    let mut command = Command::new(program);
    command.args(["labs", "ids", "--backend", "cuda"]).args(words).current_dir(root).env("LD_LIBRARY_PATH", driver);
    let output = command.envs(environment.iter().copied()).output().expect("`cargo xtask test` builds the program");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{environment:?}: {error}");
    assert!(!error.contains("a bug in warpwise") && !error.contains("backtrace"), "{error}");
    error
}

#[test]
fn a_driver_that_is_not_there_or_does_not_load_is_said_with_what_to_do() {
    let folder = folder("no-driver");
    fs::write(folder.join("libcuda.so.1"), "no library").expect("a file can be written");
    let text = said(&folder, &[], &[]);
    assert!(text.contains("no CUDA driver here") && text.contains("--backend sim"), "{text}");
}

#[test]
fn each_refusal_of_a_driver_says_what_is_wrong_and_what_to_do() {
    for (what, environment, phrases) in [
        (
            "too old for any of it",
            ("STUB_VERSION", "10020"),
            ["the CUDA driver is too old: it is of CUDA 10.2", "update NVIDIA's driver"],
        ),
        ("too old for the PTX", ("STUB_VERSION", "11040"), ["PTX 7.8 needs 11.8", "update NVIDIA's driver"]),
        ("no device", ("STUB_ANSWERS", "cuInit=100"), ["lists no GPU", "CUDA_VISIBLE_DEVICES"]),
        ("lost at the start", ("STUB_ANSWERS", "cuCtxCreate_v2=46"), ["the GPU is lost", "nvidia-smi"]),
        ("lost later", ("STUB_ANSWERS", "cuMemsetD8Async=999"), ["the GPU is lost", "a reset or a restart"]),
        ("no memory for a context", ("STUB_ANSWERS", "cuCtxCreate_v2=2"), ["no memory left", "use a smaller size"]),
        (
            "no memory for a buffer",
            ("STUB_ANSWERS", "cuMemAlloc_v2=2"),
            ["bytes of device memory are not to be had", "use a smaller size"],
        ),
        (
            "PTX too new",
            ("STUB_ANSWERS", "cuModuleLoadDataEx=222"),
            ["the PTX is newer than this driver", "update NVIDIA's driver"],
        ),
    ] {
        let text = said(stub(), &[], &[environment]);
        for phrase in phrases {
            assert!(text.contains(phrase), "{what}: {phrase:?} is not in\n{text}");
        }
    }
}

#[test]
fn a_gpu_that_is_not_there_is_answered_with_how_many_there_are() {
    let text = said(stub(), &["--gpu", "3"], &[]);
    assert!(text.contains("there is no GPU 3: the driver lists 1; choose one with --gpu N"), "{text}");
}
