//! Fetching the pinned packages, with fake Pythons: whole, interrupted, refused, slow, twice at once.

mod common;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Said, folder, says_version, script};
use warpwise_nvtools::locate::{FETCH_LIMIT, FetchError, Origin, PINNED_VERSION};
use warpwise_nvtools::{Environment, LocateError, LocateOptions, Tools, locate};

/// A test's folders: `toolchain` to fetch into, `path` with the programs that can be found.
struct Place {
    toolchain: PathBuf,
    path: PathBuf,
    cuda_path: Option<PathBuf>,
    limit: Duration,
    said: Said,
}

impl Place {
    fn new(test: &str) -> Self {
        let folder = folder(test);
        let (toolchain, path) = (folder.join("toolchain"), folder.join("path"));
        fs::create_dir_all(&path).expect("it can be made");
        Self { toolchain, path, cuda_path: None, limit: FETCH_LIMIT, said: Said::default() }
    }

    /// A Python whose `-m pip` logs its arguments and then does what `install` says; `$target` is where to install.
    fn python(&self, name: &str, install: &str) {
        let log = self.log();
        let body = format!(
            "[ \"$1 $2\" = '-m pip' ] || exit 9\n[ \"$3\" = --version ] && {{ echo pip 1.0; exit 0; }}\n\
             echo \"$@\" >> '{}'\n{TARGET}\n{install}",
            log.display()
        );
        script(&self.path.join(name), &body);
    }

    fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    fn find(&self) -> Result<Tools, LocateError> {
        let say = |line: &str| self.said.say(line);
        locate(&LocateOptions {
            toolchain_dir: &self.toolchain,
            provision: true,
            fetch_limit: self.limit,
            environment: Environment {
                cuda_path: self.cuda_path.clone(),
                path: Some(OsString::from(&self.path)),
                ..Environment::default()
            },
            say: &say,
        })
    }

    fn reason(&self) -> FetchError {
        match self.find() {
            Err(LocateError::NotFound { reason }) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Names in the toolchain folder, without the lock.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.toolchain).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != ".lock").collect()
    }
}

/// Sets `$target` to what follows `--target`.
const TARGET: &str = "while [ $# -gt 1 ]; do [ \"$1\" = --target ] && target=\"$2\"; shift; done";

/// Installs three programs that answer `--version`.
fn installs(version: &str) -> String {
    format!(
        "bin=\"$target/nvidia/cu13/bin\"; /bin/mkdir -p \"$bin\"\n\
         for tool in ptxas nvdisasm cuobjdump; do\n/bin/cat > \"$bin/$tool\" <<'END'\n#!/bin/sh\n{}\nEND\n\
         /bin/chmod 755 \"$bin/$tool\"\ndone",
        says_version(version)
    )
}

#[test]
fn pip_is_asked_once_for_three_pinned_packages_and_the_licence_is_named() {
    let place = Place::new("fetch");
    place.python("python3", &installs(PINNED_VERSION));
    let tools = place.find().expect("the fake pip works");
    assert_eq!((tools.ptxas().version.as_str(), tools.ptxas().origin), (PINNED_VERSION, Origin::Pinned));
    assert!(tools.nvdisasm().is_ok() && tools.cuobjdump().is_ok());
    let asked = fs::read_to_string(place.log()).expect("pip was asked");
    for package in ["nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-cuda-cuobjdump"] {
        assert!(asked.contains(&format!(" {package}==13.2.78")), "{asked}");
    }
    assert!(asked.contains(" install ") && asked.contains(" --no-deps ") && asked.lines().count() == 1, "{asked}");
    let said = place.said.lines();
    assert!(said.len() == 1 && said[0].contains("under NVIDIA's licence"), "{said:?}");
    place.find().expect("they are there now");
    assert_eq!(fs::read_to_string(place.log()).expect("it is there").lines().count(), 1, "nothing is fetched twice");
    assert_eq!(place.left(), [format!("cuda-{PINNED_VERSION}")]);
}

#[test]
fn an_interrupted_fetch_is_cleaned_up_by_the_next_run() {
    let place = Place::new("interrupted");
    let half = place.toolchain.join(".fetching-1234-0/nvidia/cu13/bin");
    fs::create_dir_all(&half).expect("it can be made");
    fs::write(half.join("ptxas"), "half of it").expect("it can be written");
    fs::create_dir_all(place.toolchain.join(format!("cuda-{PINNED_VERSION}/nvidia"))).expect("it can be made");
    place.python("python3", &installs(PINNED_VERSION));
    place.find().expect("the fetch starts afresh");
    assert_eq!(place.left(), [format!("cuda-{PINNED_VERSION}")]);
}

