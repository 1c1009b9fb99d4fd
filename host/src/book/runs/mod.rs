//! Runs of labs that pages ask for: a few at once, the rest wait; each with limits, progress, and an end that anyone can ask for.

mod job;
mod process;
mod routes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

pub use job::{Job, State};
pub use routes::routes;

use super::recorded::Recorded;
use crate::lab::Lab;

/// What runs may take of this computer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub at_once: usize,
    /// Runs that may wait for their turn.
    pub waiting: usize,
    /// Of one run.
    pub time: Duration,
    /// Resident memory of one run; watched where the system tells it (Linux).
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { at_once: 1, waiting: 8, time: Duration::from_secs(600), memory_bytes: 6 << 30 }
    }
}

/// Ended runs that are remembered.
const REMEMBERED: usize = 64;

/// What a run is asked for, of names that were checked.
#[derive(Clone)]
pub struct Order {
    pub lab: &'static Lab,
    pub device: &'static str,
    /// `auto`, `ptx` or `sass`.
    pub isa: &'static str,
}

/// All runs since the server started.
pub struct Runs {
    program: PathBuf,
    recorded: Recorded,
    limits: Limits,
    turns: Arc<Semaphore>,
    jobs: Mutex<BTreeMap<u64, Arc<Job>>>,
}

impl Runs {
    pub fn new(program: PathBuf, recorded: Recorded, limits: Limits) -> Self {
        let turns = Arc::new(Semaphore::new(limits.at_once));
        Self { program, recorded, limits, turns, jobs: Mutex::default() }
    }

    pub fn find(&self, id: u64) -> Option<Arc<Job>> {
        self.jobs().get(&id).cloned()
    }

    /// The run of this lab that has not ended.
    pub fn going_on(&self, lab: &Lab) -> Option<Arc<Job>> {
        self.jobs().values().rev().find(|job| job.order.lab.id == lab.id && !job.state().has_ended()).cloned()
    }

    /// Starts a run, or has it wait for its turn. One of the same lab that goes on already is given instead.
    ///
    /// # Errors
    /// Too many wait.
    pub fn start(self: &Arc<Self>, order: Order) -> Result<Arc<Job>, String> {
        if let Some(same) = self.going_on(order.lab) {
            return Ok(same);
        }
        let mut jobs = self.jobs();
        let open = jobs.values().filter(|job| !job.state().has_ended()).count();
        if open >= self.limits.at_once + self.limits.waiting {
            return Err(format!("{open} runs go on or wait already; cancel one, or ask again when one has ended"));
        }
        let id = jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let expected = self.recorded.load(order.lab, order.device).and_then(|run| run["labs"][0]["seconds"].as_f64());
        let job = Arc::new(Job::new(id, order, expected));
        jobs.insert(id, Arc::clone(&job));
        while jobs.len() > REMEMBERED {
            let Some(oldest) = jobs.iter().find(|(_, job)| job.state().has_ended()).map(|(id, _)| *id) else { break };
            jobs.remove(&oldest);
        }
        drop(jobs);
        tokio::spawn(Arc::clone(self).carry_out(Arc::clone(&job)));
        Ok(job)
    }

    async fn carry_out(self: Arc<Self>, job: Arc<Job>) {
        let turn = tokio::select! {
            turn = Arc::clone(&self.turns).acquire_owned() => turn,
            () = job.cancelled() => return job.end(State::Cancelled),
        };
        // The semaphore is never closed.
        let Ok(_turn) = turn else { return job.end(State::Failed("the book is closing".to_owned())) };
        job.begin();
        let path = self.recorded.path(job.order.lab, job.order.device);
        let ended = process::run(&self.program, &job, &path, self.limits).await;
        job.end(ended);
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
