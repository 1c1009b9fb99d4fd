//! The door to the machine: allocate, copy, load, launch.
//!
//! A [`Machine`] is one device. Calls are synchronous; streams, events and contexts are the caller's business. A launch that
//! breaks a limit is refused before anything runs ([`LaunchRefused`]); one that faults while it runs ends with a
//! [`Report`] that says so. Programs come from a front end ([`crate::isa::Program`]) and are prepared once, launched often.

mod describe;
mod functional;
mod launch;
mod modules;
mod order;
mod report;
mod timed;

use std::ops::Deref;
use std::sync::Arc;

use crate::checks::Checks;
use crate::checks::written::Written;
use crate::device::Device;
use crate::exec::{self, CpuLevel, Probe};
use crate::isa::{Isa, Program, Variable};
use crate::memory::{Memory, MemoryError, Nearest};
use crate::timing::{Observer, System};

pub use launch::{BlockOrder, Launch, LaunchRefused, Mode, Residency, admit};
pub use modules::{LoadError, ModuleId, Symbol};
pub use report::Report;

use modules::Modules;

/// A kernel made ready for a machine. Clones share it.
#[derive(Clone, Debug)]
pub struct Kernel {
    functional: Arc<exec::Kernel>,
    /// For the cycle model: the same instructions in the order of a list schedule.
    timed: Arc<timed::Scheduled>,
}

impl Deref for Kernel {
    type Target = exec::Kernel;

    fn deref(&self) -> &exec::Kernel {
        &self.functional
    }
}

/// One device with its memory and what is loaded on it.
#[derive(Debug)]
pub struct Machine {
    device: Device,
    memory: Memory,
    modules: Modules,
    launches: u32,
    level: CpuLevel,
    /// The cycle model's part of the device.
    system: System,
    checks: Checks,
    /// What of memory was written, where reads of the rest are looked for.
    written: Option<Written>,
}

