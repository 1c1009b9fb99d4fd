//! Memory pools: what stream-ordered allocation counts. The memory itself comes from the machine, pool or no pool.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::Handle;

#[derive(Debug)]
pub struct Pool {
    pub handle: Handle,
    state: Mutex<PoolState>,
}

#[derive(Clone, Copy, Debug)]
pub struct PoolState {
    pub used_bytes: u64,
    pub used_high_bytes: u64,
    /// Bytes that a pool of a GPU would keep; the machine keeps none, so programs only read it back.
    pub release_threshold_bytes: u64,
    /// `CU_MEMPOOL_ATTR_REUSE_*`, by number from 1.
    pub reuse: [u32; 3],
}

impl Pool {
    pub fn new(handle: Handle) -> Self {
        let state = PoolState { used_bytes: 0, used_high_bytes: 0, release_threshold_bytes: 0, reuse: [1; 3] };
        Self { handle, state: Mutex::new(state) }
    }

    pub fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn took(&self, bytes: u64) {
        let mut state = self.state();
        state.used_bytes += bytes;
        state.used_high_bytes = state.used_high_bytes.max(state.used_bytes);
    }

    pub fn gave_back(&self, bytes: u64) {
        let mut state = self.state();
        state.used_bytes = state.used_bytes.saturating_sub(bytes);
    }
}
