//! Installs what a device compiler lacks: core's source for the active toolchain, or the distribution's compiler.
//!
//! Both are transactions of other programs, so an interrupted one is theirs to mend: rustup starts over, and dpkg is
//! asked for what is left half installed before anything new is. What is already there is found by the search for a
//! compiler, never remembered here.

use crate::compiler;
use crate::process::{self, Finished};
use crate::progress;
use crate::system::System;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The distribution's compiler with LLVM's NVPTX back end, and core's source for it (Debian 12 and later).
const PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "libstd-rust-web-dev"];

const APT_GET: &str = "/usr/bin/apt-get";
const LISTS: &str = "/var/lib/apt/lists";

/// Each takes under half a minute on a common connection.
const LIMIT: Duration = Duration::from_secs(300);

/// A way to a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Rustup,
    Apt,
}

impl Way {
    /// What it installs, and by what.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rustup => "rust-src, by rustup",
            Self::Apt => "the distribution's compiler, by apt-get",
        }
    }
}

/// What this machine allows, in the order in which it is tried.
pub fn ways(system: &dyn System) -> Vec<Way> {
    let may_rustup = system.variable("RUSTUP_AUTO_INSTALL").as_deref() != Some("0");
    let has_rustup = may_rustup && system.output("rustup", &["--version"]).is_some();
    let has_apt = may_install(system);
    [(has_rustup, Way::Rustup), (has_apt, Way::Apt)].into_iter().filter_map(|(can, way)| can.then_some(way)).collect()
}

/// What a person would type, for when this program may not or cannot.
pub fn advice(system: &dyn System) -> String {
    let rustup = "`rustup component add rust-src`";
    let apt = format!("`apt-get update && apt-get install --no-install-recommends {}` as root", PACKAGES.join(" "));
    let has_rustup = system.output("rustup", &["--version"]).is_some();
    let has_apt = system.exists(Path::new(APT_GET));
    let commands = match (has_rustup, has_apt) {
        (true, false) => rustup.to_owned(),
        (false, true) => apt,
        (true, true) => format!("{rustup}, or {apt}"),
        (false, false) => "install Rust with rustup, then `rustup component add rust-src`".to_owned(),
    };
    format!("run {commands}; or name a compiler that has core's source in WARPWISE_DEVICE_RUSTC")
}

/// Goes one way. Whether it led to a compiler is for a new search to say; an error is what the last program said.
pub fn go(way: Way, system: &dyn System, logs: &Path) -> Result<(), String> {
    match way {
        Way::Rustup => progress::step("installing core's source for the active toolchain (rustup)", || {
            run(&["rustup", "component", "add", "rust-src"], logs).map(drop)
        }),
        Way::Apt => progress::step("installing the distribution's Rust compiler with its source (apt-get)", || {
            install(&PACKAGES, system, logs)
        }),
    }
}

/// Installs packages of the distribution; what apt-get said where it cannot.
pub fn install(packages: &[&'static str], system: &dyn System, logs: &Path) -> Result<(), String> {
    for command in before_installing(system) {
        run(&command, logs)?;
    }
    // Lists can be there and name versions that are not any more.
    let installed = run(&installation(packages), logs);
    installed.or_else(|_| run(&update(), logs).and_then(|_| run(&installation(packages), logs))).map(drop)
}

/// Whether this process may install packages of the distribution.
pub fn may_install(system: &dyn System) -> bool {
    system.is_root() && system.exists(Path::new(APT_GET))
}

/// Commands that make an installation possible: mending an interrupted one, fetching lists where there are none.
fn before_installing(system: &dyn System) -> Vec<Vec<&'static str>> {
    let mut commands = Vec::new();
    if system.output("dpkg", &["--audit"]).is_some_and(|broken| !broken.trim().is_empty()) {
        commands.push(vec!["dpkg", "--configure", "-a"]);
    }
    if !system.has_entry(Path::new(LISTS), "_Packages") || names_old_compiler(system) {
        commands.push(update());
    }
    commands
}

/// Whether the lists are so old that the compiler they offer cannot make the kernels.
fn names_old_compiler(system: &dyn System) -> bool {
    let policy = system.output("apt-cache", &["policy", PACKAGES[0]]).unwrap_or_default();
    let candidate = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
    candidate.is_some_and(|version| !compiler::is_new_enough(version.trim()))
}

