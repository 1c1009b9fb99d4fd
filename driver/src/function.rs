//! Functions: kernels that were asked for, with what the driver says of them.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use warpwise_simt::device::{ComputeCapability, Device};
use warpwise_simt::machine::Kernel;
use warpwise_simt::occupancy::{self, Occupancy, Request};

use crate::abi::Handle;
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::module::Module;
use crate::notice;

#[derive(Debug)]
pub struct Function {
    pub handle: Handle,
    pub context: Handle,
    pub module: Handle,
    pub name: CString,
    pub kernel: Kernel,
    /// Registers a thread: the estimate from the PTX, under the caps that it and the JIT options set.
    pub registers: u32,
    target: ComputeCapability,
    constant_bytes: u64,
    /// Most dynamic shared memory that a launch may ask for.
    dynamic_bytes_max: AtomicU32,
    carveout_percent: AtomicI32,
}

/// `CUfunction_attribute`.
mod attribute {
    pub const MAX_THREADS_PER_BLOCK: u32 = 0;
    pub const SHARED_BYTES: u32 = 1;
    pub const CONST_BYTES: u32 = 2;
    pub const LOCAL_BYTES: u32 = 3;
    pub const REGISTERS: u32 = 4;
    pub const PTX_VERSION: u32 = 5;
    pub const BINARY_VERSION: u32 = 6;
    pub const CACHE_MODE_CA: u32 = 7;
    pub const DYNAMIC_BYTES_MAX: u32 = 8;
    pub const CARVEOUT: u32 = 9;
    /// Those of clusters, of which there are none: all 0.
    pub const CLUSTERS: std::ops::RangeInclusive<u32> = 10..=15;
}

impl Function {
    /// The function of a module's entry; the same handle each time.
    ///
    /// # Errors
    /// As [`Module::program`], and `NOT_SUPPORTED` where the machine lacks an operation.
    pub fn of(driver: &Driver, module: &Module, entry: usize) -> Done<Handle> {
        let mut functions = module.functions();
        if let Some(handle) = functions.get(&entry) {
            return Ok(*handle);
        }
        let program = module.program(entry)?;
        let kernel = driver.engine.machine().prepare(module.id, program).map_err(|error| {
            notice::say_once(&format!("kernel {}: {error}", program.name));
            Code::NOT_SUPPORTED
        })?;
        let function = driver.functions.insert_with(|handle| Self::new(handle, module, kernel, driver.settings.device));
        functions.insert(entry, function.handle);
        Ok(function.handle)
    }

    fn new(handle: Handle, module: &Module, kernel: Kernel, device: &Device) -> Self {
        let program = kernel.program();
        let caps = [program.max_registers, module.max_registers, Some(device.limits.max_registers_per_thread)];
        let registers = caps.into_iter().flatten().fold(program.estimated_registers, u32::min).max(1);
        let static_bytes = program.shared_static_bytes;
        Self {
            handle,
            context: module.context,
            module: module.handle,
            name: CString::new(program.name.clone()).unwrap_or_default(),
            registers,
            target: module.target,
            constant_bytes: module.constant_bytes,
            dynamic_bytes_max: device.limits.shared_per_block_bytes.saturating_sub(static_bytes).into(),
            carveout_percent: AtomicI32::new(-1),
            kernel,
        }
    }

    pub fn dynamic_bytes_max(&self) -> u32 {
        self.dynamic_bytes_max.load(Ordering::Relaxed)
    }

