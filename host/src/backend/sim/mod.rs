//! The backend `sim`: the SIMT machine behind CUDA's contract.
//!
//! The machine is synchronous and belongs to a thread of its own ([`worker`]); callers put jobs into its queue. A launch is checked
//! on the caller's side, where a bad shape is refused at once, and then queued; so it returns while the kernel runs. The queue
//! runs in the order it was filled, which is one of the orders that streams permit.

mod timeline;
mod worker;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use warpwise_simt::device::Device;
use warpwise_simt::isa::Isa;
use warpwise_simt::machine::{self, Kernel, Launch, Machine};
use warpwise_simt::memory::MemoryError;

pub use self::worker::described;
use self::worker::{Sticky, Worker, memory};
use super::{
    Backend, BackendKind, DeviceFacts, EventId, GpuError, LaunchId, LaunchReport, LaunchRequest, MachineOptions,
    StreamId, Watcher,
};
use crate::kernels::{Code, CodeError, Executed, NothingToExecute, Sass, executed};
use crate::numbers::Time;

type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// One context of the machine.
pub struct Sim {
    device: &'static Device,
    facts: DeviceFacts,
    code: Arc<Code>,
    sass: Option<Arc<Sass>>,
    options: MachineOptions,
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    sticky: Sticky,
    /// By name, what is run, and the PTX that is checked before it where the two differ.
    kernels: Mutex<HashMap<String, (Kernel, Option<Kernel>)>>,
    /// Work of the device that is queued and not yet done.
    pending: Arc<AtomicU64>,
    launches: AtomicU64,
    streams: AtomicU32,
    events: AtomicU32,
}

impl Sim {
    /// A machine with the module's variables loaded.
    ///
    /// # Errors
    /// [`GpuError::Load`] if the variables do not fit the device.
    pub fn new(device: &'static Device, code: Arc<Code>, options: MachineOptions) -> Result<Self, GpuError> {
        let mut machine = Machine::new(device);
        machine.set_checks(options.checks);
        if let Some(threads) = options.threads {
            machine.system_mut().set_threads(threads.get());
        }
        let module = machine.load(code.variables()).map_err(|error| GpuError::Load(error.to_string()))?;
        let sticky = Sticky::default();
        let mut worker = Worker::new(device, machine, module, sticky.clone());
        let (queue, jobs) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new()
            .name(format!("machine {}", device.name))
            .spawn(move || jobs.into_iter().for_each(|job| job(&mut worker)))
            .map_err(|error| GpuError::Load(format!("cannot start the machine's thread: {error}")))?;
        Ok(Self {
            device,
            facts: DeviceFacts {
                name: device.name.clone(),
                arch: device.arch(),
                sm_count: device.sm_count,
                limits: &device.limits,
            },
            code,
            sass: None,
            options,
            queue: Some(queue),
            thread: Some(thread),
            sticky,
            kernels: Mutex::default(),
            pending: Arc::default(),
            launches: AtomicU64::new(0),
            streams: AtomicU32::new(StreamId::DEFAULT.0 + 1),
            events: AtomicU32::new(0),
        })
    }

    /// With what ptxas made of the kernels, to be run in place of the PTX as the options say.
    #[must_use]
    pub fn with_sass(mut self, sass: Arc<Sass>) -> Self {
        self.sass = Some(sass);
        self
    }

    /// Queues work and does not wait.
    fn send(&self, job: impl FnOnce(&mut Worker) + Send + 'static) -> Result<(), GpuError> {
        let queue = self.queue.as_ref().ok_or(GpuError::Stopped)?;
        queue.send(Box::new(job)).map_err(|_| GpuError::Stopped)
    }

    /// As [`Sim::send`], for work of the device: [`Backend::is_idle`] is false until it is done.
    fn send_work(&self, work: impl FnOnce(&mut Worker) + Send + 'static) -> Result<(), GpuError> {
        let pending = Arc::clone(&self.pending);
        pending.fetch_add(1, Ordering::Relaxed);
        self.send(move |worker| {
            work(worker);
            pending.fetch_sub(1, Ordering::Release);
        })
    }

    /// Queues work that copies or fills, unless a fault came before it.
    fn enqueue(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<(), MemoryError> + Send + 'static,
    ) -> Result<(), GpuError> {
        self.sticky.check()?;
        let sticky = self.sticky.clone();
        self.send_work(move |worker| {
            if !sticky.is_set()
                && let Err(error) = work(worker)
            {
                sticky.set_memory(&error);
            }
        })
    }

