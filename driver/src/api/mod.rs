//! The exported functions, a file a topic. Each checks what C gave it, and leaves the rest to the modules above.
//!
//! Names and meanings are those of NVIDIA's driver API reference; comments here say only what differs.

pub mod context;
pub mod copy_boxes;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod host_memory;
pub mod launch;
pub mod legacy_context;
pub mod managed;
pub mod memcpy;
pub mod memory;
pub mod memset;
pub mod missing;
pub mod module;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod primary;
pub mod proc_address;
pub mod profiler;
pub mod stream;
pub mod stream_state;
pub mod version;

use crate::guard::Entry;

/// Every function, missing ones last.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        context::ENTRIES,
        copy_boxes::ENTRIES,
        device::ENTRIES,
        error::ENTRIES,
        event::ENTRIES,
        function::ENTRIES,
        host_memory::ENTRIES,
        launch::ENTRIES,
        legacy_context::ENTRIES,
        managed::ENTRIES,
        memcpy::ENTRIES,
        memory::ENTRIES,
        memset::ENTRIES,
        module::ENTRIES,
        occupancy::ENTRIES,
        pointer::ENTRIES,
        pool::ENTRIES,
        primary::ENTRIES,
        proc_address::ENTRIES,
        profiler::ENTRIES,
        stream::ENTRIES,
        stream_state::ENTRIES,
        version::ENTRIES,
        missing::ENTRIES,
    ]
    .into_iter()
    .flatten()
}
