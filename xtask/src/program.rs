//! The program `warpwise`: built in release, started with the user's words.

use crate::cuda;
use crate::error::{Error, Result};
use crate::progress;
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the build looks whether it is still wanted.
const POLL: Duration = Duration::from_millis(50);

/// Builds `warpwise`, unless one is named; cargo decides what is stale. Once `unwanted` is set, the build is given up, and that is no error.
///
/// Tests name the program that they share: xtask started by one of them would else build another, without the backend for GPUs, under the
/// feet of the rest.
pub fn build(workspace: &Workspace, words: &Words, unwanted: &AtomicBool) -> Result<()> {
    if Workspace::named_program().is_some() {
        return Ok(());
    }
    let mut cargo = Command::new(&workspace.cargo);
    cargo.current_dir(&workspace.root).args(["build", "--quiet", "--release", "--package", "warpwise"]);
    // Cargo keeps what it built with other features, so that going to and fro between commands compiles nothing again.
    cargo.arg("--features").arg(features(words).join(","));
    let cargo = cargo.stdin(Stdio::null()).spawn();
    let mut cargo = cargo.map_err(|error| Error::new(format!("cannot start cargo: {error}")))?;
    let status = progress::step("compiling warpwise", || {
        loop {
            match cargo.try_wait() {
                Ok(None) if unwanted.load(Ordering::Relaxed) => {
                    // Both fail only if cargo has ended in the meantime.
                    let _ = cargo.kill();
                    break cargo.wait().map(|_| None);
                }
                Ok(None) => thread::sleep(POLL),
                ended => break ended,
            }
        }
    });
    match status {
        Ok(Some(status)) if !status.success() => {
            Err(Error::new("warpwise does not compile: the compiler's messages are above"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(format!("cannot wait for cargo: {error}"))),
    }
}

/// Commands that need the lab book, whose server takes a while to compile; a bundle has it, since nothing can be built there.
const WITH_THE_BOOK: [&str; 4] = ["book", "bundle", "ci", "test"];

/// The program's features that the words call for.
fn features(words: &Words) -> Vec<&'static str> {
    let with_the_book = words.command.as_deref().is_some_and(|command| WITH_THE_BOOK.contains(&command));
    let wanted = [("cuda", cuda::is_wanted(words)), ("book", with_the_book)];
    wanted.into_iter().filter_map(|(feature, is_wanted)| is_wanted.then_some(feature)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_is_compiled_for_the_commands_that_need_it() {
        let has_book = |line: &str| {
            let words = Words::parse(line.split(' ').map(str::to_owned)).unwrap();
            features(&words).contains(&"book")
        };
        for line in ["book", "book --port 0", "bundle", "test", "ci"] {
            assert!(has_book(line), "{line}");
        }
        for line in ["labs", "labs launch --backend cuda", "regs book"] {
            assert!(!has_book(line), "{line}");
        }
    }
}