#[test]
fn without_python_without_pip_and_with_uv() {
    let place = Place::new("pythons");
    assert!(matches!(place.reason(), FetchError::NoPython));
    script(&place.path.join("python3"), "echo 'No module named pip' >&2; exit 1");
    let reason = place.reason();
    assert!(matches!(reason, FetchError::NoPip { .. }));
    assert!(reason.to_string().contains("path/python3 has none"), "{reason}");
    let uv = format!("[ \"$1 $2\" = 'pip install' ] || exit 9\n{TARGET}\n{}", installs(PINNED_VERSION));
    script(&place.path.join("uv"), &uv);
    assert_eq!(place.find().expect("uv takes over").ptxas().origin, Origin::Pinned);
}

#[test]
fn a_second_python_with_pip_is_used_where_the_first_has_none() {
    let place = Place::new("second");
    script(&place.path.join("python3"), "exit 1");
    place.python("python", &installs(PINNED_VERSION));
    assert!(place.find().is_ok());
}

#[test]
fn without_network_the_command_and_pips_last_line_are_shown_and_nothing_is_left() {
    let place = Place::new("offline");
    place.python(
        "python3",
        "/bin/mkdir -p \"$target/nvidia\"; echo 'ERROR: No matching distribution found' >&2; exit 1",
    );
    let text = place.find().expect_err("there is no network").to_string();
    assert!(text.contains("-m pip --timeout 15 --retries 2 install "), "{text}");
    assert!(text.contains("failed: ERROR: No matching distribution found\n"), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn where_a_fetch_fails_an_installed_cuda_serves_and_the_reason_is_kept() {
    let mut place = Place::new("fallback");
    place.python("python3", "exit 1");
    let cuda = place.path.join("cuda");
    script(&cuda.join("bin/ptxas"), &says_version("12.4.131"));
    place.cuda_path = Some(cuda);
    let tools = place.find().expect("CUDA_PATH serves");
    assert_eq!((tools.ptxas().version.as_str(), tools.ptxas().origin), ("12.4.131", Origin::Variable("CUDA_PATH")));
    assert!(tools.fetch_error().is_some_and(|error| error.contains("it printed nothing")));
}

#[test]
fn a_pip_that_hangs_is_ended() {
    let mut place = Place::new("hanging");
    place.limit = Duration::from_millis(300);
    place.python("python3", "exec /bin/sleep 120");
    assert!(matches!(place.reason(), FetchError::TimedOut { .. }));
    assert!(place.left().is_empty());
}

#[test]
fn packages_that_do_not_run_here_are_not_kept() {
    let place = Place::new("unusable");
    place.python("python3", "/bin/mkdir -p \"$target/nvidia/cu13/bin\"");
    assert!(matches!(place.reason(), FetchError::Unusable(_)));
    assert!(place.left().is_empty());
}

#[test]
fn a_toolchain_folder_that_cannot_be_made_is_named() {
    let mut place = Place::new("unwritable");
    place.python("python3", "exit 0");
    fs::write(place.path.join("file"), "").expect("it can be written");
    place.toolchain = place.path.join("file/toolchain");
    let reason = place.reason();
    assert!(matches!(reason, FetchError::Io { .. }) && reason.to_string().contains("file/toolchain: "), "{reason}");
}

#[test]
fn while_another_run_fetches_this_one_waits_and_then_finds_its_tools() {
    let place = Place::new("waiting");
    fs::create_dir_all(&place.toolchain).expect("it can be made");
    let lock = fs::File::create(place.toolchain.join(".lock")).expect("it can be made");
    lock.lock().expect("it is free");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The other run: ends its fetch once this one has said that it waits.
            let home = place.toolchain.join(format!("cuda-{PINNED_VERSION}/nvidia/cu13/bin"));
            std::thread::sleep(Duration::from_millis(200));
            for tool in ["ptxas", "nvdisasm", "cuobjdump"] {
                script(&home.join(tool), &says_version(PINNED_VERSION));
            }
            lock.unlock().expect("it can be unlocked");
        });
        assert!(wait(&place.toolchain, &place.path).is_ok());
    });
}

/// Finds tools where no Python is: only the other run can have brought them.
fn wait(toolchain: &Path, path: &Path) -> Result<Tools, LocateError> {
    let environment = Environment { path: Some(OsString::from(path)), ..Environment::default() };
    let fetch_limit = FETCH_LIMIT;
    locate(&LocateOptions { toolchain_dir: toolchain, provision: true, fetch_limit, environment, say: &|_| {} })
}

#[test]
fn a_lock_that_is_never_freed_ends_the_wait_with_its_name() {
    let mut place = Place::new("locked");
    place.limit = Duration::from_millis(200);
    fs::create_dir_all(&place.toolchain).expect("it can be made");
    let lock = fs::File::create(place.toolchain.join(".lock")).expect("it can be made");
    lock.lock().expect("it is free");
    let reason = place.reason();
    assert!(matches!(reason, FetchError::Locked { .. }) && reason.to_string().contains("toolchain/.lock"), "{reason}");
    assert_eq!(place.said.lines(), ["waiting for another run that is fetching NVIDIA's tools"]);
}