impl Machine {
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            memory: Memory::new(device.dram_bytes),
            modules: Modules::default(),
            launches: 0,
            level: CpuLevel::detect(),
            system: System::new(device),
            checks: Checks::default(),
            written: None,
        }
    }

    /// Makes these checks in every launch of PTX from now on. Memory that was allocated before counts as written. A timed launch is
    /// checked in a functional run before it, which leaves memory as it was.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checks = checks;
        self.written = checks.init.then(Written::default);
    }

    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Uses the operations of another CPU level from now on; of the best one that this CPU has if it lacks the one asked for.
    pub fn set_cpu_level(&mut self, level: CpuLevel) {
        self.level = if level == CpuLevel::Portable { level } else { CpuLevel::detect() };
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The device's memory, for those who look.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// # Errors
    /// As [`Memory::alloc`].
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        let address = self.memory.alloc(bytes)?;
        if let Some(written) = &mut self.written {
            written.allocated(address, bytes);
        }
        Ok(address)
    }

    /// Takes an allocation for written, whatever the machine has seen: memory that the host reaches by itself.
    pub fn assume_written(&mut self, address: u64) {
        if let Some(written) = &mut self.written {
            written.forget(address);
        }
    }

    /// # Errors
    /// As [`Memory::free`].
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        self.memory.free(address)
    }

    /// # Errors
    /// As [`Memory::write`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.memory.write(address, bytes)?;
        self.note_written(address, bytes.len() as u64);
        self.system.host_wrote(address, bytes.len() as u64);
        Ok(())
    }

    /// # Errors
    /// As [`Memory::read`].
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        self.memory.read(address, out)
    }

    /// # Errors
    /// As [`Memory::fill`].
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        self.memory.fill(address, bytes, value)?;
        self.note_written(address, bytes);
        self.system.host_wrote(address, bytes);
        Ok(())
    }

    /// # Errors
    /// As [`Memory::copy`].
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        self.memory.copy(to, from, bytes)?;
        if let Some(written) = &mut self.written {
            written.copy(to, from, bytes);
        }
        self.system.host_wrote(to, bytes);
        Ok(())
    }

    fn note_written(&mut self, address: u64, bytes: u64) {
        if let Some(written) = &mut self.written {
            written.set(address, bytes);
        }
    }

    /// The cycle model's view of the device: threads to use, contents of L2.
    pub fn system_mut(&mut self) -> &mut System {
        &mut self.system
    }

    /// # Errors
    /// As [`Memory::adopt`].
    ///
    /// # Safety
    /// As [`Memory::adopt`].
    pub unsafe fn adopt(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe { self.memory.adopt(address, bytes) }
    }

    /// # Errors
    /// As [`Memory::disown`].
    pub fn disown(&mut self, address: u64) -> Result<(), MemoryError> {
        self.memory.disown(address)
    }

    /// How `bytes` bytes at an address lie to the nearest allocation.
    pub fn nearest(&self, address: u64, bytes: u64) -> Nearest {
        self.memory.nearest(address, bytes)
    }

    /// Places a module's variables in memory.
    ///
    /// # Errors
    /// [`LoadError`] where memory runs out or a variable's initial contents are not sound.
    pub fn load(&mut self, variables: &[Variable]) -> Result<ModuleId, LoadError> {
        self.modules.load(&mut self.memory, variables)
    }

    /// Frees a module's variables. Kernels prepared with it keep the old addresses.
    pub fn unload(&mut self, module: ModuleId) {
        self.modules.unload(&mut self.memory, module);
    }

    /// Address and size of a module's variable.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Option<Symbol> {
        self.modules.symbol(module, name)
    }

    /// Makes a kernel ready: chooses its functions and resolves its variables in `module`.
    ///
    /// # Errors
    /// [`LoadError::Prepare`], naming the first instruction that the machine cannot run.
    pub fn prepare(&self, module: ModuleId, program: &Program) -> Result<Kernel, LoadError> {
        let address_of = |name: &str| self.modules.symbol(module, name).map(|symbol| symbol.address);
        let functional = Arc::new(exec::Kernel::prepare(program, self.level, address_of)?);
        let timed = Arc::new(timed::Scheduled::prepare(program, &self.device, self.level, address_of)?);
        Ok(Kernel { functional, timed })
    }

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// [`LaunchRefused`] where it breaks a limit of the device or of the kernel. A fault while it runs is no error of this
    /// call; it is in the report.
    pub fn launch(&mut self, kernel: &Kernel, launch: &Launch) -> Result<Report, LaunchRefused> {
        self.start(kernel, launch, None)
    }

    /// As [`Machine::launch`], functional, showing every instruction to a probe.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn launch_observed(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        probe: &mut dyn Probe,
    ) -> Result<Report, LaunchRefused> {
        self.start(kernel, launch, Some(probe))
    }

    /// As [`Machine::launch`], timed, showing every issue to an observer.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn launch_traced(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        observer: &mut dyn Observer,
    ) -> Result<Report, LaunchRefused> {
        let residency = launch::admit(&self.device, kernel, launch)?;
        Ok(self.start_timed(kernel, launch, residency, Some(observer)))
    }

    fn start_timed(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        residency: Residency,
        observer: Option<&mut dyn Observer>,
    ) -> Report {
        self.launches = self.launches.wrapping_add(1);
        let scheduled = &kernel.timed;
        let grid = launch::grid(&self.device, &self.memory, scheduled.kernel.clone(), launch, self.launches);
        timed::run(&grid, scheduled, launch, residency, &mut self.memory, &mut self.system, observer)
    }

    /// Runs a launch with the checks of [`Machine::set_checks`] and leaves memory as it was, but for the checks' own record of what
    /// is written: for a launch of the same kernel's SASS, which is not checked itself.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn rehearse(&mut self, kernel: &Kernel, launch: &Launch) -> Result<Report, LaunchRefused> {
        let saved = self.memory.save();
        let report = self.start(kernel, &Launch { mode: Mode::Functional, ..launch.clone() }, None);
        self.memory.restore(&saved);
        report
    }

    fn start(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        probe: Option<&mut dyn Probe>,
    ) -> Result<Report, LaunchRefused> {
        let residency = launch::admit(&self.device, kernel, launch)?;
        let checked = self.checks.any() && kernel.program().isa == Isa::Ptx;
        if launch.mode == Mode::Timed {
            if checked {
                let rehearsed = self.rehearse(kernel, launch)?;
                if rehearsed.fault.is_some() {
                    return Ok(rehearsed);
                }
            }
            return Ok(self.start_timed(kernel, launch, residency, None));
        }
        self.launches = self.launches.wrapping_add(1);
        let grid = launch::grid(&self.device, &self.memory, kernel.functional.clone(), launch, self.launches);
        if !checked {
            return Ok(functional::run(&grid, launch, residency, &mut self.memory, probe));
        }
        let checks = (self.checks, self.written.take());
        let (report, written) = functional::run_checked(&grid, launch, residency, &mut self.memory, probe, checks);
        self.written = written;
        Ok(report)
    }
}
