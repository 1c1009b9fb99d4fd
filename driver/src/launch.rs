//! Launches: arguments gathered and limits checked in the call, the rest on the machine's thread.

use std::sync::Arc;

use warpwise_simt::isa::Program;
use warpwise_simt::machine::{self, Kernel, Launch, LaunchRefused, Machine, Mode, Report, Residency};

use crate::abi::{In, LaunchAttribute};
use crate::code::{Code, Done};
use crate::context::Context;
use crate::driver::Driver;
use crate::engine::Engine;
use crate::fault;
use crate::function::Function;
use crate::notice;
use crate::settings::Timing;
use crate::stream::Target;

/// What a launch call asks for, however it was said.
#[derive(Clone, Copy)]
pub struct Request {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub cooperative: bool,
}

/// Where a launch's arguments are: pointers to each, or one packed buffer.
#[derive(Clone, Copy)]
pub struct Arguments {
    pub each: In<u64>,
    pub packed: In<u64>,
}

/// Names in the list of a packed buffer (`CU_LAUNCH_PARAM_*`).
const END: u64 = 0;
const BUFFER_POINTER: u64 = 1;
const BUFFER_BYTES: u64 = 2;

impl Arguments {
    /// The parameter buffer.
    ///
    /// # Errors
    /// `INVALID_VALUE` where both forms are given, or what is given does not fit the kernel's parameters.
    fn gather(self, program: &Program) -> Done<Vec<u8>> {
        let bytes = program.params.iter().map(|param| (param.offset + param.bytes) as usize).max().unwrap_or(0);
        match (self.each.is_null(), self.packed.is_null()) {
            (true, true) if bytes == 0 => Ok(Vec::new()),
            (false, true) => self.gather_each(program, bytes),
            (true, false) => self.gather_packed(bytes),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn gather_each(self, program: &Program, bytes: usize) -> Done<Vec<u8>> {
        let mut buffer = vec![0; bytes];
        for (index, param) in program.params.iter().enumerate() {
            let from = In::<u8>::at(self.each.element(index).get()?);
            let start = param.offset as usize;
            let value = from.array(param.bytes as usize)?;
            buffer[start..start + value.len()].copy_from_slice(&value);
        }
        Ok(buffer)
    }

    fn gather_packed(self, bytes: usize) -> Done<Vec<u8>> {
        let (mut buffer, mut size) = (0, None);
        // The list has two names at most; a longer one has no end.
        for pair in 0..=2 {
            let value = || self.packed.element(2 * pair + 1).get();
            match self.packed.element(2 * pair).get()? {
                END => break,
                BUFFER_POINTER if pair < 2 => buffer = value()?,
                BUFFER_BYTES if pair < 2 => size = Some(In::<usize>::at(value()?).get()?),
                _ => return Err(Code::INVALID_VALUE),
            }
        }
        match size {
            Some(given) if given >= bytes => In::<u8>::at(buffer).array(bytes),
            // NVIDIA's driver takes one that is too short, and the kernel reads what happens to lie there.
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// `CUlaunchAttributeID`, those that matter here.
mod attribute {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
    pub const PROGRAMMATIC_EVENT: u32 = 7;
    pub const COMPLETION_EVENT: u32 = 12;
}

impl Request {
    /// Takes an attribute of `cuLaunchKernelEx`. Those that only advise are taken and change nothing.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` for clusters and for events inside a launch.
    pub fn take(&mut self, given: &LaunchAttribute) -> Done {
        let missing = |what: &str| {
            notice::say_once(&format!("cuLaunchKernelEx: {what} are not supported"));
            Err(Code::NOT_SUPPORTED)
        };
        match given.id {
            attribute::COOPERATIVE => self.cooperative = given.value[0] != 0,
            attribute::CLUSTER_DIMENSION if given.value[..3] != [1, 1, 1] => return missing("clusters of blocks"),
            attribute::PROGRAMMATIC_EVENT | attribute::COMPLETION_EVENT => return missing("events inside a launch"),
            _ => {}
        }
        Ok(())
    }

    /// Checks the launch and queues it.
    ///
    /// # Errors
    /// `INVALID_VALUE` or `LAUNCH_OUT_OF_RESOURCES`, with the reason on stderr; `INVALID_HANDLE` where function and stream are of
    /// different contexts.
    pub fn submit(self, driver: &Driver, function: &Arc<Function>, target: &Target, arguments: Arguments) -> Done {
        if function.context != target.context.handle {
            return Err(Code::INVALID_HANDLE);
        }
        let launch = Launch {
            dynamic_shared_bytes: self.dynamic_shared_bytes,
            registers: Some(function.registers),
            ..Launch::new(self.grid, self.block, arguments.gather(function.kernel.program())?)
        };
        self.admit(driver, function, &launch)?;
        let (kernel, timing, context, lane) =
            (function.kernel.clone(), driver.settings.timing, target.context.clone(), target.lane);
        target.enqueue(&driver.engine, move |engine| {
            let (us, fault) = run(engine, &kernel, launch, timing, &context);
            context.timeline().advance(lane, us);
            fault
        });
        Ok(())
    }

    fn admit(&self, driver: &Driver, function: &Function, launch: &Launch) -> Done {
        let (device, name) = (driver.settings.device, &function.kernel.program().name);
        let refused = |reason| fault::refused(name, &reason);
        let residency: Residency = machine::admit(device, &function.kernel, launch).map_err(refused)?;
        let most = function.dynamic_bytes_max();
        if self.dynamic_shared_bytes > most {
            notice::say_once(&format!(
                "launch of {name} refused: {} bytes of dynamic shared memory; {most} are allowed until cuFuncSetAttribute allows more",
                self.dynamic_shared_bytes
            ));
            return Err(Code::INVALID_VALUE);
        }
        if self.cooperative && launch.block_count() > residency.blocks() {
            notice::say_once(&format!(
                "cooperative launch of {name} refused: {} blocks; {} holds {} at once",
                launch.block_count(),
                device.name,
                residency.blocks()
            ));
            return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        Ok(())
    }
}

/// Runs a launch on the machine: how long it takes by the model, and what went wrong.
fn run(engine: &Engine, kernel: &Kernel, mut launch: Launch, timing: Timing, context: &Context) -> (f64, Done) {
    let mut machine = engine.machine();
    // Nobody can tell the time of a launch without an event that was recorded before it, so the model is spared then.
    launch.mode = if timing == Timing::Modelled && context.takes_times() { Mode::Timed } else { Mode::Functional };
    let empty_us = machine.device().parameters.launch_overhead_ns / 1e3;
    match timed_or_not(&mut machine, kernel, &mut launch) {
        Ok(report) => {
            let us = report.timing.as_ref().map_or(empty_us, |timing| timing.us);
            (us, report.fault.as_ref().map_or(Ok(()), |fault| Err(fault::report(fault))))
        }
        // The call checked the launch, so this is a difference between two checks.
        Err(reason) => (0.0, Err(fault::refused(&kernel.program().name, &reason))),
    }
}

/// A launch that the cycle model does not take is run without it.
fn timed_or_not(machine: &mut Machine, kernel: &Kernel, launch: &mut Launch) -> Result<Report, LaunchRefused> {
    match machine.launch(kernel, launch) {
        Err(reason) if launch.mode == Mode::Timed => {
            notice::say_once(&format!("kernel {} is not timed: {reason}", kernel.program().name));
            launch.mode = Mode::Functional;
            machine.launch(kernel, launch)
        }
        other => other,
    }
}
