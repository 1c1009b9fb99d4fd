//! A case in a process of its own: this program again, with the driver to be tested first on the loader's path.

use std::process::Command;

use libtest_mimic::Failed;

use crate::world;

/// Set for the process of one case.
const CHILD: &str = "WARPWISE_CONTRACT_CASE";

/// Whether this process was started for one case.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one case alone.
///
/// # Errors
/// What it printed, if it did not run and pass.
#[cfg(target_os = "linux")]
pub fn run(name: &str) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", name, "--test-threads=1", "--nocapture"]).env(CHILD, "1");
    if let Some(folder) = world::own_driver()? {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let output = command.output()?;
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    match output.status.success() && out.contains("1 passed") {
        true => Ok(()),
        false => Err(format!("{}\n{out}{err}", output.status).into()),
    }
}
