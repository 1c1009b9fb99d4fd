//! `run [FILE.ptx]`: any PTX on the machine, with arguments from the command line; without a file, the kernels that were built,
//! ours or those of `--crate`. Exit code 1 if the kernel faults.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use warpwise_simt::device::Device;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Launch, Machine, Mode, Report};

use super::{Outcome, read_lossy, write_text};
use crate::arguments::{Argument, Direction, Init, bind, parse_dim3};
use crate::backend::{CounterSet, KernelFault, sim};
use crate::claim::format::{integer, microseconds};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{Code, KernelFiles, of_text};
use crate::numbers::isa_name;
use crate::report::terminal;
use crate::report::words::sampled_note;
use crate::schema::{self, RunRecord};
use crate::workbench::device;

/// Run a kernel on the machine: of any PTX file, or of the kernels that were built
#[derive(clap::Args, Debug)]
pub struct Options {
    /// PTX text; if left out, the kernels that were built, those of --crate if it is given
    file: Option<PathBuf>,
    /// The kernel; may be left out where there is one only
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Blocks of the grid
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dim3)]
    grid: [u32; 3],
    /// Threads of a block
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dim3)]
    block: [u32; 3],
    /// Dynamic shared memory of a block
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// An argument, in the kernel's order:
    /// NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT],
    /// INIT one of ramp, const:V, list:V,V, rand:SEED, file:PATH
    #[arg(long = "arg", value_name = "ARG", verbatim_doc_comment)]
    args: Vec<String>,
    /// Registers a thread, which decide how many blocks are resident; else estimated
    #[arg(long, value_name = "N")]
    regs: Option<u32>,
    /// Results and counters only, no modelled time: ten times as fast
    #[arg(long)]
    functional: bool,
    /// Write outputs, counters, cycles and faults as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A buffer on the machine whose values are wanted afterwards.
pub(crate) struct Output<'a> {
    argument: &'a Argument,
    address: u64,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let arguments: Vec<Argument> = options.args.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let (code, text) = code(options.file.as_deref())?;
    let ptx = code.program(&entry_of(options.entry.as_deref(), &code)?)?;
    bind::check(&ptx, &arguments)?;
    let device = device(global)?;
    let program = of_text(&code, &text, &ptx.name, device, global.machine())?;
    let mut machine = Machine::new(device);
    machine.set_checks(global.machine().checks);
    let (values, outputs) = place(&mut machine, &arguments)?;
    let launch = Launch {
        dynamic_shared_bytes: options.shared,
        registers: options.regs,
        mode: if options.functional { Mode::Functional } else { Mode::Timed },
        divergence: global.machine().divergence,
        block_order: global.machine().block_order,
        ..Launch::new(options.grid, options.block, bind::layout(&ptx, &values))
    };
    let module = machine.load(code.variables()).map_err(machine_error)?;
    let kernel = machine.prepare(module, &program).map_err(machine_error)?;
    let report = machine.launch(&kernel, &launch).map_err(machine_error)?;
    let record = record(&mut machine, device, &program, &report, &outputs)?;
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::run(&record)))?;
    }
    print(&record)?;
    Ok(if record.faults.is_empty() { Outcome::Good } else { Outcome::Failed })
}

pub(crate) fn machine_error(error: impl std::fmt::Display) -> CommandError {
    CommandError::Usage(error.to_string())
}

/// The text that was named, or that of the kernels that were built.
fn code(file: Option<&Path>) -> Result<(Code, String), CommandError> {
    let (name, text) = match file {
        Some(file) => (file.to_owned(), read_lossy(file)?),
        None => {
            let files = KernelFiles::open()?;
            (files.ptx_path, files.ptx)
        }
    };
    Ok((Code::parse(&name.display().to_string(), &text)?, text))
}

