//! Marks for profilers, of which there is none: they are taken and change nothing.

use std::ffi::{c_int, c_uint};

use crate::abi::Text;
use crate::code::Code;
use crate::context;
use crate::driver::Driver;
use crate::guard::api;

api! {
    fn cuProfilerStart() {
        Driver::get()?;
        context::current().map(|_| ())
    }

    fn cuProfilerStop() {
        Driver::get()?;
        context::current().map(|_| ())
    }

    /// Not there on any device of these times.
    fn cuProfilerInitialize(_config: Text, _output: Text, _mode: c_int) {
        Driver::get()?;
        Err(Code::NOT_SUPPORTED)
    }

    fn cuFlushGPUDirectRDMAWrites(_target: c_uint, _scope: c_uint) {
        Driver::get()?;
        Err(Code::NOT_SUPPORTED)
    }
}
