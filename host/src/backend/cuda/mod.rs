//! The backend `cuda`: kernels on a GPU, through `cust` and the CUDA driver.
//!
//! A context of its own for each [`Cuda`], with one module loaded from a cubin (so that the registers ptxas reported are the
//! registers that run) or from PTX. A launch that asks for a time runs once for its results and is then sampled: see [`sample`].
//! Handles of the driver belong to a context, not to a thread; every call makes the context current first.

mod clocks;
mod driver;
mod error;
mod gate;
mod handles;
mod library;
mod loaded;
mod sample;
mod trouble;

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cust::stream::{Stream, StreamFlags};
use cust::sys;
use warpwise_simt::device::Device;

use clocks::ClockWatch;
pub use driver::gpus;
use error::{DriverError, DriverResult, failed};
use gate::Gate;
use handles::{Context, Event, Module};
pub use library::{Driver, NoDriver};
use sample::Clock;

use super::{
    Backend, BackendKind, DeviceFacts, EventId, GpuError, KernelFault, LaunchId, LaunchReport, LaunchRequest, Loaded,
    StreamId,
};
use crate::backend::gpus::Image;
use crate::kernels::Code;
use crate::numbers::Time;

/// One context on one GPU.
pub struct Cuda {
    // Fields are dropped in this order: what lives in the context goes before it.
    state: Mutex<State>,
    module: Module,
    context: Context,
    facts: DeviceFacts,
    driver: Driver,
    l2_bytes: u64,
    clock_mhz: u32,
    gate: Gate,
    clocks: Option<ClockWatch>,
    from_cubin: bool,
}

// SAFETY: a CUDA context and what lives in it may be used from any thread that has made the context current (CUDA driver
// API, "Context Management"); `Cuda::enter` does so at the start of every call, and `state` serialises the calls.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

#[derive(Default)]
struct State {
    streams: HashMap<u32, Stream>,
    events: HashMap<u32, Event>,
    /// Bytes of each allocation, by address.
    allocations: BTreeMap<u64, u64>,
    /// Launches whose report nobody has asked for.
    launches: HashMap<u64, Launched>,
    next: u64,
    /// The kernel launched last: the one a fault is laid at, since the driver names none.
    last_kernel: String,
    fault: Option<Arc<KernelFault>>,
}

/// A launch that was accepted.
struct Launched {
    request: LaunchRequest,
    /// Around it, where its own time is the one that is wanted.
    clock: Option<Clock>,
}

impl Cuda {
    /// Opens GPU number `ordinal` and loads the code: `image` is what `code` was compiled to. `model` is the device whose limits
    /// launches are checked against, so that a refusal names limit and value, which the driver does not.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`]; [`GpuError::Unusable`] if there is no such GPU or the driver is too old for the code;
    /// [`GpuError::Load`] if it refuses it.
    pub fn open(ordinal: u32, model: &'static Device, code: Arc<Code>, image: &Image<'_>) -> Result<Self, GpuError> {
        let driver = library::load().map_err(|error| GpuError::NoDriver(error.to_string()))?;
        if let Image::Ptx(_) = image {
            driver::require(code.ptx_version())?;
        }
        let gate = Gate::new(model, code)?;
        let (device, facts) = driver::facts(ordinal, driver)?;
        let (l2_bytes, clock_mhz) = driver::cache_and_clock(device)?;
        let context = Context::new(device).map_err(|error| failed("creating a context", error))?;
        let module = Module::load(image).map_err(|error| error::load_failed(image, &facts, error))?;
        let clocks = match driver {
            Driver::Nvidia => ClockWatch::open(device),
            Driver::Warpwise => None,
        };
        let from_cubin = matches!(image, Image::Cubin(_));
        let state = Mutex::default();
        Ok(Self { state, module, context, facts, driver, l2_bytes, clock_mhz, gate, clocks, from_cubin })
    }

