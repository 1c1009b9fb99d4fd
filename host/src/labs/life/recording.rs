//! What an observer keeps of a launch: the issues of one warp, and when its scheduler issued for others.

use std::sync::{Arc, Mutex, PoisonError};

use warpwise_simt::timing::{Completed, Issued, Observer, Placement};

/// The kept part of a launch.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    pub(super) block: u64,
    pub(super) warp: u32,
    /// Issues of the warp, in the order of cycles.
    pub issued: Vec<Issued>,
    /// Arrivals of what its loads asked L2 for.
    pub arrived: Vec<Completed>,
    /// Cycles in which the warp's scheduler issued for another warp, from the warp's first issue on.
    pub others: Vec<u64>,
}

impl Recording {
    /// A recording of one warp of one block, by the block's linear number and the warp's in it.
    pub fn of(block: u64, warp: u32) -> Self {
        Self { block, warp, ..Self::default() }
    }
}

impl Observer for Recording {
    fn issued(&mut self, event: &Issued) {
        if (event.block, event.warp_in_block) == (self.block, self.warp) {
            self.issued.push(*event);
        } else if let Some(first) = self.issued.first()
            && (event.sm, event.scheduler) == (first.sm, first.scheduler)
        {
            self.others.push(event.cycle);
        }
    }

    fn completed(&mut self, event: &Completed) {
        if (event.block, event.warp_in_block) == (self.block, self.warp) {
            self.arrived.push(*event);
        }
    }

    /// The report tells where blocks lived.
    fn ended(&mut self, _: &Placement) {}
}

/// A recording that the machine's thread fills and its owner takes back.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Recording>>);

impl Shared {
    pub fn new(recording: Recording) -> Self {
        Self(Arc::new(Mutex::new(recording)))
    }

    pub fn take(&self) -> Recording {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with(&mut self, show: impl FnOnce(&mut Recording)) {
        show(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Shared {
    fn issued(&mut self, event: &Issued) {
        self.with(|recording| recording.issued(event));
    }

    fn completed(&mut self, event: &Completed) {
        self.with(|recording| recording.completed(event));
    }

    fn ended(&mut self, _: &Placement) {}
}
