//! Warpwise as a CUDA driver: a `libcuda.so.1` whose device is the SIMT machine.
//!
//! Programs of the driver API (those on `cust` and `cudarc` among them) run on it unchanged, with the machine's checks: a fault
//! is said on stderr with source line, block, thread and address, and the API answers what NVIDIA's driver would. Device names end in
//! "(modelled)" and times are modelled. [`settings`] lists the variables by which it is set up.
//!
//! The idea: C's pointers and handles end at the exported functions ([`api`]), which are safe code over typed pointers
//! ([`abi`]) and registries of objects ([`registry`]). Behind them is one object ([`driver`]) with one machine and one queue
//! ([`engine`]). What the driver lacks is exported, too, and says so ([`api::missing`]).
//!
//! Left to others: executing PTX, checking it and modelling its time (`warpwise-simt`).

mod abi;
mod api;
mod attributes;
mod code;
mod context;
mod driver;
mod engine;
mod fault;
mod function;
mod guard;
mod image;
mod jit;
mod launch;
mod module;
mod notice;
mod pool;
mod regions;
mod registry;
mod settings;
mod stream;
mod timeline;
mod transfer;
