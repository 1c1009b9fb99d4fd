//! The program `warpwise`: built in release, started with the user's words.

use crate::error::{Error, Result};
use crate::progress;
use crate::workspace::Workspace;
use std::process::{Command, ExitCode, Stdio};

/// Builds `warpwise`; cargo decides what is stale.
pub fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = Command::new(&workspace.cargo);
    cargo.current_dir(&workspace.root).args(["build", "--quiet", "--release", "--package", "warpwise"]);
    cargo.stdin(Stdio::null());
    let status = progress::step("compiling warpwise", || cargo.status());
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error::new("warpwise does not compile: the compiler's messages are above")),
        Err(error) => Err(Error::new(format!("cannot start cargo: {error}"))),
    }
}

/// Becomes `command`, where the system can do that; else runs it and passes its exit code on.
pub fn become_it(mut command: Command) -> Result<ExitCode> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let error = command.exec();
        let program = command.get_program().display().to_string();
        Err(Error::new(format!("cannot start {program}: {error}")))
    }
    #[cfg(not(unix))]
    run(&mut command)
}

/// Runs `command` to its end and passes its exit code on.
pub fn run(command: &mut Command) -> Result<ExitCode> {
    let status = command.status();
    let program = command.get_program().display().to_string();
    let status = status.map_err(|error| Error::new(format!("cannot start {program}: {error}")))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
