//! The machine's counters beside the hardware's: what is launched, what is compared, and what must be equal.
//!
//! Each kernel has one launch ([`cases`]) that runs on either backend from one line of data. The machine counts it here; the
//! hardware counts it under `ncu`, which starts this program again. [`compare`] holds the two against each other, metric by
//! metric, as the table in [`metrics`] says.

pub mod cases;
pub mod compare;
mod launch;
pub mod metrics;

pub use cases::{CASES, Case, WRONG_ON_PURPOSE};
pub use compare::{Comparison, Verdict, compare};
pub use launch::{Counted, Prepared, contents, count, prepare, run, run_cold};
