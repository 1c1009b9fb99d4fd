//! A context with types: buffers that free themselves, launches whose arguments are checked at compile time.
//!
//! Everything here is sugar over [`Backend`]; a lab uses this, a new kind of device implements that.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use cuda_std::host::{DevicePtr, Kernel, KernelArgs};

use super::gpus::MODELLED;
use super::readings::Readings;
use super::{
    Backend, BackendKind, DeviceFacts, EventId, GpuError, LaunchId, LaunchReport, LaunchRequest, Loaded, StreamId,
    Watcher,
};
use crate::numbers::Time;

/// One context on one device, with the kernels loaded. Cloning gives another handle to the same context.
#[derive(Clone)]
pub struct Gpu {
    backend: Arc<dyn Backend>,
    readings: Readings,
}

/// Grid, block and dynamic shared memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
}

/// Device memory for `len` values of type `T`; freed when dropped.
pub struct DeviceBuffer<T> {
    address: u64,
    len: usize,
    backend: Arc<dyn Backend>,
    readings: Readings,
    values: PhantomData<T>,
}

impl LaunchShape {
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared_bytes: 0 }
    }

    /// Just enough blocks of `block` threads for `n` threads, one-dimensional.
    pub fn linear(n: u32, block: u32) -> Self {
        Self::new([n.div_ceil(block.max(1)), 1, 1], [block, 1, 1])
    }

    #[must_use]
    pub fn with_dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared_bytes = bytes;
        self
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&size| u64::from(size)).product()
    }

    /// Threads of a block.
    pub fn block_threads(&self) -> u64 {
        self.block.iter().map(|&size| u64::from(size)).product()
    }
}