    /// # Errors
    /// `INVALID_VALUE` for an attribute that there is not.
    pub fn attribute(&self, attribute: u32, device: &Device) -> Done<i32> {
        let program = self.kernel.program();
        let version = |version: ComputeCapability| (10 * version.major + version.minor) as i32;
        match attribute {
            attribute::MAX_THREADS_PER_BLOCK => Ok(self.max_threads(device) as i32),
            attribute::SHARED_BYTES => Ok(program.shared_static_bytes as i32),
            attribute::CONST_BYTES => Ok(i32::try_from(self.constant_bytes).unwrap_or(i32::MAX)),
            attribute::LOCAL_BYTES => Ok(program.local_bytes as i32),
            attribute::REGISTERS => Ok(self.registers as i32),
            attribute::PTX_VERSION => Ok(version(self.target)),
            attribute::BINARY_VERSION => Ok(version(device.compute_capability)),
            attribute::CACHE_MODE_CA => Ok(0),
            attribute::DYNAMIC_BYTES_MAX => Ok(self.dynamic_bytes_max() as i32),
            attribute::CARVEOUT => Ok(self.carveout_percent.load(Ordering::Relaxed)),
            clusters if attribute::CLUSTERS.contains(&clusters) => Ok(0),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// # Errors
    /// `INVALID_VALUE` for a value out of range, or an attribute that cannot be set.
    pub fn set_attribute(&self, attribute: u32, value: i32, device: &Device) -> Done {
        match attribute {
            attribute::DYNAMIC_BYTES_MAX => {
                let most = device.limits.shared_per_block_optin_bytes - self.kernel.program().shared_static_bytes;
                let value = u32::try_from(value).ok().filter(|bytes| *bytes <= most).ok_or(Code::INVALID_VALUE)?;
                self.dynamic_bytes_max.store(value, Ordering::Relaxed);
                Ok(())
            }
            attribute::CARVEOUT if (-1..=100).contains(&value) => {
                self.carveout_percent.store(value, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Blocks of that shape on an SM.
    pub fn occupancy(&self, device: &Device, threads: i64, dynamic_bytes: u64) -> Done<Occupancy> {
        let program = self.kernel.program();
        let request = Request {
            static_shared_bytes: program.shared_static_bytes.into(),
            dynamic_shared_bytes: i64::try_from(dynamic_bytes).map_err(|_| Code::INVALID_VALUE)?,
            carveout_percent: self.carveout_percent.load(Ordering::Relaxed),
            barriers: program.barrier_count.max(1).into(),
            ..Request::new(threads, self.registers.into())
        };
        occupancy::calculate(&device.limits, &request).map_err(|_| Code::INVALID_VALUE)
    }

    /// The largest block that can be launched: by its bounds, and by its registers.
    pub fn max_threads(&self, device: &Device) -> u32 {
        let program = self.kernel.program();
        let bounds = program.required_threads.or(program.max_threads);
        let most = bounds.map_or(device.limits.max_threads_per_block, |[x, y, z]| x * y * z);
        let fits = |threads: &u32| {
            self.occupancy(device, (*threads).into(), 0).is_ok_and(|occupancy| occupancy.blocks_per_sm > 0)
        };
        std::iter::successors(Some(most), |threads| threads.checked_sub(1).map(|less| less / 32 * 32))
            .take_while(|threads| *threads > 0)
            .find(fits)
            .unwrap_or(0)
    }

    /// Most bytes of dynamic shared memory at which so many blocks of so many threads still fit on an SM.
    pub fn dynamic_bytes_for(&self, device: &Device, blocks: i64, threads: i64) -> Done<u64> {
        let fits = |bytes: u32| {
            self.occupancy(device, threads, bytes.into()).is_ok_and(|occupancy| occupancy.blocks_per_sm >= blocks)
        };
        if blocks < 1 || threads < 1 || !fits(0) {
            return Err(Code::INVALID_VALUE);
        }
        let (mut most, mut too_much) = (0, device.limits.shared_per_block_optin_bytes + 1);
        while too_much - most > 1 {
            let middle = most + (too_much - most) / 2;
            if fits(middle) { most = middle } else { too_much = middle }
        }
        Ok(most.into())
    }

    pub fn get(driver: &Driver, handle: Handle) -> Done<Arc<Self>> {
        driver.functions.get(handle)
    }
}
