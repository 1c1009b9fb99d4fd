//! The machine for explorers: kernels and tools of each device, opened once, and turns, so that many who ask at once do not take all
//! of the computer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use warpwise_simt::device::{self, Device};

use super::problem::Problem;
use crate::cli::GlobalOptions;
use crate::workbench::Workbench;

/// Questions that the machine works on at once.
const AT_ONCE: usize = 2;

/// How long a question waits for its turn.
const PATIENCE: Duration = Duration::from_secs(20);

/// Workbenches by device.
pub struct Machines {
    global: GlobalOptions,
    benches: Mutex<HashMap<&'static str, Arc<Workbench>>>,
    turns: Arc<Semaphore>,
}

impl Machines {
    pub fn new(global: GlobalOptions) -> Self {
        Self { global, benches: Mutex::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Works on a thread of its own, so that other requests are answered meanwhile.
    ///
    /// # Errors
    /// There are no kernels, too many others ask, or the work itself fails.
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        device: &'static Device,
        work: impl FnOnce(&Workbench) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy =
            || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the machine is busy with other questions; ask again");
        let turn = timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await.map_err(|_| busy())?;
        let machines = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&*machines.bench(device)?)
        });
        done.await.unwrap_or_else(|_| Err(Problem::here("the machine met a defect; please report it with the address")))
    }

    fn bench(&self, device: &'static Device) -> Result<Arc<Workbench>, Problem> {
        // Held while one is opened: those who ask for the same device wait for it instead of opening it again.
        let mut benches = self.benches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bench) = benches.get(device.name.as_str()) {
            return Ok(Arc::clone(bench));
        }
        let mut global = self.global.clone();
        global.device = Some(device.name.clone());
        let bench = Arc::new(Workbench::open(&global, "sim").map_err(Problem::here)?);
        bench.kernels.require_ours("book").map_err(Problem::here)?;
        benches.insert(&device.name, Arc::clone(&bench));
        Ok(bench)
    }
}

/// The device of that name.
///
/// # Errors
/// There is none; the problem lists those there are.
pub fn device(name: &str) -> Result<&'static Device, Problem> {
    device::find(name).map_err(|error| Problem::input(error.to_string()))
}