/// Waits for another apt-get, and not for ever for a host that does not answer.
const APT_OPTIONS: [&str; 6] =
    ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"];

fn update() -> Vec<&'static str> {
    [&[APT_GET, "update"], APT_OPTIONS.as_slice()].concat()
}

fn installation(packages: &[&'static str]) -> Vec<&'static str> {
    let install = [APT_GET, "install", "-y", "--no-install-recommends"];
    [install.as_slice(), &APT_OPTIONS, packages].concat()
}

fn run(command: &[&str], logs: &Path) -> Result<Finished, String> {
    let program = Path::new(command[0]).file_name().unwrap_or_default().display();
    let log = logs.join(format!("{program}.log"));
    let mut process = Command::new(command[0]);
    process.args(&command[1..]).env("DEBIAN_FRONTEND", "noninteractive");
    let finished = process::run(&mut process, &log, LIMIT).map_err(|error| error.to_string())?;
    if finished.success { Ok(finished) } else { Err(format!("{program} failed: {}", finished.tail(1))) }
}

#[cfg(test)]
mod tests {
    use super::{Way, advice, before_installing, ways};
    use crate::system::Fake;

    fn rustup() -> (String, String) {
        ("rustup --version".to_owned(), "rustup 1.28".to_owned())
    }

    #[test]
    fn rustup_is_tried_before_apt_and_apt_only_as_root() {
        let mut fake = Fake { outputs: vec![rustup()], paths: vec!["/usr/bin/apt-get"], root: true, ..Fake::default() };
        assert_eq!(ways(&fake), [Way::Rustup, Way::Apt]);
        fake.root = false;
        assert_eq!(ways(&fake), [Way::Rustup]);
        assert_eq!(ways(&Fake { root: true, ..Fake::default() }), []);
    }

    #[test]
    fn rustup_is_left_alone_where_it_must_not_install() {
        let variables = vec![("RUSTUP_AUTO_INSTALL", "0")];
        let mut fake = Fake { variables, outputs: vec![rustup()], ..Fake::default() };
        assert_eq!(ways(&fake), []);
        fake.variables[0].1 = "1";
        assert_eq!(ways(&fake), [Way::Rustup]);
    }

    #[test]
    fn an_interrupted_installation_is_mended_and_missing_lists_are_fetched_first() {
        let audit = |text: &str| ("dpkg --audit".to_owned(), text.to_owned());
        let first_words =
            |fake: &Fake| before_installing(fake).iter().map(|line| line[..2].join(" ")).collect::<Vec<_>>();
        let broken = Fake { outputs: vec![audit("half installed: rustc-web")], ..Fake::default() };
        assert_eq!(first_words(&broken), ["dpkg --configure", "/usr/bin/apt-get update"]);
        let sound = Fake {
            outputs: vec![audit("\n")],
            paths: vec!["/var/lib/apt/lists/debian_Packages.lz4"],
            ..Fake::default()
        };
        assert!(first_words(&sound).is_empty());
    }

    #[test]
    fn lists_that_offer_too_old_a_compiler_are_fetched_anew() {
        let offered = |version: &str| {
            let policy = format!("rustc-web:\n  Installed: (none)\n  Candidate: {version}\n");
            let outputs = vec![("apt-cache policy rustc-web".to_owned(), policy)];
            before_installing(&Fake { outputs, paths: vec!["/var/lib/apt/lists/a_Packages"], ..Fake::default() }).len()
        };
        assert_eq!(offered("1.85.0+dfsg3-1~deb12u3"), 1);
        assert_eq!(offered("1.96.0+dfsg1-1~deb12u2"), 0);
        assert_eq!(offered("(none)"), 1);
    }

    #[test]
    fn advice_names_only_programs_that_are_there() {
        assert!(
            advice(&Fake::default()).starts_with("run install Rust with rustup")
                || advice(&Fake::default()).contains("install Rust")
        );
        let debian = Fake { paths: vec!["/usr/bin/apt-get"], ..Fake::default() };
        assert!(advice(&debian).contains("apt-get install") && !advice(&debian).contains("rustup"));
        let with_rustup = Fake { outputs: vec![rustup()], ..Fake::default() };
        assert!(
            advice(&with_rustup).contains("rustup component add rust-src") && !advice(&with_rustup).contains("apt-get")
        );
    }
}
