//! The driver through its C interface, as programs meet it: loaded as a library, called by name.
//!
//! Nothing here is particular to Warpwise unless a test says so: with `WARPWISE_TEST_LIBCUDA=/path/to/libcuda.so.1` the same tests run
//! against NVIDIA's driver on a GPU, which is where the expected answers come from.

mod contexts;
mod copies;
mod devices;
mod environment;
mod events;
mod exports;
mod faults;
mod functions;
mod handles;
mod kernels;
mod launches;
mod library;
mod memory;
mod modules;
mod streams;