    /// Makes the context current in this thread.
    fn enter(&self) -> Result<MutexGuard<'_, State>, GpuError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.context.make_current().map_err(|error| failed("making the context current", error))?;
        Ok(state)
    }

    /// As [`Cuda::enter`], for calls that a poisoned context refuses.
    fn work(&self) -> Result<MutexGuard<'_, State>, GpuError> {
        let state = self.enter()?;
        match &state.fault {
            Some(fault) => Err(GpuError::Poisoned(Arc::clone(fault))),
            None => Ok(state),
        }
    }

    /// Sorts a driver's answer: a kernel's fault poisons the context, anything else is an error of the call.
    fn settle<T>(&self, state: &mut State, doing: &str, result: DriverResult<T>) -> Result<T, GpuError> {
        result.map_err(|error| match error::fault(error, &state.last_kernel) {
            Some(fault) => {
                let fault = Arc::new(fault);
                state.fault = Some(Arc::clone(&fault));
                GpuError::Fault(fault)
            }
            None => failed(doing, error),
        })
    }

    /// The kernel's handle. A context that is poisoned meanwhile says so here too: a driver loads kernels when they are asked for.
    fn function(&self, state: &mut State, kernel: &str) -> Result<sys::CUfunction, GpuError> {
        match self.module.function(kernel) {
            Err(DriverError::NOT_FOUND) => Err(error::no_kernel(kernel, DriverError::NOT_FOUND)),
            other => self.settle(state, "finding a kernel", other),
        }
    }

    fn stream(state: &State, stream: StreamId) -> Result<sys::CUstream, GpuError> {
        if stream == StreamId::DEFAULT {
            return Ok(std::ptr::null_mut());
        }
        let unknown = || GpuError::Memory(format!("stream {} is none of this context", stream.0));
        state.streams.get(&stream.0).map(Stream::as_inner).ok_or_else(unknown)
    }

    fn event(state: &State, event: EventId) -> Result<&Event, GpuError> {
        state.events.get(&event.0).ok_or(GpuError::NoTime("one of them is none of this context"))
    }

    /// Hands the launch to the driver, which copies the arguments before it returns.
    fn submit(&self, state: &mut State, request: &LaunchRequest) -> Result<DriverResult<()>, GpuError> {
        const END: *mut c_void = std::ptr::null_mut();
        let function = self.function(state, &request.kernel)?;
        let stream = Self::stream(state, request.stream)?;
        let mut params = request.params.clone();
        let mut bytes = params.len();
        // CU_LAUNCH_PARAM_BUFFER_POINTER is 1, CU_LAUNCH_PARAM_BUFFER_SIZE 2 (cuda.h).
        let (pointer, size) = (std::ptr::without_provenance_mut(1), std::ptr::without_provenance_mut(2));
        let mut extra = [pointer, params.as_mut_ptr().cast(), size, (&raw mut bytes).cast(), END];
        let ([gx, gy, gz], [bx, by, bz]) = (request.grid, request.block);
        // SAFETY: the function is of this context's module; `extra` is the list of a packed parameter buffer, whose layout
        // `KernelArgs::pack` gives, and outlives the call.
        let code = unsafe {
            let shared = request.dynamic_shared_bytes;
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, END.cast(), extra.as_mut_ptr())
        };
        Ok(error::result(code))
    }
}

impl Backend for Cuda {
    fn kind(&self) -> BackendKind {
        BackendKind::Cuda
    }

    fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    fn alloc(&self, bytes: u64) -> Result<u64, GpuError> {
        let mut state = self.work()?;
        let mut address = 0;
        let length = usize::try_from(bytes.max(1)).map_err(|_| error::no_memory(bytes))?;
        // SAFETY: `address` is a place for one device pointer.
        match error::result(unsafe { sys::cuMemAlloc_v2(&raw mut address, length) }) {
            Err(DriverError::OUT_OF_MEMORY) => Err(error::no_memory(bytes)),
            other => {
                self.settle(&mut state, "allocating device memory", other)?;
                state.allocations.insert(address, bytes);
                Ok(address)
            }
        }
    }

