//! The cycle model: how long a launch takes, and what on.
//!
//! The same executor that computes results is driven instruction by instruction: an instruction executes when it issues, and issues
//! when its operands, its pipe and its scheduler allow. One that touches only registers of its warp may execute sooner, with the one
//! before it: nobody can tell, but that counters of a launch that faults hold what was executed and not issued yet.
//!
//! When operands are there SASS says itself (`control`): stall counts for fixed latencies, dependence counters for the others. PTX says nothing, so a scoreboard stands in. Each SM runs on its own for a quantum no longer than the way to L2, seeing its
//! own stores at once; at the boundary the stores, atomics and requests of all SMs take effect ordered by cycle, SM, sequence. So one
//! thread and two give the same result to the cycle.
//!
//! [`System`] is what outlives a launch (the contents of L2), [`Timing`] what a launch leaves. Of the parts, `sm` simulates one SM,
//! `boundary` and `conductor` what lies between SMs, [`memory`] the hierarchy behind them, [`reorder`](mod@reorder) puts PTX in the
//! order that ptxas might choose. Every number comes from [`crate::device::Parameters`], which says where it is from.
//!
//! What the model leaves out: row buffers and refresh of memory, address translation, clocks other than the boost clock. From PTX it
//! cannot know spills, unrolling by ptxas, the uniform datapath, instruction fetch or register-file ports; from SASS it knows them.

mod boundary;
mod class;
mod code;
mod conductor;
mod config;
mod control;
mod extent;
pub mod memory;
mod operands;
mod ports;
mod reorder;
mod report;
mod run;
mod sampling;
mod skip;
mod sm;
mod stall;
mod system;
mod trace;

pub use reorder::{Reordered, reorder};
pub use report::{Placement, Schedulers, Timing, Traffic};
pub use sampling::Sampled;
pub use stall::{Stall, StallCycles};
pub(crate) use system::Request;
pub use system::System;
pub use trace::{Completed, Issued, Observer, Waited};
