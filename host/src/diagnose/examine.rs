//! Running a launch for what can be said about it.

use std::sync::Arc;

use warpwise_simt::checks::Checks;
use warpwise_simt::device::Device;
use warpwise_simt::fault::{Fault, FaultKind};
use warpwise_simt::isa::{Isa, Program, Variable};
use warpwise_simt::machine::{Launch, Machine, Mode};
use warpwise_simt::occupancy::Occupancy;
use warpwise_simt::timing::Timing;

use super::footprint::Footprint;
use crate::arguments::{Argument, bind};
use crate::backend::{CounterSet, LaunchShape};
use crate::ceilings::Ceilings;
use crate::commands::run::{machine_error, place};
use crate::error::CommandError;
use crate::kernels::Resources;

/// A kernel and the launch that is looked at.
pub struct Subject<'a> {
    pub device: &'static Device,
    pub ptx: &'a Arc<Program>,
    /// What the cycle model runs: the SASS where there is one, else the PTX.
    pub executed: &'a Arc<Program>,
    pub variables: &'a [Variable],
    pub resources: Resources,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// Registers a thread in place of the compiler's.
    pub registers: Option<u32>,
    pub arguments: &'a [Argument],
}

/// What was found out about a launch.
pub struct Facts {
    pub kernel: String,
    pub device: &'static Device,
    pub isa: Isa,
    pub shape: LaunchShape,
    pub resources: Resources,
    pub occupancy: Occupancy,
    pub counters: CounterSet,
    pub timing: Timing,
    pub ceilings: Ceilings,
    /// Bytes of global memory that have to be read and written at least.
    pub least_read_bytes: u64,
    pub least_written_bytes: u64,
    /// Bytes that lanes read and write, repetitions included.
    pub referenced_bytes: u64,
    /// A race between two blocks, in words.
    pub blocks_race: Option<String>,
    pub races: usize,
}

impl Facts {
    /// A counter, 0 where nothing was counted.
    pub fn count(&self, name: &str) -> f64 {
        self.counters.get(name).filter(|value| value.is_finite()).unwrap_or(0.0)
    }

    pub fn isa_word(&self) -> &'static str {
        if self.isa == Isa::Ptx { "ptx" } else { "sass" }
    }

    pub fn least_bytes(&self) -> u64 {
        self.least_read_bytes + self.least_written_bytes
    }

    /// Bytes between the SMs and L2.
    pub fn l2_bytes(&self) -> f64 {
        let sectors = ["lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "lts__t_sectors_op_atom.sum"];
        32.0 * sectors.map(|name| self.count(name)).iter().sum::<f64>()
    }

    pub fn dram_bytes(&self) -> f64 {
        self.count("dram__bytes_read.sum") + self.count("dram__bytes_write.sum")
    }

    /// Single-precision operations, a fused one as two.
    pub fn flops(&self) -> f64 {
        let of = |op: &str| self.count(&format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"));
        of("fadd") + of("fmul") + 2.0 * of("ffma")
    }

    /// Microseconds in which blocks ran.
    pub fn execution_us(&self) -> f64 {
        self.timing.execution_cycles as f64 / f64::from(self.device.boost_clock_mhz)
    }
}

/// Runs the launch; inside, the fault that ended it.
///
/// # Errors
/// Arguments that do not fit, code that the machine cannot run, a launch that the device refuses.
pub fn examine(subject: &Subject<'_>) -> Result<Result<Facts, Box<Fault>>, CommandError> {
    let registers = subject.registers.unwrap_or(subject.resources.registers.value());
    let mut footprint = Footprint::default();
    let (mut machine, launch) = placed(subject, registers)?;
    machine.set_checks(Checks { race: true, ..Checks::default() });
    let module = machine.load(subject.variables).map_err(machine_error)?;
    let kernel = machine.prepare(module, subject.ptx).map_err(machine_error)?;
    let observed = machine.launch_observed(&kernel, &launch, &mut footprint).map_err(machine_error)?;
    if let Some(fault) = observed.fault.filter(|fault| fault.kind != FaultKind::Race) {
        return Ok(Err(Box::new(fault)));
    }
    let across =
        observed.findings.iter().find(|race| race.other.as_ref().is_some_and(|other| other.block != race.block));

    let (mut machine, launch) = placed(subject, registers)?;
    let module = machine.load(subject.variables).map_err(machine_error)?;
    let kernel = machine.prepare(module, subject.executed).map_err(machine_error)?;
    // What the host copies to a device stays in L2 for a while; a kernel is looked at without that.
    machine.system_mut().flush_l2();
    let timed = Launch { mode: Mode::Timed, ..launch };
    let report = machine.launch(&kernel, &timed).map_err(machine_error)?;
    if let Some(fault) = report.fault {
        return Ok(Err(Box::new(fault)));
    }
    let counters = CounterSet::of_report(&report);
    let (least_read_bytes, least_written_bytes) = footprint.least_bytes();
    Ok(Ok(Facts {
        kernel: subject.ptx.name.clone(),
        device: subject.device,
        isa: report.isa,
        shape: LaunchShape::new(subject.grid, subject.block).with_dynamic_shared(subject.dynamic_shared_bytes),
        resources: subject.resources,
        occupancy: report.residency.occupancy,
        counters,
        timing: report.timing.unwrap_or_default(),
        ceilings: Ceilings::of_model(subject.device),
        least_read_bytes,
        least_written_bytes,
        referenced_bytes: footprint.referenced_bytes,
        blocks_race: across.map(ToString::to_string),
        races: observed.findings.len(),
    }))
}

/// A machine with the arguments on it, and the launch.
fn placed(subject: &Subject<'_>, registers: u32) -> Result<(Machine, Launch), CommandError> {
    let mut machine = Machine::new(subject.device);
    let (values, _) = place(&mut machine, subject.arguments)?;
    let launch = Launch {
        dynamic_shared_bytes: subject.dynamic_shared_bytes,
        registers: Some(registers),
        ..Launch::new(subject.grid, subject.block, bind::layout(subject.ptx, &values))
    };
    Ok((machine, launch))
}
