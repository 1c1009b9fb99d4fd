//! `trace KERNEL|FILE.ptx`: what the cycle model's warps did and when; as a table of one warp, or as a file that ui.perfetto.dev and
//! chrome://tracing open: an SM is a process there, its blocks and its warps are tracks, one cycle is shown as a microsecond.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use warpwise_simt::isa::Program;
use warpwise_simt::timing::{Completed, Issued, Observer, Placement, Stall, Timing};

use super::run::machine_error;
use super::subject::{Ready, Source, SubjectOptions, source_line};
use super::{Outcome, write_text};
use crate::claim::format::{integer, microseconds};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::report::terminal;
use crate::workbench::device;

/// Record what each warp did in which cycle
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    subject: SubjectOptions,
    /// The block whose warp the table shows, by its linear number
    #[arg(long = "of-block", value_name = "N", default_value_t = 0)]
    of_block: u64,
    /// The warp in the block
    #[arg(long, value_name = "N", default_value_t = 0)]
    warp: u32,
    /// Write a trace of all SMs that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Instructions that the file has at most
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    limit: usize,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let source = options.subject.source()?;
    let device = device(global)?;
    let (mut ready, program) = ready(&options.subject, &source, device, global)?;
    let mut record = Record { limit: options.limit, of: (options.of_block, options.warp), ..Record::default() };
    let report = ready.machine.launch_traced(&ready.kernel, &ready.launch, &mut record).map_err(machine_error)?;
    let mut terminal = terminal::stdout();
    if let Some(timing) = &report.timing {
        table(&mut terminal, &program, &record, timing)?;
        let cycles = integer(timing.cycles.into());
        let isa = if program.control.is_empty() { "PTX" } else { "SASS" };
        let us = microseconds(timing.us);
        terminal.line(&format!("{us} modelled for the {}, {cycles} cycles of {isa}", device.name))?;
        if let Some(path) = &options.perfetto {
            let document = json!({ "traceEvents": record.events(&program, timing), "displayTimeUnit": "ns" });
            write_text(path, &format!("{document}\n"))?;
            let left_out = match record.dropped {
                0 => String::new(),
                dropped => format!("; {} instructions past --limit are left out", integer(dropped as i128)),
            };
            terminal.line(&format!("wrote {}: open it in ui.perfetto.dev{left_out}", path.display()))?;
        }
    }
    if let Some(fault) = &report.fault {
        terminal.line(&format!("fault: {fault}"))?;
    }
    Ok(if report.fault.is_none() { Outcome::Good } else { Outcome::Failed })
}

/// A machine with what it executes of the kernel: SASS for kernels that were built, as `labs` does, else PTX.
fn ready(
    subject: &SubjectOptions,
    source: &Source,
    device: &warpwise_simt::device::Device,
    global: &GlobalOptions,
) -> Result<(Ready, std::sync::Arc<Program>), CommandError> {
    let executed = match source.built {
        true => crate::workbench::Workbench::open(global, "sim")?.executed(&source.program.name)?,
        false => source.program.clone(),
    };
    Ok((subject.ready(source, &executed, device, global)?, executed))
}

/// What is kept of a launch.
#[derive(Default)]
struct Record {
    limit: usize,
    of: (u64, u32),
    issued: Vec<Issued>,
    /// Of the warp that the table shows.
    warp: Vec<Issued>,
    arrived: Vec<Completed>,
    dropped: usize,
}

impl Observer for Record {
    fn issued(&mut self, event: &Issued) {
        if (event.block, event.warp_in_block) == self.of {
            self.warp.push(*event);
        }
        match self.issued.len() < self.limit {
            true => self.issued.push(*event),
            false => self.dropped += 1,
        }
    }

    fn completed(&mut self, event: &Completed) {
        if (event.block, event.warp_in_block) == self.of {
            self.arrived.push(*event);
        }
    }

    fn ended(&mut self, _: &Placement) {}
}

/// The commonest reason for which warps waited before an instruction.
pub(crate) fn reason(timing: &Timing, pc: u32) -> Option<&'static str> {
    let stalls = timing.instruction_stalls.get(pc as usize)?;
    let waits = Stall::ALL.into_iter().filter(|stall| *stall != Stall::Selected);
    waits.max_by_key(|stall| stalls.get(*stall)).filter(|stall| stalls.get(*stall) > 0).map(Stall::name)
}

fn text(program: &Program, pc: u32) -> &str {
    program.info.get(pc as usize).map_or("", |info| &info.text)
}

