//! Saves of a crate's sources, and Ctrl-C, as events.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher};

use crate::error::CommandError;
use crate::kernels::KernelFiles;

/// What may happen while nothing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Saved(Instant),
    /// Ctrl-C.
    Stop,
}

/// How long after a save others of the same stroke are waited for: an editor writes several files, or one in several steps.
const QUIET: Duration = Duration::from_millis(30);

/// Listens from when it is made until it is dropped.
pub struct Saves {
    events: Receiver<Event>,
    /// What the events come from.
    _watcher: notify::RecommendedWatcher,
}

impl Saves {
    /// Listens to folders.
    ///
    /// # Errors
    /// There are none; the system does not watch one of them.
    pub fn of(folders: &BTreeSet<PathBuf>) -> Result<Self, CommandError> {
        let (sender, events) = mpsc::channel();
        let stop = sender.clone();
        // Set once a process; a test's second is no harm.
        let _ = ctrlc::set_handler(move || {
            let _ = stop.send(Event::Stop);
        });
        let cannot = |error: notify::Error| CommandError::Usage(format!("cannot watch the kernels' sources: {error}"));
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_save = |event: &notify::Event| {
                matches!(event.kind, EventKind::Modify(_) | EventKind::Create(_) | EventKind::Remove(_))
                    && event.paths.iter().any(|path| path.extension().is_some_and(|extension| extension == "rs"))
            };
            if event.as_ref().is_ok_and(is_save) {
                let _ = sender.send(Event::Saved(Instant::now()));
            }
        })
        .map_err(cannot)?;
        if folders.is_empty() {
            return Err(CommandError::Usage(
                "the kernels' sources are not on this machine, so there is nothing to watch\nstart it in a checkout, as `cargo xtask watch`".to_owned(),
            ));
        }
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive).map_err(cannot)?;
        }
        Ok(Self { events, _watcher: watcher })
    }

    /// The next event, waited for.
    pub fn next(&self) -> Event {
        match self.events.recv() {
            Ok(event) => self.whole_stroke(event),
            Err(_) => Event::Stop,
        }
    }

    /// The next event within `limit`, if there is one.
    pub fn next_within(&self, limit: Duration) -> Option<Event> {
        match self.events.recv_timeout(limit) {
            Ok(event) => Some(self.whole_stroke(event)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Stop),
        }
    }

    /// Takes the other events of the stroke that begins with this one; Ctrl-C among them is what counts.
    fn whole_stroke(&self, first: Event) -> Event {
        if first == Event::Stop {
            return first;
        }
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(Event::Saved(_)) => {}
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return Event::Stop,
                Err(RecvTimeoutError::Timeout) => return first,
            }
        }
    }
}

/// Folders with sources of the kernels: those that the PTX names and that are there.
pub fn folders(kernels: &KernelFiles) -> BTreeSet<PathBuf> {
    let root = kernels.facts.source_root.clone().unwrap_or_default();
    let files = kernels.ptx.lines().filter_map(|line| line.trim_start().strip_prefix(".file")?.split('"').nth(1));
    let paths = files.map(|file| root.join(file)).filter(|path| path.is_file() && path.starts_with(&root));
    paths.filter_map(|path| Some(path.parent()?.to_owned())).collect()
}
