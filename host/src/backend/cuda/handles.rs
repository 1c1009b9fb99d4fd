//! Events and scratch memory of a context: driver handles that free themselves.
//!
//! `cust` keeps the raw handle of its events to itself, and packed launches, waits and times across streams need it.

use cust::sys;

use super::error::{DriverResult, no_memory, result};
use super::{GpuError, driver};

/// An event of the context that is current. Drop it with that context current.
pub struct Event(sys::CUevent);

impl Event {
    pub fn new() -> DriverResult<Self> {
        let mut event = std::ptr::null_mut();
        // SAFETY: `event` is a place for one handle; flags 0 make an event that takes times.
        result(unsafe { sys::cuEventCreate(&raw mut event, 0) })?;
        Ok(Self(event))
    }

    pub fn record(&self, stream: sys::CUstream) -> DriverResult<()> {
        // SAFETY: the event is alive; a stream of another context is the driver's to refuse.
        result(unsafe { sys::cuEventRecord(self.0, stream) })
    }

    /// Later work on the stream waits for what the event last recorded.
    pub fn hold(&self, stream: sys::CUstream) -> DriverResult<()> {
        // SAFETY: as above; no flags are defined.
        result(unsafe { sys::cuStreamWaitEvent(stream, self.0, 0) })
    }

    /// Microseconds from `start` to this event; both must have happened.
    pub fn us_since(&self, start: &Self) -> DriverResult<f64> {
        let mut milliseconds = 0.0;
        // SAFETY: `milliseconds` is a place for one float, both events are alive.
        result(unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, start.0, self.0) })?;
        Ok(f64::from(milliseconds) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event came from `new` and is destroyed once. In a poisoned context this fails, with nothing left to free.
        let _ = result(unsafe { sys::cuEventDestroy_v2(self.0) });
    }
}

/// Device memory that no kernel sees.
pub struct Scratch {
    pub address: u64,
    pub bytes: u64,
}

impl Scratch {
    pub fn new(bytes: u64) -> Result<Self, GpuError> {
        let mut address = 0;
        let length = driver::length(bytes.max(1))?;
        // SAFETY: `address` is a place for one device pointer.
        result(unsafe { sys::cuMemAlloc_v2(&raw mut address, length) }).map_err(|_| no_memory(bytes))?;
        Ok(Self { address, bytes })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the memory came from `new` and is freed once.
        let _ = result(unsafe { sys::cuMemFree_v2(self.address) });
    }
}
