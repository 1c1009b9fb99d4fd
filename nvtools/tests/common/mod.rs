//! Folders, fake tools and the real ones, for the tests of this crate.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use warpwise_nvtools::locate::{Origin, Tool};
use warpwise_nvtools::{Environment, LocateOptions, Tools, locate};

pub const KERNELS: &str = include_str!("../data/kernels.ptx");
pub const SPILLS: &str = include_str!("../data/spills.ptx");

/// An empty folder of this test's own.
pub fn folder(test: &str) -> PathBuf {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let name = format!("{test}-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

/// Writes an executable shell script. A child process writes it: were the file open in this process, a program that
/// another test starts at that moment would inherit it, and the script could not be executed ("text file busy").
pub fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().expect("a script is in a folder")).expect("a folder can be made");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut child = shell.spawn().expect("there is a shell");
    let text = format!("#!/bin/sh\n{body}\n");
    child.stdin.take().expect("its input is a pipe").write_all(text.as_bytes()).expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

/// What NVIDIA's tools print for `--version`, as the body of a script.
pub fn says_version(version: &str) -> String {
    format!("[ \"$1\" = --version ] && {{ echo 'Cuda compilation tools, release 1.2, V{version}'; exit 0; }}")
}

/// A fake tool that answers `--version` and else does what `body` says.
pub fn fake_tool(path: PathBuf, body: &str) -> Tool {
    script(&path, &format!("{}\n{body}", says_version("13.2.78")));
    Tool { path, version: "13.2.78".to_owned(), origin: Origin::Pinned, banner: "fake".to_owned() }
}

/// The lines that a search said.
#[derive(Default)]
pub struct Said(RefCell<Vec<String>>);

impl Said {
    pub fn say(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

/// The real tools: `WARPWISE_CUDA`'s, or those in the target folder's `toolchain`, which a run of `cargo xtask` shares.
/// Where they are missing they are fetched, unless `WARPWISE_NO_PROVISION` is set; where that fails, so does the test.
pub fn real_tools() -> Tools {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is inside the target folder");
    let options = LocateOptions {
        toolchain_dir: &target.join("toolchain"),
        provision: std::env::var_os("WARPWISE_NO_PROVISION").is_none(),
        fetch_limit: warpwise_nvtools::locate::FETCH_LIMIT,
        environment: Environment::of_process(),
        say: &|line| println!("{line}"),
    };
    locate(&options).unwrap_or_else(|error| panic!("these tests need NVIDIA's tools: {error}"))
}
