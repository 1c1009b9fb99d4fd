//! Handles of the driver that free themselves: contexts, modules, events, scratch memory.
//!
//! `cust` keeps the raw handles of its own to itself, which packed launches, waits and times across streams need, and gives back the
//! errors it knows: any other, such as that PTX is too new (222) or a GPU is lost (46), it calls unknown (999).

use std::ffi::CString;

use cust::device::Device;
use cust::sys;

use super::error::{DriverError, DriverResult, no_memory, result};
use super::{GpuError, driver};
use crate::backend::gpus::Image;

/// Starts the driver; it may be started again.
pub fn start() -> DriverResult<()> {
    // SAFETY: no flags are defined.
    result(unsafe { sys::cuInit(0) })
}

/// Waits for all work of the context that is current.
pub fn synchronize() -> DriverResult<()> {
    // SAFETY: it takes nothing; without a context the driver refuses.
    result(unsafe { sys::cuCtxSynchronize() })
}

/// A context on a device. Drop it after all that lives in it.
pub struct Context(sys::CUcontext);

impl Context {
    /// A new one, current in this thread.
    pub fn new(device: Device) -> DriverResult<Self> {
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` is a place for one handle, the device is one that the driver listed; flags 0 let it choose how to wait.
        result(unsafe { sys::cuCtxCreate_v2(&raw mut context, 0, device.as_raw()) })?;
        Ok(Self(context))
    }

    /// Makes it current in this thread.
    pub fn make_current(&self) -> DriverResult<()> {
        // SAFETY: the context is alive.
        result(unsafe { sys::cuCtxSetCurrent(self.0) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from `new` and is destroyed once. A driver that fails here has nothing left to free.
        let _ = result(unsafe { sys::cuCtxDestroy_v2(self.0) });
    }
}

/// Code loaded into the context that is current. Drop it with that context current.
pub struct Module(sys::CUmodule);

impl Module {
    pub fn load(image: &Image<'_>) -> DriverResult<Self> {
        match image {
            Image::Cubin(bytes) => Self::load_from(bytes.as_ptr()),
            // Text with a zero in it is no PTX.
            Image::Ptx(text) => match CString::new(*text) {
                Ok(text) => Self::load_from(text.as_ptr().cast()),
                Err(_) => Err(DriverError::INVALID_IMAGE),
            },
        }
    }

    fn load_from(image: *const u8) -> DriverResult<Self> {
        const NONE: *mut std::ffi::c_void = std::ptr::null_mut();
        let mut module = std::ptr::null_mut();
        // SAFETY: `module` is a place for one handle; the image is a cubin, which tells its length, or text that ends in zero; no
        // options are given.
        result(unsafe { sys::cuModuleLoadDataEx(&raw mut module, image.cast(), 0, NONE.cast(), NONE.cast()) })?;
        Ok(Self(module))
    }

    /// A kernel by its name.
    pub fn function(&self, name: &str) -> DriverResult<sys::CUfunction> {
        let name = CString::new(name).map_err(|_| DriverError::NOT_FOUND)?;
        let mut function = std::ptr::null_mut();
        // SAFETY: `function` is a place for one handle, the module is alive, the name ends in zero.
        result(unsafe { sys::cuModuleGetFunction(&raw mut function, self.0, name.as_ptr()) })?;
        Ok(function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module came from `load` and is unloaded once.
        let _ = result(unsafe { sys::cuModuleUnload(self.0) });
    }
}

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
