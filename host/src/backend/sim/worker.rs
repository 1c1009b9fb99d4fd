//! The thread that owns the machine and does what the queue says, in order.
//!
//! A fault makes the rest of the queue do nothing; it is kept for whoever asks next. Nothing here waits for the caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpwise_simt::device::Device;
use warpwise_simt::fault::Fault;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Kernel, Launch, LaunchRefused, Machine, ModuleId, Report};
use warpwise_simt::memory::MemoryError;

use super::timeline::{Stamp, Timeline};
use crate::backend::{
    CounterSet, EventId, GpuError, KernelFault, LaunchId, LaunchReport, OtherThread, StreamId, Watcher,
};
use crate::numbers::Time;

/// The first fault of a context, shared between the worker and its callers.
#[derive(Clone, Debug, Default)]
pub struct Sticky(Arc<Mutex<Option<First>>>);

#[derive(Debug)]
struct First {
    fault: Arc<KernelFault>,
    /// Whether a caller has been told.
    told: bool,
}

impl Sticky {
    fn set(&self, fault: KernelFault) {
        self.lock().get_or_insert(First { fault: Arc::new(fault), told: false });
    }

    /// Queued work on memory went wrong, which no caller waits for.
    pub fn set_memory(&self, error: &MemoryError) {
        self.set(KernelFault { kind: "memory".to_owned(), message: error.to_string(), ..KernelFault::default() });
    }

    pub fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    /// The fault as an error: the first caller sees [`GpuError::Fault`], later ones [`GpuError::Poisoned`].
    pub fn check(&self) -> Result<(), GpuError> {
        let mut state = self.lock();
        let Some(first) = state.as_mut() else {
            return Ok(());
        };
        let fault = Arc::clone(&first.fault);
        match std::mem::replace(&mut first.told, true) {
            true => Err(GpuError::Poisoned(fault)),
            false => Err(GpuError::Fault(fault)),
        }
    }

    /// A thread that panicked with the lock held left the state whole: it is written in one step.
    fn lock(&self) -> MutexGuard<'_, Option<First>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the worker's thread owns.
pub struct Worker {
    pub machine: Machine,
    device: &'static Device,
    module: ModuleId,
    sticky: Sticky,
    timeline: Timeline,
    events: HashMap<EventId, Stamp>,
    reports: HashMap<LaunchId, LaunchReport>,
}

impl Worker {
    pub fn new(device: &'static Device, machine: Machine, module: ModuleId, sticky: Sticky) -> Self {
        Self {
            machine,
            device,
            module,
            sticky,
            timeline: Timeline::default(),
            events: HashMap::new(),
            reports: HashMap::new(),
        }
    }

    pub fn prepare(&mut self, program: &Program) -> Result<Kernel, GpuError> {
        self.machine.prepare(self.module, program).map_err(|error| GpuError::Load(error.to_string()))
    }

    /// Runs a launch; `ptx` is the same kernel's, to be checked before, where the kernel is SASS and checks were asked for.
    pub fn launch(
        &mut self,
        id: LaunchId,
        stream: StreamId,
        (kernel, ptx): (&Kernel, Option<&Kernel>),
        launch: &Launch,
        observer: Option<&mut Watcher>,
    ) {
        if self.sticky.is_set() {
            return;
        }
        let checked = match ptx {
            Some(ptx) => self.machine.rehearse(ptx, launch).map(|report| report.fault.is_some().then_some(report)),
            None => Ok(None),
        };
        let outcome = match (checked, observer) {
            (Ok(Some(faulted)), _) => Ok(faulted),
            (Err(refused), _) => Err(refused),
            (_, Some(observer)) => self.machine.launch_traced(kernel, launch, observer),
            (_, None) => self.machine.launch(kernel, launch),
        };
        match outcome {
            Ok(report) => self.keep(id, stream, report),
            // The caller checked the launch before it queued it, so this is a difference between the two checks.
            Err(refused) => self.sticky.set(refused_late(&refused)),
        }
    }

    fn keep(&mut self, id: LaunchId, stream: StreamId, report: Report) {
        let time = report.timing.as_ref().map(|timing| Time::Modelled {
            cycles: timing.cycles,
            us: timing.us,
            isa: report.isa,
            device: self.device.name.clone(),
            validated: self.device.validated,
            sampled: timing.sampled,
        });
        self.timeline.advance(stream, time.as_ref().map(Time::us));
        let counters = CounterSet::of_report(&report);
        if let Some(fault) = &report.fault {
            self.sticky.set(described(fault));
        }
        let times = time.into_iter().collect();
        self.reports.insert(id, LaunchReport { counters: Some(counters), times, timing: report.timing });
    }

    pub fn take_report(&mut self, id: LaunchId) -> Result<LaunchReport, GpuError> {
        self.sticky.check()?;
        self.reports.remove(&id).ok_or(GpuError::NoReport)
    }

    pub fn record(&mut self, event: EventId, stream: StreamId) {
        self.events.insert(event, self.timeline.now(stream));
    }

    /// A wait for an event that was never recorded is no wait, as in CUDA.
    pub fn wait(&mut self, stream: StreamId, event: EventId) {
        if let Some(stamp) = self.events.get(&event) {
            self.timeline.wait(stream, *stamp);
        }
    }

    pub fn elapsed(&self, start: EventId, end: EventId) -> Result<Time, GpuError> {
        let (Some(start), Some(end)) = (self.events.get(&start), self.events.get(&end)) else {
            return Err(GpuError::NoTime("one of them was never recorded"));
        };
        if start.untimed != end.untimed {
            return Err(GpuError::NoTime("a launch between them ran without the cycle model"));
        }
        let us = end.us - start.us;
        Ok(Time::Modelled {
            cycles: (us * f64::from(self.device.boost_clock_mhz)).round() as u64,
            us,
            isa: warpwise_simt::isa::Isa::Ptx,
            device: self.device.name.clone(),
            validated: self.device.validated,
            sampled: None,
        })
    }
}

/// The machine's fault in the words that every backend uses.
pub fn described(fault: &Fault) -> KernelFault {
    KernelFault {
        kind: fault.kind.name().to_owned(),
        message: fault.to_string(),
        kernel: fault.kernel.clone(),
        file: fault.file.as_deref().map(str::to_owned),
        line: fault.line,
        block: Some(fault.block),
        thread: Some(fault.thread),
        address: fault.address,
        allocation: fault.allocation.clone(),
        other: fault.other.as_deref().map(|other| OtherThread {
            doing: other.doing.to_owned(),
            file: other.file.as_deref().map(str::to_owned),
            line: other.line,
            block: other.block,
            thread: other.thread,
        }),
    }
}

fn refused_late(refused: &LaunchRefused) -> KernelFault {
    KernelFault { kind: "refused".to_owned(), message: refused.to_string(), ..KernelFault::default() }
}

/// Memory errors of the machine as a backend's.
pub fn memory(error: MemoryError) -> GpuError {
    match error {
        MemoryError::OutOfMemory { .. } | MemoryError::HostExhausted { .. } => GpuError::OutOfMemory(error.to_string()),
        error => GpuError::Memory(error.to_string()),
    }
}
