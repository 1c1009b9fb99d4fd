//! nvcc: found in its order or fetched with what it stands on, run once a source, its refusals told apart.

mod common;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use common::{Said, fake_tool, folder, says_version, script};
use warpwise_nvtools::locate::{FETCH_LIMIT, Origin, PINNED_VERSION, Tool};
use warpwise_nvtools::nvcc::{NvccError, compile};
use warpwise_nvtools::{Environment, LocateError, LocateOptions, locate_nvcc};

fn find(toolchain: &Path, provision: bool, environment: Environment) -> Result<Tool, LocateError> {
    let said = Said::default();
    let say = |line: &str| said.say(line);
    locate_nvcc(&LocateOptions {
        toolchain_dir: toolchain,
        provision,
        fetch_limit: FETCH_LIMIT,
        environment,
        say: &say,
    })
}

#[test]
fn four_packages_are_fetched_into_a_folder_of_their_own_and_another_installation_comes_first() {
    let folder = folder("nvcc-fetch");
    let (toolchain, path) = (folder.join("toolchain"), folder.join("path"));
    let log = path.join("log");
    let python = format!(
        "[ \"$3\" = --version ] && {{ echo pip 1.0; exit 0; }}\necho \"$@\" >> '{}'\n\
         while [ $# -gt 1 ]; do [ \"$1\" = --target ] && target=\"$2\"; shift; done\n\
         bin=\"$target/nvidia/cu13/bin\"; /bin/mkdir -p \"$bin\"\n\
         /bin/cat > \"$bin/nvcc\" <<'END'\n#!/bin/sh\n{}\nEND\n/bin/chmod 755 \"$bin/nvcc\"",
        log.display(),
        says_version(PINNED_VERSION)
    );
    script(&path.join("python3"), &python);
    let environment = Environment { path: Some(OsString::from(&path)), ..Environment::default() };
    let refused = find(&toolchain, false, environment.clone()).expect_err("nothing may be fetched");
    assert!(refused.to_string().starts_with("no nvcc: "), "{refused}");
    let found = find(&toolchain, true, environment.clone()).expect("the fake pip works");
    assert!(found.origin == Origin::Pinned && found.path.starts_with(toolchain.join("cuda-cplusplus-13.2.78")));
    let asked = fs::read_to_string(&log).expect("pip was asked");
    for package in ["nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime"] {
        assert!(asked.contains(&format!(" {package}==13.2.7")), "{asked}");
    }
    script(&folder.join("own/bin/nvcc"), &says_version("12.0"));
    let own = Environment { warpwise_cuda: Some(folder.join("own")), ..environment };
    assert_eq!(find(&toolchain, false, own).expect("it is named").version, "12.0");
}

#[test]
fn a_source_is_compiled_once_and_what_nvcc_says_of_a_wrong_one_is_shown() {
    let folder = folder("nvcc-compile");
    let (cache, log) = (folder.join("cache"), folder.join("log"));
    let body = format!(
        "echo \"$@\" >> '{}'\ncase \"$3\" in\n\
         wrong.cu) echo 'wrong.cu(1): error: identifier \"x\" is undefined'; exit 1;;\n\
         bare.cu) echo 'gcc: No such file or directory' >&2; exit 1;;\nesac\necho .version 9.2 > kernels.ptx",
        log.display()
    );
    let nvcc = fake_tool(folder.join("nvcc"), &body);
    let compile = |file: &str, source: &str| compile(&nvcc, Some(&cache), file, source, "compute_80");
    for _ in 0..2 {
        assert_eq!(compile("right.cu", "text").expect("it is right"), ".version 9.2\n");
    }
    let runs = || fs::read_to_string(&log).expect("it ran").lines().count();
    assert_eq!(runs(), 1);
    compile("right.cu", "another text").expect("it is right");
    assert_eq!(runs(), 2);
    let wrong = compile("wrong.cu", "").expect_err("nvcc refuses it");
    assert!(matches!(&wrong, NvccError::Refused { .. }) && wrong.to_string().contains("is undefined"), "{wrong}");
    let bare = compile("bare.cu", "").expect_err("there is no g++");
    assert!(
        matches!(bare, NvccError::NoHostCompiler { .. }) && bare.to_string().contains("apt-get install g++"),
        "{bare}"
    );
}
