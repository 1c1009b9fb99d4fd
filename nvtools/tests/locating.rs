//! Finding tools: which installation wins, and what is said where there is none.

mod common;

use std::path::{Path, PathBuf};

use common::{Said, folder, says_version, script};
use warpwise_nvtools::locate::{FETCH_LIMIT, FetchError, Origin, PINNED_VERSION};
use warpwise_nvtools::{Environment, LocateError, LocateOptions, Tools, locate};

/// An installation with all tools but ncu, in CUDA's layout.
fn installation(at: &Path, version: &str) -> PathBuf {
    for tool in ["ptxas", "nvdisasm", "cuobjdump"] {
        script(&at.join("bin").join(tool), &says_version(version));
    }
    at.to_owned()
}

/// Packages already fetched.
fn pinned(toolchain: &Path) {
    for tool in ["ptxas", "nvdisasm", "cuobjdump"] {
        let path = toolchain.join(format!("cuda-{PINNED_VERSION}/nvidia/cu13/bin")).join(tool);
        script(&path, &says_version(PINNED_VERSION));
    }
}

fn find(toolchain: &Path, environment: Environment) -> Result<Tools, LocateError> {
    let said = Said::default();
    let say = |line: &str| said.say(line);
    let options =
        LocateOptions { toolchain_dir: toolchain, provision: false, fetch_limit: FETCH_LIMIT, environment, say: &say };
    let found = locate(&options);
    assert!(said.lines().is_empty(), "nothing is fetched, so nothing is said");
    found
}

fn version_and_origin(tools: &Tools) -> (&str, Origin) {
    (&tools.ptxas().version, tools.ptxas().origin)
}

#[test]
fn warpwise_cuda_wins_then_the_pinned_packages_then_cuda_path_cuda_home_and_path() {
    let folder = folder("order");
    let toolchain = folder.join("toolchain");
    let path = installation(&folder.join("on-path"), "4.0").join("bin");
    let mut environment = Environment {
        warpwise_cuda: Some(installation(&folder.join("warpwise"), "1.0")),
        cuda_path: Some(installation(&folder.join("cuda-path"), "2.0")),
        cuda_home: Some(installation(&folder.join("cuda-home"), "3.0")),
        path: Some(path.into()),
    };
    pinned(&toolchain);
    let find = |environment: &Environment| find(&toolchain, environment.clone()).expect("there is one");
    assert_eq!(version_and_origin(&find(&environment)), ("1.0", Origin::Variable("WARPWISE_CUDA")));
    environment.warpwise_cuda = None;
    assert_eq!(version_and_origin(&find(&environment)), (PINNED_VERSION, Origin::Pinned));
    assert!(find(&environment).is_pinned_version());
    std::fs::remove_dir_all(&toolchain).expect("it can be removed");
    assert_eq!(version_and_origin(&find(&environment)), ("2.0", Origin::Variable("CUDA_PATH")));
    environment.cuda_path = Some(folder.join("empty"));
    assert_eq!(version_and_origin(&find(&environment)), ("3.0", Origin::Variable("CUDA_HOME")));
    environment.cuda_home = None;
    let last = find(&environment);
    assert_eq!(version_and_origin(&last), ("4.0", Origin::SearchPath));
    assert!(!last.is_pinned_version());
}

#[test]
fn warpwise_cuda_may_name_the_program_folder_or_a_package_folder() {
    let folder = folder("layouts");
    let bin = installation(&folder.join("plain"), "1.0").join("bin");
    for layout in [bin, folder.join("packages")] {
        let packages = folder.join("packages/nvidia/cu13");
        if !packages.exists() {
            installation(&packages, "1.0");
        }
        let environment = Environment { warpwise_cuda: Some(layout), ..Environment::default() };
        assert_eq!(find(&folder, environment).expect("it is there").ptxas().version, "1.0");
    }
}

#[test]
fn a_warpwise_cuda_without_ptxas_is_refused_and_nothing_else_is_tried() {
    let folder = folder("wrong");
    let environment = Environment {
        warpwise_cuda: Some(folder.join("nowhere")),
        cuda_path: Some(installation(&folder.join("other"), "2.0")),
        ..Environment::default()
    };
    let text = find(&folder, environment).expect_err("there is no ptxas").to_string();
    assert!(text.starts_with("WARPWISE_CUDA is `") && text.contains("nowhere/bin, "), "{text}");
    assert!(text.ends_with("let it name a CUDA installation, or unset it") && text.lines().count() == 1, "{text}");
}

#[test]
fn with_no_tools_and_no_permission_to_fetch_three_lines_say_what_to_do() {
    let folder = folder("nothing");
    let error = find(&folder, Environment::default()).expect_err("there is nothing");
    assert!(matches!(error, LocateError::NotFound { reason: FetchError::NotAllowed }));
    let text = error.to_string();
    assert!(text.contains("--no-provision") && text.contains("WARPWISE_CUDA") && text.lines().count() == 3, "{text}");
    assert!(folder.read_dir().expect("it is there").next().is_none(), "nothing is written");
}

#[test]
fn a_file_that_is_not_executable_is_no_tool() {
    let folder = folder("not-executable");
    std::fs::create_dir_all(folder.join("bin")).expect("it can be made");
    std::fs::write(folder.join("bin/ptxas"), "").expect("it can be written");
    std::fs::create_dir_all(folder.join("path/ptxas")).expect("it can be made");
    let environment = Environment {
        cuda_path: Some(folder.clone()),
        path: Some(folder.join("path").into()),
        ..Environment::default()
    };
    assert!(matches!(find(&folder, environment), Err(LocateError::NotFound { .. })));
}

#[test]
fn a_ptxas_that_fails_or_prints_garbage_is_named_with_what_it_printed() {
    let folder = folder("broken");
    let cases = [
        ("echo 'cannot execute: wrong format' >&2; exit 126", "cannot execute: wrong format"),
        ("echo release this", "release this"),
        ("exit 0", "it printed nothing"),
    ];
    for (body, shown) in cases {
        script(&folder.join("bin/ptxas"), body);
        let environment = Environment { warpwise_cuda: Some(folder.clone()), ..Environment::default() };
        let text = find(&folder, environment).expect_err("it does not work").to_string();
        assert!(text.contains("bin/ptxas does not work as ptxas: ") && text.ends_with(shown), "{text}");
    }
}

#[test]
fn missing_nvdisasm_and_cuobjdump_are_errors_only_when_asked_for() {
    let folder = folder("lonely");
    script(&folder.join("bin/ptxas"), &says_version("12.4.131"));
    let environment = Environment { cuda_home: Some(folder.clone()), ..Environment::default() };
    let tools = find(&folder.join("toolchain"), environment).expect("ptxas is there");
    let text = tools.nvdisasm().expect_err("nvdisasm is not").to_string();
    assert!(text.starts_with("nvdisasm is not beside ptxas in ") && text.contains("unset CUDA_HOME"), "{text}");
    assert!(tools.cuobjdump().is_err());
}

#[test]
fn ncu_is_found_on_path_though_the_tools_come_from_elsewhere() {
    let folder = folder("ncu");
    script(&folder.join("profiler/ncu"), "");
    let environment = Environment {
        warpwise_cuda: Some(installation(&folder.join("cuda"), "1.0")),
        path: Some(folder.join("profiler").into()),
        ..Environment::default()
    };
    let tools = find(&folder, environment).expect("they are there");
    assert_eq!(tools.ncu(), Some(folder.join("profiler/ncu").as_path()));
}
