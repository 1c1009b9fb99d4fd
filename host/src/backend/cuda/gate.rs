//! Checks a launch before the driver sees it: the driver answers "invalid argument", a reader wants the limit and the value.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpwise_simt::device::Device;
use warpwise_simt::machine::{self, Kernel, Launch, Machine, ModuleId};

use super::{GpuError, LaunchRequest};
use crate::kernels::{Code, CodeError};

/// The machine's own check of launches, for a device like the GPU.
pub struct Gate {
    device: &'static Device,
    code: Arc<Code>,
    machine: Machine,
    module: ModuleId,
    kernels: Mutex<HashMap<String, Kernel>>,
}

impl Gate {
    pub fn new(device: &'static Device, code: Arc<Code>) -> Result<Self, GpuError> {
        let mut machine = Machine::new(device);
        let module = machine.load(code.variables()).map_err(|error| GpuError::Load(error.to_string()))?;
        Ok(Self { device, code, machine, module, kernels: Mutex::default() })
    }

    /// Whether the code has this kernel.
    ///
    /// # Errors
    /// [`GpuError::UnknownKernel`] with those there are.
    pub fn knows(&self, kernel: &str) -> Result<(), GpuError> {
        self.kernel(kernel).map(drop)
    }

    /// `registers` a thread as the driver counts them.
    ///
    /// # Errors
    /// [`GpuError::Refused`] with the limit that the launch breaks; [`GpuError::UnknownKernel`].
    pub fn admit(&self, request: &LaunchRequest, registers: u32) -> Result<(), GpuError> {
        let kernel = self.kernel(&request.kernel)?;
        let mut launch = Launch::new(request.grid, request.block, request.params.clone());
        launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
        launch.registers = Some(registers);
        let refused = |reason: machine::LaunchRefused| GpuError::Refused {
            kernel: request.kernel.clone(),
            reason: reason.to_string(),
        };
        machine::admit(self.device, &kernel, &launch).map(drop).map_err(refused)
    }

    fn kernel(&self, name: &str) -> Result<Kernel, GpuError> {
        // A thread that panicked while it held the lock left whole entries only.
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let program = self.code.program(name).map_err(|error| match error {
            CodeError::Unknown(unknown) => GpuError::UnknownKernel(unknown),
            CodeError::Ptx(error) => GpuError::Load(error.to_string()),
        })?;
        let prepared =
            self.machine.prepare(self.module, &program).map_err(|error| GpuError::Load(error.to_string()))?;
        kernels.insert(name.to_owned(), prepared.clone());
        Ok(prepared)
    }
}
