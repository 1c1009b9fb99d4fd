//! One run: what it was asked for, how far it is, and the wish to end it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Order;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Running,
    /// Its results are recorded.
    Done,
    Cancelled,
    /// With the reason.
    Failed(String),
}

impl State {
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed(_) => "failed",
        }
    }
}

/// A run of a lab.
pub struct Job {
    pub id: u64,
    pub order: Order,
    /// Seconds that the last run of it took.
    expected_seconds: Option<f64>,
    progress: Mutex<Progress>,
    cancel: watch::Sender<bool>,
}

struct Progress {
    state: State,
    began: Option<Instant>,
    /// Seconds that it took, once it has ended.
    took: Option<f64>,
    step: String,
}

impl Job {
    pub fn new(id: u64, order: Order, expected_seconds: Option<f64>) -> Self {
        let progress = Progress { state: State::Waiting, began: None, took: None, step: String::new() };
        Self { id, order, expected_seconds, progress: Mutex::new(progress), cancel: watch::Sender::new(false) }
    }

    pub fn state(&self) -> State {
        self.progress().state.clone()
    }

    pub fn begin(&self) {
        let mut progress = self.progress();
        (progress.state, progress.began) = (State::Running, Some(Instant::now()));
    }

    /// What it is at.
    pub fn at(&self, step: &str) {
        self.progress().step = step.to_owned();
    }

    pub fn end(&self, state: State) {
        let mut progress = self.progress();
        progress.took = progress.began.map(|began| began.elapsed().as_secs_f64());
        progress.state = state;
    }

    pub fn cancel(&self) {
        self.cancel.send_replace(true);
    }

    /// Returns when the run was cancelled.
    pub async fn cancelled(&self) {
        // The sender lives as long as this run does.
        let _ = self.cancel.subscribe().wait_for(|wish| *wish).await;
    }

    /// For the page: `{"id", "lab", "device", "state", "seconds", "expected_seconds", "step", "why"}`.
    pub fn json(&self) -> Value {
        let progress = self.progress();
        let going = progress.began.map(|began| began.elapsed().as_secs_f64());
        let why = match &progress.state {
            State::Failed(why) => Some(why),
            _ => None,
        };
        json!({
            "id": self.id, "lab": self.order.lab.id, "device": self.order.device, "state": progress.state.word(),
            "seconds": progress.took.or(going).unwrap_or(0.0), "expected_seconds": self.expected_seconds,
            "step": progress.step, "why": why,
        })
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