/// The entry that was named, or the only one.
pub(super) fn entry_of(named: Option<&str>, code: &Code) -> Result<String, CommandError> {
    if let Some(entry) = named {
        return Ok(entry.to_owned());
    }
    let entries: Vec<&str> = code.entries().collect();
    match entries[..] {
        [only] => Ok(only.to_owned()),
        [] => Err(CommandError::Usage("there is no kernel in this PTX: it has no .entry".to_owned())),
        _ => {
            let entries = entries.join(", ");
            Err(CommandError::Usage(format!("which kernel? name one with --entry\nthere are: {entries}")))
        }
    }
}

/// Allocates and fills the buffers; the value of each parameter, and what is to be read back.
pub(crate) fn place<'a>(
    machine: &mut Machine,
    arguments: &'a [Argument],
) -> Result<(Vec<Vec<u8>>, Vec<Output<'a>>), CommandError> {
    let mut values = Vec::new();
    let mut outputs = Vec::new();
    for argument in arguments {
        match argument {
            Argument::Scalar { value, .. } => values.push(value.clone()),
            Argument::Buffer { name, direction, element, len, init } => {
                // The allocation comes first: a length beyond the device's memory must not cost the host's.
                let bytes = (len * element.bytes()) as u64;
                let address = machine.alloc(bytes).map_err(machine_error)?;
                match init {
                    Init::Zeros => machine.fill(address, bytes, 0),
                    init => machine.write(address, &init.bytes(name, *element, *len)?),
                }
                .map_err(machine_error)?;
                values.push(address.to_le_bytes().to_vec());
                if *direction != Direction::In {
                    outputs.push(Output { argument, address });
                }
            }
        }
    }
    Ok((values, outputs))
}

fn record<'a>(
    machine: &mut Machine,
    device: &'a Device,
    program: &'a Arc<Program>,
    report: &Report,
    outputs: &[Output<'_>],
) -> Result<RunRecord<'a>, CommandError> {
    let mut read = Vec::new();
    for output in outputs {
        if let Argument::Buffer { name, element, len, .. } = output.argument {
            let mut bytes = vec![0; len * element.bytes()];
            machine.read(output.address, &mut bytes).map_err(machine_error)?;
            read.push((name.clone(), element.json(&bytes)));
        }
    }
    Ok(RunRecord {
        kernel: &program.name,
        device: &device.name,
        outputs: read,
        counters: CounterSet::of_report(report),
        time: report.timing.as_ref().map(|timing| (timing.cycles, timing.us)),
        sampled: report.timing.as_ref().and_then(|timing| timing.sampled),
        faults: faults(report),
    })
}

/// What ended the run, and what the checks found.
fn faults(report: &Report) -> Vec<KernelFault> {
    let ended = report.fault.iter().filter(|fault| !report.findings.contains(fault));
    ended.chain(&report.findings).map(sim::described).collect()
}

/// Values of an output that are printed; all of them are in the JSON.
const SHOWN: usize = 8;

fn print(record: &RunRecord<'_>) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    for (name, values) in &record.outputs {
        let shown: Vec<String> = values.iter().take(SHOWN).map(plain).collect();
        let more = if values.len() > SHOWN {
            format!(" … ({} values)", integer(values.len() as i128))
        } else {
            String::new()
        };
        terminal.line(&format!("{name} = {}{more}", shown.join(", ")))?;
    }
    // What did not happen is not worth a line; the JSON has it.
    let counted = record.counters.iter().filter(|(_, value)| *value != 0.0 && !value.is_nan());
    let rows = counted.map(|(name, value)| vec![name.to_owned(), plain(&schema::number(value))]);
    terminal.rows(&["counter", "value"].map(str::to_owned), rows)?;
    if let Some((cycles, us)) = record.time {
        let (cycles, us) = (integer(cycles.into()), microseconds(us));
        let note = record.sampled.as_ref().map(|sampled| format!(" ({})", sampled_note(sampled))).unwrap_or_default();
        let isa = isa_name(record.counters.isa).to_uppercase();
        terminal.line(&format!("{us} modelled for the {}, {cycles} cycles of {isa}{note}", record.device))?;
    }
    for fault in &record.faults {
        terminal.line(&format!("fault: {fault}"))?;
    }
    Ok(())
}

/// A JSON value without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