impl Gpu {
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, readings: Readings::default() }
    }

    /// The same context, with everything that is read back noted in `readings`.
    #[must_use]
    pub fn noting(self, readings: &Readings) -> Self {
        Self { readings: readings.clone(), ..self }
    }

    pub fn kind(&self) -> BackendKind {
        self.backend.kind()
    }

    /// Whether its times are measured on hardware, not modelled.
    pub fn measures(&self) -> bool {
        self.kind() == BackendKind::Cuda && !self.device().name.ends_with(MODELLED)
    }

    /// `measured` or `modelled`: what a table says of the times in it.
    pub fn time_source(&self) -> &'static str {
        if self.measures() { "measured" } else { "modelled" }
    }

    pub fn device(&self) -> &DeviceFacts {
        self.backend.device()
    }

    /// Device memory with the values in it.
    pub fn upload<T: Pod>(&self, values: &[T]) -> Result<DeviceBuffer<T>, GpuError> {
        let buffer = self.allocate(values.len())?;
        self.backend.write(buffer.address, bytemuck::cast_slice(values))?;
        Ok(buffer)
    }

    /// Device memory for `len` values, all bytes zero.
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, GpuError> {
        let buffer = self.allocate(len)?;
        self.backend.fill_on(StreamId::DEFAULT, buffer.address, 0, buffer.bytes())?;
        Ok(buffer)
    }

    /// Device memory for `len` values that were never written. Who asks for it means to read it: checks take it for written.
    pub fn uninitialised<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, GpuError> {
        let buffer = self.allocate(len)?;
        self.backend.assume_written(buffer.address)?;
        Ok(buffer)
    }

    fn allocate<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, GpuError> {
        let bytes = (len * size_of::<T>()) as u64;
        let address = self.backend.alloc(bytes)?;
        let (backend, readings) = (Arc::clone(&self.backend), self.readings.clone());
        Ok(DeviceBuffer { address, len, backend, readings, values: PhantomData })
    }

    /// Queues a copy within the device: as many values as the shorter of the two buffers holds.
    pub fn copy<T: Pod>(&self, from: &DeviceBuffer<T>, to: &DeviceBuffer<T>) -> Result<(), GpuError> {
        let bytes = from.bytes().min(to.bytes());
        self.backend.copy_on(StreamId::DEFAULT, from.address, to.address, bytes)
    }

    /// Queues a launch on the default stream and returns at once. The compiler checks that `args` are the kernel's.
    ///
    /// # Errors
    /// [`GpuError::Refused`] for a shape that the device cannot run; [`GpuError::Poisoned`] after a fault.
    pub fn launch<A: KernelArgs>(
        &self,
        kernel: &Kernel<A>,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        args: A,
    ) -> Result<LaunchId, GpuError> {
        self.launch_shaped(kernel, LaunchShape::new(grid.into().0, block.into().0), args)
    }

    /// As [`Gpu::launch`], with dynamic shared memory.
    pub fn launch_shaped<A: KernelArgs>(
        &self,
        kernel: &Kernel<A>,
        shape: LaunchShape,
        args: A,
    ) -> Result<LaunchId, GpuError> {
        self.launch_on(StreamId::DEFAULT, kernel, shape, args)
    }

    /// As [`Gpu::launch_shaped`], on a stream.
    pub fn launch_on<A: KernelArgs>(
        &self,
        stream: StreamId,
        kernel: &Kernel<A>,
        shape: LaunchShape,
        args: A,
    ) -> Result<LaunchId, GpuError> {
        self.backend.launch(LaunchRequest { stream, ..LaunchRequest::new(kernel, shape, &args) })
    }

    /// Launches under the cycle model and waits: counters and time. `registers` as ptxas counts them decide how many blocks are
    /// resident; without them the PTX estimate does.
    pub fn profile<A: KernelArgs>(
        &self,
        kernel: &Kernel<A>,
        shape: LaunchShape,
        registers: Option<u32>,
        args: A,
    ) -> Result<LaunchReport, GpuError> {
        let launch = self.backend.launch(LaunchRequest::new(kernel, shape, &args).timed(registers))?;
        self.backend.report(launch)
    }

    /// Runs launches one after the other and waits; what became of each. Where times are sampled, the samples of all that want
    /// one are taken in turn, so that they can be compared: the memory that they share is afterwards as the last one left it.
    pub fn run_in_turn(&self, requests: Vec<LaunchRequest>) -> Result<Vec<LaunchReport>, GpuError> {
        let launches: Result<Vec<LaunchId>, GpuError> =
            requests.into_iter().map(|request| self.backend.launch(request)).collect();
        self.backend.reports(&launches?)
    }

    /// What a driver says of the launch's kernel and its residency; `None` on the machine.
    pub fn loaded(&self, request: &LaunchRequest) -> Result<Option<Loaded>, GpuError> {
        self.backend.loaded(request)
    }

    /// As [`Gpu::profile`], showing every issue to an observer.
    ///
    /// # Errors
    /// [`GpuError::Unwatched`] on anything but the machine.
    pub fn watch<A: KernelArgs>(
        &self,
        kernel: &Kernel<A>,
        shape: LaunchShape,
        registers: Option<u32>,
        args: A,
        observer: Box<Watcher>,
    ) -> Result<LaunchReport, GpuError> {
        let request = LaunchRequest::new(kernel, shape, &args).timed(registers);
        self.backend.report(self.backend.launch_watched(request, observer)?)
    }

    /// Waits for an earlier launch; what became of it. A report can be fetched once.
    pub fn report(&self, launch: LaunchId) -> Result<LaunchReport, GpuError> {
        self.backend.report(launch)
    }

    /// Waits until all work given so far is done.
    ///
    /// # Errors
    /// [`GpuError::Fault`] for the first fault of a kernel launched before, the first time it is seen here.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.backend.synchronize(None)
    }

    /// Whether all work given so far is done; does not wait.
    pub fn is_idle(&self) -> Result<bool, GpuError> {
        self.backend.is_idle()
    }

    pub fn create_stream(&self) -> Result<StreamId, GpuError> {
        self.backend.create_stream()
    }

    pub fn synchronize_stream(&self, stream: StreamId) -> Result<(), GpuError> {
        self.backend.synchronize(Some(stream))
    }

    pub fn create_event(&self) -> Result<EventId, GpuError> {
        self.backend.create_event()
    }

    pub fn record(&self, event: EventId, stream: StreamId) -> Result<(), GpuError> {
        self.backend.record_event(event, stream)
    }

    pub fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), GpuError> {
        self.backend.wait_event(stream, event)
    }

    /// Waits for both events; the time between them.
    pub fn elapsed(&self, start: EventId, end: EventId) -> Result<Time, GpuError> {
        self.backend.elapsed(start, end)
    }
}

/// A grid or block size, as CUDA's `dim3`: from a number, a pair or a triple; missing sizes are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from(sizes: [u32; 3]) -> Self {
        Self(sizes)
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// The pointer to pass to a kernel.
    pub fn ptr(&self) -> DevicePtr<T> {
        DevicePtr::from_address(self.address)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Copies the values back after all work given so far: a blocking copy, at which faults surface.
    pub fn download(&self) -> Result<Vec<T>, GpuError> {
        let mut values = vec![T::zeroed(); self.len];
        self.backend.read(self.address, bytemuck::cast_slice_mut(&mut values))?;
        self.readings.add(bytemuck::cast_slice(&values));
        Ok(values)
    }

    /// Overwrites the buffer's first values, after all work given so far.
    ///
    /// # Errors
    /// [`GpuError::TooLong`] if there are more values than the buffer holds.
    pub fn write(&self, values: &[T]) -> Result<(), GpuError> {
        if values.len() > self.len {
            return Err(GpuError::TooLong { given: values.len(), capacity: self.len });
        }
        self.backend.write(self.address, bytemuck::cast_slice(values))
    }
}

/// Freeing may fail in a poisoned context, where nothing is left to be freed.
impl<T> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        let _ = self.backend.free(self.address);
    }
}