    /// Has the worker do something after all earlier work, and waits for its answer.
    fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Worker) -> T + Send + 'static) -> Result<T, GpuError> {
        let (answer, wait) = mpsc::sync_channel(1);
        self.send(move |worker| {
            // The caller waits below; if it is gone, nobody needs the answer.
            let _ = answer.send(job(worker));
        })?;
        wait.recv().map_err(|_| GpuError::Stopped)
    }

    /// As [`Sim::ask`] for work on memory: a fault before it comes first.
    fn ask_memory<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Worker) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, GpuError> {
        let sticky = self.sticky.clone();
        self.ask(move |worker| {
            sticky.check()?;
            job(worker).map_err(memory)
        })?
    }

    /// The kernel, made ready at its first launch. That waits for the queue, as CUDA's lazy loading may.
    fn kernel(&self, name: &str) -> Result<(Kernel, Option<Kernel>), GpuError> {
        if let Some(kernel) = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(kernel.clone());
        }
        let found = executed(&self.code, self.sass.as_deref(), self.options, name);
        let Executed { program, instead_of_sass } = found.map_err(|error| match error {
            NothingToExecute::Code(CodeError::Unknown(unknown)) => GpuError::UnknownKernel(unknown),
            error => GpuError::Load(error.to_string()),
        })?;
        if let Some(reason) = instead_of_sass {
            eprintln!("warpwise: {reason}\nthe machine runs its PTX instead");
        }
        let checked = match self.options.checks.any() && program.isa == Isa::Sass {
            true => Some(self.code.program(name).map_err(|error| GpuError::Load(error.to_string()))?),
            false => None,
        };
        let kernel = self.ask(move |worker| {
            let checked = checked.map(|ptx| worker.prepare(&ptx)).transpose()?;
            Ok::<_, GpuError>((worker.prepare(&program)?, checked))
        })??;
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kernels.entry(name.to_owned()).or_insert(kernel).clone())
    }

    fn machine_launch(&self, request: &LaunchRequest) -> Launch {
        Launch {
            dynamic_shared_bytes: request.dynamic_shared_bytes,
            registers: request.registers.map(Into::into),
            mode: if request.timed { machine::Mode::Timed } else { machine::Mode::Functional },
            divergence: self.options.divergence,
            block_order: self.options.block_order,
            ..Launch::new(request.grid, request.block, request.params.clone())
        }
    }
}

impl Sim {
    /// Checks a launch and queues it.
    fn start(&self, request: LaunchRequest, mut observer: Option<Box<Watcher>>) -> Result<LaunchId, GpuError> {
        self.sticky.check()?;
        let (kernel, ptx) = self.kernel(&request.kernel)?;
        let launch = self.machine_launch(&request);
        machine::admit(self.device, &kernel, &launch)
            .map_err(|refused| GpuError::Refused { kernel: request.kernel, reason: refused.to_string() })?;
        let id = LaunchId(self.launches.fetch_add(1, Ordering::Relaxed));
        self.send_work(move |worker| {
            worker.launch(id, request.stream, (&kernel, ptx.as_ref()), &launch, observer.as_deref_mut());
        })?;
        Ok(id)
    }
}

impl Backend for Sim {
    fn kind(&self) -> BackendKind {
        BackendKind::Sim
    }

    fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    fn alloc(&self, bytes: u64) -> Result<u64, GpuError> {
        self.ask_memory(move |worker| worker.machine.alloc(bytes))
    }

    fn free(&self, address: u64) -> Result<(), GpuError> {
        self.ask_memory(move |worker| worker.machine.free(address))
    }

    fn assume_written(&self, address: u64) -> Result<(), GpuError> {
        self.ask(move |worker| worker.machine.assume_written(address))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), GpuError> {
        let bytes = bytes.to_vec();
        self.ask_memory(move |worker| worker.machine.write(address, &bytes))
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), GpuError> {
        let len = bytes.len();
        let read = self.ask_memory(move |worker| {
            let mut copy = vec![0; len];
            worker.machine.read(address, &mut copy).map(|()| copy)
        })?;
        bytes.copy_from_slice(&read);
        Ok(())
    }

    fn write_on(&self, _stream: StreamId, address: u64, bytes: Vec<u8>) -> Result<(), GpuError> {
        self.enqueue(move |worker| worker.machine.write(address, &bytes))
    }

    fn copy_on(&self, _stream: StreamId, from: u64, to: u64, bytes: u64) -> Result<(), GpuError> {
        self.enqueue(move |worker| worker.machine.copy(to, from, bytes))
    }

    fn fill_on(&self, _stream: StreamId, address: u64, byte: u8, bytes: u64) -> Result<(), GpuError> {
        self.enqueue(move |worker| worker.machine.fill(address, bytes, byte))
    }

    fn create_stream(&self) -> Result<StreamId, GpuError> {
        self.sticky.check()?;
        Ok(StreamId(self.streams.fetch_add(1, Ordering::Relaxed)))
    }

    /// The queue is one, so waiting for a stream is waiting for all.
    fn synchronize(&self, _stream: Option<StreamId>) -> Result<(), GpuError> {
        self.ask_memory(|_| Ok(()))
    }

    fn is_idle(&self) -> Result<bool, GpuError> {
        let idle = self.pending.load(Ordering::Acquire) == 0;
        if idle {
            self.sticky.check()?;
        }
        Ok(idle)
    }

    fn create_event(&self) -> Result<EventId, GpuError> {
        self.sticky.check()?;
        Ok(EventId(self.events.fetch_add(1, Ordering::Relaxed)))
    }

    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), GpuError> {
        self.sticky.check()?;
        self.send(move |worker| worker.record(event, stream))
    }

    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), GpuError> {
        self.sticky.check()?;
        self.send(move |worker| worker.wait(stream, event))
    }

    fn elapsed(&self, start: EventId, end: EventId) -> Result<Time, GpuError> {
        self.synchronize(None)?;
        self.ask(move |worker| worker.elapsed(start, end))?
    }

    fn launch(&self, request: LaunchRequest) -> Result<LaunchId, GpuError> {
        self.start(request, None)
    }

    fn launch_watched(&self, request: LaunchRequest, observer: Box<Watcher>) -> Result<LaunchId, GpuError> {
        self.start(LaunchRequest { timed: true, ..request }, Some(observer))
    }

    fn report(&self, launch: LaunchId) -> Result<LaunchReport, GpuError> {
        self.ask(move |worker| worker.take_report(launch))?
    }
}

/// Closes the queue and lets the worker finish what is in it.
impl Drop for Sim {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The worker ends when the queue is empty. That it panicked was said when it did.
            let _ = thread.join();
        }
    }
}
