//! What goes on, on standard error: a line that rewrites itself in a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the terminal's line moves.
const TICK: Duration = Duration::from_millis(100);

/// Set to [`EVERY_STEP`] by a program that reads standard error to show how far a run is: then steps are lines too.
pub const STEPS_VARIABLE: &str = "WARPWISE_PROGRESS";
pub const EVERY_STEP: &str = "steps";

/// How the line of a step begins, and that of a lab.
pub const STEP_PREFIX: &str = "step: ";
pub const LAB_PREFIX: &str = "running ";

/// The progress of a run of labs, or of one long step.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Whether each step is a line.
    steps: bool,
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
        let steps = std::env::var_os(STEPS_VARIABLE).is_some_and(|word| word == EVERY_STEP);
        Self { bar, quiet: false, steps }
    }

    /// Says nothing: for tests and for callers that are not a command line.
    pub fn silent() -> Self {
        Self { bar: None, quiet: true, steps: false }
    }

    /// A lab begins. Without a terminal this is a line, so that a log shows where time goes.
    pub fn lab(&self, id: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(id.to_owned());
                bar.set_message("");
            }
            None if !self.quiet => eprintln!("{LAB_PREFIX}{id}"),
            None => {}
        }
    }

    /// A step within a lab, shown in a terminal, and to a program that asks for it.
    pub fn step(&self, step: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(step.to_owned()),
            None if self.steps => eprintln!("{STEP_PREFIX}{step}"),
            None => {}
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
