//! What goes on, on standard error: a line that rewrites itself in a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the terminal's line moves.
const TICK: Duration = Duration::from_millis(100);

/// The progress of a run of labs, or of one long step.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    /// On standard error.
    pub fn stderr() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar, quiet: false }
    }

    /// Says nothing: for tests and for callers that are not a command line.
    pub fn silent() -> Self {
        Self { bar: None, quiet: true }
    }

    /// A lab begins. Without a terminal this is a line, so that a log shows where time goes.
    pub fn lab(&self, id: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(id.to_owned());
                bar.set_message("");
            }
            None if !self.quiet => eprintln!("running {id}"),
            None => {}
        }
    }

    /// A step within a lab, shown in a terminal only.
    pub fn step(&self, step: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(step.to_owned());
        }
    }

    /// Runs `write` with the line out of the way, so that output and progress do not mix.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
