//! The browser in which the lab book is tested: Chromium and its driver, installed where that is possible.
//!
//! Without them those tests are counted as not run; CI asks for them (`WARPWISE_BROWSER=required`).

use crate::progress;
use crate::provision;
use crate::system::System;
use std::path::Path;

const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Any of these will do, by the names that distributions and Google give them.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: &str = "chromedriver";

/// Installs what is missing, unless that is not wanted or not allowed here; then says what to type. Tests are not stopped by it.
pub fn prepare(system: &dyn System, logs: &Path, may_provision: bool) {
    if is_there(system) {
        return;
    }
    if may_provision && provision::may_install(system) {
        let installed = progress::step("installing Chromium and its driver for the lab book's tests (apt-get)", || {
            provision::install(&PACKAGES, system, logs)
        });
        match installed {
            Ok(()) if is_there(system) => return,
            Ok(()) => eprintln!("xtask: Chromium was installed and does not start"),
            Err(why) => eprintln!("xtask: {why}"),
        }
    }
    eprintln!(
        "xtask: the lab book is not tested in a browser: `apt-get install {}` as root provides one",
        PACKAGES.join(" ")
    );
}

fn is_there(system: &dyn System) -> bool {
    let starts = |program: &str| system.output(program, &["--version"]).is_some();
    starts(DRIVER) && BROWSERS.into_iter().any(starts)
}

#[cfg(test)]
mod tests {
    use super::is_there;
    use crate::system::Fake;

    #[test]
    fn a_browser_is_there_only_with_its_driver() {
        let version = |program: &str| (format!("{program} --version"), "1".to_owned());
        let there = |programs: &[&str]| {
            is_there(&Fake { outputs: programs.iter().map(|program| version(program)).collect(), ..Fake::default() })
        };
        assert!(there(&["chromium", "chromedriver"]) && there(&["google-chrome", "chromedriver"]));
        assert!(!there(&["chromium"]) && !there(&["chromedriver"]) && !there(&[]));
    }
}
