//! Builds kernels again while the program runs: the command that started it knows how, and leaves word in the environment.

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::error::CommandError;

/// Holds the command; `cargo xtask` sets it.
const VARIABLE: &str = "WARPWISE_BUILD_CMD";

/// The command that builds the kernels.
#[derive(Clone, Debug)]
pub struct Rebuild {
    command: String,
}

impl Rebuild {
    /// # Errors
    /// Nobody has said how; `what` cannot do without.
    pub fn from_environment(what: &str) -> Result<Self, CommandError> {
        let command = env::var(VARIABLE).ok().filter(|command| !command.trim().is_empty());
        command.map(|command| Self { command }).ok_or_else(|| {
            CommandError::Usage(format!(
                "`{what}` builds kernels, and {VARIABLE}, the command that does, is not set\nstart it as `cargo xtask {what}`"
            ))
        })
    }

    /// Builds, with these words behind the command's own, and waits. What the compiler says goes to standard error as it says it. Whether
    /// it succeeded.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn run(&self, words: &[&str], variables: &[(&str, PathBuf)]) -> io::Result<bool> {
        // In the group of this program, so that Ctrl-C ends both.
        Ok(self.command(words, variables)?.status()?.success())
    }

    /// As [`Rebuild::run`], without waiting. A build that is dropped before its end is given up.
    ///
    /// # Errors
    /// As there.
    pub fn start(&self, words: &[&str]) -> io::Result<Build> {
        let mut command = self.command(words, &[])?;
        // A group of its own: all that it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Build { child: command.spawn()?, has_ended: false })
    }

    fn command(&self, words: &[&str], variables: &[(&str, PathBuf)]) -> io::Result<Command> {
        let quoted: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
        let line = format!("{}{quoted}", self.command);
        let mut command = match cfg!(windows) {
            true => Command::new("cmd"),
            false => Command::new("sh"),
        };
        command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(line);
        // The program is running, and stays as it is; kernels that were named are those to be replaced.
        command.env("WARPWISE_PROGRAM", env::current_exe()?).env_remove("WARPWISE_KERNELS");
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if io::stderr().is_terminal() && !no_color {
            command.env("CARGO_TERM_COLOR", "always");
        }
        // Its own outcome, a folder, is known here.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(command)
    }
}

/// A build that goes on.
#[derive(Debug)]
pub struct Build {
    child: Child,
    has_ended: bool,
}

impl Build {
    /// Whether it succeeded, if it has ended.
    ///
    /// # Errors
    /// The system does not say.
    pub fn outcome(&mut self) -> io::Result<Option<bool>> {
        let status = self.child.try_wait()?;
        self.has_ended |= status.is_some();
        Ok(status.map(|status| status.success()))
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // That it has ended in the meantime is no error.
        if cfg!(unix) {
            let _ = Command::new("sh")
                .arg("-c")
                .arg(format!("kill -TERM -{}", self.child.id()))
                .stderr(Stdio::null())
                .status();
        } else {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    match cfg!(windows) {
        true => format!("\"{word}\""),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
