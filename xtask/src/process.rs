//! Runs a program to its end, its output in a log file: nothing can block on a full pipe, and what went wrong stays
//! readable.

use crate::error::{Error, Result};
use crate::workspace::Workspace;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a program under a time limit is looked at.
const POLL: Duration = Duration::from_millis(5);

/// How a program ended.
pub struct Finished {
    pub success: bool,
    /// What it wrote to both outputs.
    pub output: String,
}

impl Finished {
    /// The last lines of the output, for a message.
    pub fn tail(&self, lines: usize) -> String {
        let all: Vec<&str> = self.output.lines().filter(|line| !line.trim().is_empty()).collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// Runs `command`, with both outputs in the file `log`, and ends it after `limit`.
pub fn run(command: &mut Command, log: &Path, limit: Duration) -> Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    if let Some(folder) = log.parent() {
        Workspace::create(folder)?;
    }
    let file = File::create(log).map_err(|error| Error::file("write", log, &error))?;
    let second = file.try_clone().map_err(|error| Error::file("write", log, &error))?;
    command.stdin(Stdio::null()).stdout(file).stderr(second);
    let mut child = command.spawn().map_err(|error| Error::new(format!("cannot start {name}: {error}")))?;
    let begin = Instant::now();
    let status: Option<ExitStatus> = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < limit => thread::sleep(POLL),
            Ok(None) | Err(_) => {
                // Both fail only if the program has ended in the meantime.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let mut output = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
    if status.is_none() {
        output.push_str(&format!("\n{name} did not end within {} seconds and was stopped", limit.as_secs()));
    }
    Ok(Finished { success: status.is_some_and(|status| status.success()), output })
}

#[cfg(all(test, unix))]
mod tests {
    use super::run;
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str, limit: Duration) -> super::Finished {
        let log = std::env::temp_dir().join(format!("xtask-process-{}-{}.log", std::process::id(), script.len()));
        let finished = run(Command::new("sh").args(["-c", script]), &log, limit).unwrap();
        std::fs::remove_file(log).unwrap();
        finished
    }

    #[test]
    fn a_failing_program_keeps_what_it_said_on_both_outputs() {
        let finished = shell("echo one; echo two >&2; exit 3", Duration::from_secs(60));
        assert!(!finished.success);
        assert_eq!(finished.tail(1), "two");
        assert_eq!(finished.tail(9), "one\ntwo");
    }

    #[test]
    fn a_program_past_its_limit_is_stopped_and_said_to_be() {
        let finished = shell("echo begun; exec sleep 600", Duration::from_millis(200));
        assert!(!finished.success);
        assert!(finished.output.starts_with("begun") && finished.output.contains("was stopped"), "{}", finished.output);
    }

    #[test]
    fn more_output_than_a_pipe_holds_blocks_nobody() {
        let finished = shell("head -c 1000000 /dev/zero | tr '\\0' x", Duration::from_secs(60));
        assert!(finished.success);
        assert_eq!(finished.output.len(), 1_000_000);
    }
}