/// The instructions of one warp with their cycles.
fn table(
    terminal: &mut terminal::Terminal<std::io::StdoutLock<'static>>,
    program: &Program,
    record: &Record,
    timing: &Timing,
) -> std::io::Result<()> {
    let first = record.warp.first().map_or(0, |issued| issued.cycle);
    let mut last = first;
    let rows: Vec<Vec<String>> = record
        .warp
        .iter()
        .map(|issued| {
            let waited = issued.cycle - last;
            last = issued.cycle;
            let why = reason(timing, issued.pc).filter(|_| waited > 1).unwrap_or("");
            let arrives = record
                .arrived
                .iter()
                .find(|arrived| (arrived.pc, arrived.issue_cycle) == (issued.pc, issued.cycle))
                .map_or_else(String::new, |arrived| integer(arrived.ready_cycle.into()));
            let place = source_line(program, issued.pc).map_or_else(String::new, |(file, line)| {
                format!("{}:{line}", file.rsplit('/').next().unwrap_or(&file))
            });
            vec![
                integer(issued.cycle.into()),
                waited.to_string(),
                why.to_owned(),
                arrives,
                issued.on.count_ones().to_string(),
                text(program, issued.pc).to_owned(),
                place,
            ]
        })
        .collect();
    if rows.is_empty() {
        return terminal
            .line("that warp issued nothing: the launch has no such block or warp, or it was not timed one by one");
    }
    terminal.rows(&["cycle", "waited", "for", "data at", "lanes", "instruction", "source"].map(str::to_owned), rows)
}

impl Record {
    /// The file's events: names of the tracks, blocks, instructions and waits.
    fn events(&self, program: &Program, timing: &Timing) -> Vec<Value> {
        let mut events = Vec::new();
        let mut named = std::collections::HashSet::new();
        let mut name = |events: &mut Vec<Value>, sm: u32, track: u64, what: String| {
            if named.insert((sm, 0)) {
                let args = json!({ "name": format!("SM {sm}") });
                events.push(json!({ "name": "process_name", "ph": "M", "pid": sm, "tid": 0, "args": args }));
            }
            if named.insert((sm, track)) {
                let args = json!({ "name": what });
                events.push(json!({ "name": "thread_name", "ph": "M", "pid": sm, "tid": track, "args": args }));
            }
        };
        for (placement, slot) in slots(&timing.placements) {
            let track = 1 + slot;
            name(&mut events, placement.sm, track, format!("blocks, place {slot}"));
            events.push(json!({
                "name": format!("block {}", placement.block), "cat": "block", "ph": "X", "pid": placement.sm, "tid": track,
                "ts": placement.start_cycle, "dur": placement.end_cycle.saturating_sub(placement.start_cycle),
            }));
        }
        let mut last: HashMap<(u64, u32), u64> = HashMap::new();
        for issued in &self.issued {
            let track = 1000 + 64 * issued.block + u64::from(issued.warp_in_block);
            name(&mut events, issued.sm, track, format!("block {} warp {}", issued.block, issued.warp_in_block));
            let end = last.insert((issued.block, issued.warp_in_block), issued.cycle + 1).unwrap_or(issued.cycle);
            if issued.cycle > end {
                events.push(json!({
                    "name": reason(timing, issued.pc).unwrap_or("wait"), "cat": "stall", "ph": "X", "pid": issued.sm,
                    "tid": track, "ts": end, "dur": issued.cycle - end,
                }));
            }
            events.push(json!({
                "name": text(program, issued.pc), "cat": "instruction", "ph": "X", "pid": issued.sm, "tid": track,
                "ts": issued.cycle, "dur": 1,
                "args": { "lanes": issued.on.count_ones(), "scheduler": issued.scheduler },
            }));
        }
        events
    }
}

/// Each block with a place of its SM, so that blocks of one place do not overlap.
pub(crate) fn slots(placements: &[Placement]) -> Vec<(Placement, u64)> {
    let mut sorted = placements.to_vec();
    sorted.sort_by_key(|placement| (placement.start_cycle, placement.block));
    let mut free: HashMap<u32, Vec<u64>> = HashMap::new();
    let place = |placement: Placement| {
        let ends = free.entry(placement.sm).or_default();
        let slot = ends.iter().position(|end| *end <= placement.start_cycle).unwrap_or_else(|| {
            ends.push(0);
            ends.len() - 1
        });
        ends[slot] = placement.end_cycle;
        (placement, slot as u64)
    };
    sorted.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_one_place_do_not_overlap() {
        let at = |block, start_cycle, end_cycle| Placement { block, sm: 3, start_cycle, end_cycle };
        let found = slots(&[at(0, 0, 10), at(1, 0, 20), at(2, 10, 30), at(3, 15, 40)]);
        let places: Vec<u64> = found.iter().map(|(_, slot)| *slot).collect();
        assert_eq!(places, [0, 1, 0, 2]);
    }
}