    fn free(&self, address: u64) -> Result<(), GpuError> {
        let mut state = self.enter()?;
        if state.allocations.remove(&address).is_none() {
            return Err(GpuError::Memory(format!("{address:#x} is the start of no allocation; it cannot be freed")));
        }
        // SAFETY: the address came from `alloc` and was not freed since. The driver waits for work that uses it.
        let result = error::result(unsafe { sys::cuMemFree_v2(address) });
        self.settle(&mut state, "freeing device memory", result)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), GpuError> {
        let mut state = self.work()?;
        self.wait(&mut state)?;
        // SAFETY: the source is a slice of that length; a bad destination is the driver's to refuse.
        let code = unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) };
        self.settle(&mut state, "copying to the device", error::result(code))
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), GpuError> {
        let mut state = self.work()?;
        self.wait(&mut state)?;
        // SAFETY: the destination is a slice of that length; a bad source is the driver's to refuse.
        let code = unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len()) };
        self.settle(&mut state, "copying from the device", error::result(code))
    }

    fn write_on(&self, stream: StreamId, address: u64, bytes: Vec<u8>) -> Result<(), GpuError> {
        let mut state = self.work()?;
        let stream = Self::stream(&state, stream)?;
        // SAFETY: pageable memory is staged before the call returns, so the vector may go after it.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(address, bytes.as_ptr().cast(), bytes.len(), stream) };
        self.settle(&mut state, "copying to the device", error::result(code))
    }

    fn copy_on(&self, stream: StreamId, from: u64, to: u64, bytes: u64) -> Result<(), GpuError> {
        let mut state = self.work()?;
        let stream = Self::stream(&state, stream)?;
        // SAFETY: only device memory is touched; bad addresses are the driver's to refuse.
        let code = unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, driver::length(bytes)?, stream) };
        self.settle(&mut state, "copying on the device", error::result(code))
    }

    fn fill_on(&self, stream: StreamId, address: u64, byte: u8, bytes: u64) -> Result<(), GpuError> {
        let mut state = self.work()?;
        let stream = Self::stream(&state, stream)?;
        // SAFETY: as above.
        let code = unsafe { sys::cuMemsetD8Async(address, byte, driver::length(bytes)?, stream) };
        self.settle(&mut state, "filling device memory", error::result(code))
    }

    fn create_stream(&self) -> Result<StreamId, GpuError> {
        let mut state = self.work()?;
        let created = Stream::new(StreamFlags::DEFAULT, None).map_err(DriverError::from);
        let stream = self.settle(&mut state, "creating a stream", created)?;
        let id = StreamId(u32::try_from(state.streams.len()).unwrap_or(u32::MAX - 1) + 1);
        state.streams.insert(id.0, stream);
        Ok(id)
    }

    fn synchronize(&self, stream: Option<StreamId>) -> Result<(), GpuError> {
        let mut state = self.work()?;
        match stream {
            None => self.wait(&mut state),
            Some(stream) => {
                let stream = Self::stream(&state, stream)?;
                // SAFETY: the stream is of this context.
                let result = error::result(unsafe { sys::cuStreamSynchronize(stream) });
                self.settle(&mut state, "waiting for a stream", result)
            }
        }
    }

    fn is_idle(&self) -> Result<bool, GpuError> {
        let mut state = self.work()?;
        let query = state.streams.values().map(Stream::as_inner).chain([std::ptr::null_mut()]).try_for_each(|stream| {
            // SAFETY: the streams are of this context; null is the default one.
            error::result(unsafe { sys::cuStreamQuery(stream) })
        });
        match query {
            Err(DriverError::NOT_READY) => Ok(false),
            other => self.settle(&mut state, "asking whether the device is idle", other).map(|()| true),
        }
    }

    fn create_event(&self) -> Result<EventId, GpuError> {
        let mut state = self.work()?;
        let event = self.settle(&mut state, "creating an event", Event::new())?;
        let id = EventId(u32::try_from(state.events.len()).unwrap_or(u32::MAX));
        state.events.insert(id.0, event);
        Ok(id)
    }

    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), GpuError> {
        let mut state = self.work()?;
        let stream = Self::stream(&state, stream)?;
        let result = Self::event(&state, event)?.record(stream);
        self.settle(&mut state, "recording an event", result)
    }

    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), GpuError> {
        let mut state = self.work()?;
        let stream = Self::stream(&state, stream)?;
        let result = Self::event(&state, event)?.hold(stream);
        self.settle(&mut state, "making a stream wait", result)
    }

    fn elapsed(&self, start: EventId, end: EventId) -> Result<Time, GpuError> {
        let mut state = self.work()?;
        self.wait(&mut state)?;
        match Self::event(&state, end)?.us_since(Self::event(&state, start)?) {
            Ok(us) => Ok(sample::time(self.driver, &self.facts, self.clock_mhz, &mut [us])),
            Err(DriverError::INVALID_HANDLE) => Err(GpuError::NoTime("one of them was never recorded")),
            Err(error) => Err(failed("reading the time between two events", error)),
        }
    }

    fn launch(&self, request: LaunchRequest) -> Result<LaunchId, GpuError> {
        let mut state = self.work()?;
        self.gate.knows(&request.kernel)?;
        let function = self.function(&mut state, &request.kernel)?;
        self.gate.admit(&request, self.registers_of(&mut state, function)?)?;
        let clock = self.start_clock(&mut state, &request)?;
        let submitted = self.submit(&mut state, &request)?;
        if let Err(error) = submitted
            && error::fault(error, &request.kernel).is_none()
        {
            return Err(GpuError::Refused { kernel: request.kernel, reason: error.to_string() });
        }
        self.settle(&mut state, "launching", submitted)?;
        state.last_kernel.clone_from(&request.kernel);
        self.stop_clock(&mut state, &request, clock.as_ref())?;
        let id = state.next;
        state.next += 1;
        state.launches.insert(id, Launched { request, clock });
        Ok(LaunchId(id))
    }

    fn loaded(&self, request: &LaunchRequest) -> Result<Option<Loaded>, GpuError> {
        let mut state = self.work()?;
        self.loaded_of(&mut state, request).map(Some)
    }

    fn report(&self, launch: LaunchId) -> Result<LaunchReport, GpuError> {
        let mut reports = self.reports(&[launch])?;
        reports.pop().ok_or(GpuError::NoReport)
    }

    fn reports(&self, launches: &[LaunchId]) -> Result<Vec<LaunchReport>, GpuError> {
        let mut state = self.work()?;
        let mut take = |launch: &LaunchId| state.launches.remove(&launch.0).ok_or(GpuError::NoReport);
        let launched = launches.iter().map(&mut take).collect::<Result<Vec<_>, _>>()?;
        self.wait(&mut state)?;
        let timed: Vec<&Launched> = launched.iter().filter(|launched| launched.request.timed).collect();
        let mut times = self.times(&mut state, &timed)?.into_iter();
        let report = |launched: &Launched| {
            let times = if launched.request.timed { times.next().into_iter().collect() } else { Vec::new() };
            LaunchReport { counters: None, times, timing: None }
        };
        Ok(launched.iter().map(report).collect())
    }
}

impl Cuda {
    /// Waits for all work of the context.
    fn wait(&self, state: &mut State) -> Result<(), GpuError> {
        self.settle(state, "waiting for the device", handles::synchronize())
    }
}

/// Streams, events and the module are destroyed by their own destructors, in a thread that has the context.
impl Drop for Cuda {
    fn drop(&mut self) {
        let _ = self.context.make_current();
    }
}
