//! What was measured on hardware and is kept in docs/measurements, against the machine as it is now.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What ends the name of a comparison by ncu: `2026-11-30-h200-counters.csv`.
const COUNTERS: &str = "-counters.csv";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace")
}

#[test]
fn counters_that_must_be_equal_are_those_that_ncu_printed() {
    let entries = root().join("docs/measurements").read_dir().expect("a folder").flatten();
    let kept: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(COUNTERS)))
        .collect();
    assert!(!kept.is_empty(), "docs/measurements keeps no *{COUNTERS}");
    for path in kept {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The device stands before the ending: `2026-11-30-h200-counters.csv`.
        let device = name.trim_end_matches(COUNTERS).rsplit('-').next().unwrap_or_default();
        let program =
            std::env::var_os("WARPWISE_PROGRAM").map_or_else(|| root().join("target/release/warpwise"), PathBuf::from);
        // Both at once: there are two cores, and each takes a minute.
        let runs = ["ptx", "sass"].map(|isa| {
            let mut command = Command::new(&program);
            command.args(["counters", "--backend", "sim", "--isa", isa, "--device", device, "--from"]).arg(&path);
            command.current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
            (isa, command.spawn().expect("`cargo xtask test` builds the program"))
        });
        for (isa, run) in runs {
            let output = run.wait_with_output().expect("its output");
            let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{name}, {isa}:\n{said}\n{errors}");
            let kept = fs::metadata(&path).is_ok_and(|file| file.len() > 0);
            assert!(kept && said.contains(", 0 differ"), "{name}, {isa}:\n{said}");
        }
    }
}
