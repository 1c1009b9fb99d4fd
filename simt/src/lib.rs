//! A SIMT machine: executes GPU code warp by warp on the CPU, checks it, counts what it does and times it with a model.
//!
//! The crate takes bytes and text and starts no process. Front ends ([`ptx`]) lower code to the inner form ([`isa`]);
//! [`exec`] executes the inner form one warp instruction at a time; [`timing`] drives the same execution through a
//! cycle model of SMs, caches and DRAM; [`machine`] is the door: allocate, copy, launch, synchronise.
//! Nothing a kernel does makes this crate panic: a kernel's fault is a value ([`fault::Fault`]).

pub mod checks;
pub mod counters;
pub mod device;
pub mod exec;
pub mod fault;
pub mod golden;
pub mod isa;
pub mod machine;
pub mod memory;
pub mod occupancy;
pub mod ptx;
pub mod rewrite;
pub mod sass;
pub mod timing;
pub mod uniformity;
