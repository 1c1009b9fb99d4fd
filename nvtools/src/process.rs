//! Runs a program to its end or to a time limit, whichever comes first, and gives what it printed.
//!
//! Two threads read the pipes. Once a limit has passed the program is killed and the threads are left to themselves, so
//! that a grandchild which keeps a pipe open cannot hold up the caller.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// More output than this is cut off; the program then sees a closed pipe. A full listing of a large cubin is 50 MiB.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;

/// What a program printed and how it ended.
#[derive(Debug, Clone)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The last line that says something, for error messages; of standard error if it has one.
    pub fn last_line(&self) -> String {
        let mut lines = self.stdout.lines().chain(self.stderr.lines()).map(str::trim);
        let line = lines.rfind(|line| !line.is_empty());
        line.map_or_else(|| "it printed nothing".to_owned(), |line| line.chars().take(300).collect())
    }
}

/// Why a program gave no output.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("{program} could not be started: {source}")]
    NotStarted { program: String, source: io::Error },
    #[error("{program} was ended after {} s without an answer", .limit.as_secs_f32())]
    TimedOut { program: String, limit: Duration },
    #[error("the output of {program} could not be read: {source}")]
    Unreadable { program: String, source: io::Error },
}

/// Runs a command with empty standard input. Output that is not UTF-8 is read with replacement characters.
pub fn run(command: &mut Command, limit: Duration) -> Result<Output, ProcessError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(source) => return Err(ProcessError::NotStarted { program, source }),
    };
    let stdout = read_in_background(child.stdout.take());
    let stderr = read_in_background(child.stderr.take());
    let finished = (|| {
        let stdout = receive(&stdout, deadline)?;
        let stderr = receive(&stderr, deadline)?;
        let status = wait(&mut child, deadline)?;
        Some((status, stdout, stderr))
    })();
    let Some((status, stdout, stderr)) = finished else {
        // Both fail only if the program has just ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        return Err(ProcessError::TimedOut { program, limit });
    };
    match (status, stdout, stderr) {
        (Ok(status), Ok(stdout), Ok(stderr)) => Ok(Output { status, stdout: text(stdout), stderr: text(stderr) }),
        (Err(source), ..) | (_, Err(source), _) | (.., Err(source)) => {
            Err(ProcessError::Unreadable { program, source })
        }
    }
}

type Bytes = io::Result<Vec<u8>>;

fn read_in_background(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let result = pipe.map_or(Ok(0), |pipe| pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        // The receiver is gone if the time limit has passed.
        let _ = sender.send(result.map(|_| bytes));
    });
    receiver
}

/// None if the deadline passes first.
fn receive(receiver: &mpsc::Receiver<Bytes>, deadline: Instant) -> Option<Bytes> {
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(bytes) => Some(bytes),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(io::Error::other("the reading thread ended"))),
    }
}

/// Waits for the end of a program whose pipes are closed: next to no time, unless it closed them early.
fn wait(child: &mut Child, deadline: Instant) -> Option<io::Result<ExitStatus>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(Ok(status)),
            Ok(None) if Instant::now() >= deadline => return None,
            Ok(None) => thread::sleep(Duration::from_micros(200)),
            Err(error) => return Some(Err(error)),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
