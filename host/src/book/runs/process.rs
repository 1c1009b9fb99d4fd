//! The process of one run: `warpwise labs ID`, watched and ended.
//!
//! A process, since it can be ended at any instruction and takes its memory with it, whatever a kernel does.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::{Job, Limits, State};
use crate::progress::{EVERY_STEP, STEPS_VARIABLE};

/// How often its time and memory are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Lines of the error that are shown.
const LINES_SHOWN: usize = 6;

/// Runs the job's lab to its end, and keeps what it found at `path`.
pub async fn run(program: &Path, job: &Job, path: &Path, limits: Limits) -> State {
    if let Some(Err(error)) = path.parent().map(std::fs::create_dir_all) {
        return State::Failed(format!("cannot make the folder of `{}`: {error}", path.display()));
    }
    // Written beside and renamed, so that a page never reads half of it.
    let partial = path.with_extension(format!("{}.partial", job.id));
    let mut command = Command::new(program);
    command.args(["labs", job.order.lab.id, "--backend", "sim", "--device", job.order.device, "--isa", job.order.isa]);
    command.arg("--json").arg(&partial).env(STEPS_VARIABLE, EVERY_STEP).kill_on_drop(true);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let ended = match child {
        Ok(child) => watch(child, job, limits).await,
        Err(error) => Err(State::Failed(format!("cannot start `{}`: {error}", program.display()))),
    };
    let state = match ended {
        // 1 is a claim that fails: there are results to show.
        Ok((Some(0 | 1), _)) => match std::fs::rename(&partial, path) {
            Ok(()) => State::Done,
            Err(error) => State::Failed(format!("the lab left no results: {error}")),
        },
        Ok((_, said)) if said.is_empty() => State::Failed("the lab ended early and said nothing".to_owned()),
        Ok((_, said)) => State::Failed(said.join("\n")),
        Err(state) => state,
    };
    if state != State::Done {
        // It may never have been written.
        let _ = std::fs::remove_file(&partial);
    }
    state
}

/// Waits for the end: the exit code and the last lines of the error output, or why the process was ended.
async fn watch(mut child: Child, job: &Job, limits: Limits) -> Result<(Option<i32>, Vec<String>), State> {
    let began = Instant::now();
    let mut said = Vec::new();
    let mut lines = child.stderr.take().map(|stderr| BufReader::new(stderr).lines());
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            line = next_line(&mut lines) => match line {
                Some(line) => note(line, job, &mut said),
                None => lines = None,
            },
            () = job.cancelled() => break State::Cancelled,
            status = child.wait(), if lines.is_none() => {
                return match status {
                    Ok(status) => Ok((status.code(), said)),
                    Err(error) => Err(State::Failed(format!("cannot wait for the lab: {error}"))),
                };
            }
            _ = look.tick() => if let Some(why) = excess(&child, began.elapsed(), limits) {
                break State::Failed(why);
            },
        }
    };
    // It may have ended by itself just now.
    let _ = child.kill().await;
    Err(ended)
}

/// The next line of the error output; `None` at its end. Waits for ever where it has ended before.
async fn next_line<R: tokio::io::AsyncBufRead + Unpin>(lines: &mut Option<tokio::io::Lines<R>>) -> Option<String> {
    match lines {
        Some(lines) => lines.next_line().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// A step is progress; anything else is remembered, in case it tells why the lab ended.
fn note(line: String, job: &Job, said: &mut Vec<String>) {
    if let Some(step) = line.strip_prefix(crate::progress::STEP_PREFIX) {
        return job.at(step);
    }
    if line.starts_with(crate::progress::LAB_PREFIX) {
        return;
    }
    if said.len() == LINES_SHOWN {
        said.remove(0);
    }
    said.push(line);
}

/// What the process has too much of.
fn excess(child: &Child, took: Duration, limits: Limits) -> Option<String> {
    if took > limits.time {
        return Some(format!("ended after {} s, the longest that a run may take", limits.time.as_secs()));
    }
    let bytes = child.id().and_then(resident_bytes)?;
    let most = limits.memory_bytes;
    (bytes > most).then(|| format!("ended with {} MiB of memory; a run may have {}", bytes >> 20, most >> 20))
}

/// Resident memory of a process, where the system tells it (proc(5): `VmRSS`, kibibytes).
fn resident_bytes(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}
