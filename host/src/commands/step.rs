//! `step KERNEL|FILE.ptx`: one warp, instruction by instruction: source line, instruction, active lanes, what it changed, and which
//! lanes stand elsewhere.
//!
//! On a terminal it waits for a key word after each instruction; with `--steps`, or where nobody types, it prints.

use std::io::{self, BufRead, IsTerminal};

use warpwise_simt::exec::{Event, Probe};
use warpwise_simt::isa::{Mask, Program, WARP_SIZE};

use super::Outcome;
use super::run::machine_error;
use super::subject::{SubjectOptions, source_line};
use crate::backend::IsaChoice;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::listing::SourcePlace;
use crate::report::terminal;

/// Watch a warp execute, instruction by instruction
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    subject: SubjectOptions,
    /// The block whose warp is watched, by its linear number
    #[arg(long = "of-block", value_name = "N", default_value_t = 0)]
    of_block: u64,
    /// The warp in the block
    #[arg(long, value_name = "N", default_value_t = 0)]
    warp: usize,
    /// The first instruction that is shown, counted from 0 as the warp executes them
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// How many instructions are shown; then nobody is asked
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
}

/// Instructions that are shown where nobody types and no number was given.
const SHOWN: u64 = 200;

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    if global.machine().isa == IsaChoice::Sass {
        let what = "`step` executes PTX, and --isa sass was given\nleave it out";
        return Err(CommandError::Usage(what.to_owned()));
    }
    let source = options.subject.source()?;
    let mut ready = options.subject.ready_ptx(&source, global)?;
    let blocks = ready.launch.block_count();
    let warps = ready.launch.threads_per_block().div_ceil(WARP_SIZE as u64);
    if options.of_block >= blocks || options.warp as u64 >= warps {
        let (block, warp) = (options.of_block, options.warp);
        let what = format!("block {block}, warp {warp} was asked for; the launch has {blocks} blocks of {warps} warps");
        return Err(CommandError::Usage(what));
    }
    let typed = options.steps.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut stepper = Stepper::new(&source.program, &options, typed);
    let outcome = ready.machine.launch_observed(&ready.kernel, &ready.launch, &mut stepper);
    if let Some(error) = stepper.error {
        return Err(error.into());
    }
    let report = outcome.map_err(machine_error)?;
    let mut terminal = terminal::stdout();
    if stepper.executed > stepper.until {
        terminal.line(&format!("… the warp executed {} instructions; see --from and --steps", stepper.executed))?;
    }
    for fault in report.fault.iter().filter(|fault| !report.findings.contains(fault)).chain(&report.findings) {
        terminal.line(&format!("fault: {fault}"))?;
    }
    Ok(if report.fault.is_none() { Outcome::Good } else { Outcome::Failed })
}

/// What a reader asks for after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Steps(u64),
    ToTheEnd,
    Quit,
    Help,
}

impl Wish {
    /// Enter for one step, a number for so many, `c` to the end, `q` to quit.
    fn of(line: &str) -> Self {
        match line.trim() {
            "" | "n" | "s" => Self::Steps(1),
            "c" => Self::ToTheEnd,
            "q" => Self::Quit,
            word => word.parse().map_or(Self::Help, Self::Steps),
        }
    }
}

/// Shows the instructions of one warp.
struct Stepper<'p> {
    program: &'p Program,
    block: u64,
    warp: usize,
    from: u64,
    until: u64,
    typed: bool,
    executed: u64,
    last_line: Option<SourcePlace>,
    error: Option<io::Error>,
}

impl<'p> Stepper<'p> {
    fn new(program: &'p Program, options: &Options, typed: bool) -> Self {
        let shown = options.steps.unwrap_or(if typed { 1 } else { SHOWN });
        Self {
            program,
            block: options.of_block,
            warp: options.warp,
            from: options.from,
            until: options.from.saturating_add(shown),
            typed,
            executed: 0,
            last_line: None,
            error: None,
        }
    }

    fn show(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut terminal = terminal::stdout();
        let step = event.step;
        if let Some((file, line)) = source_line(self.program, step.pc) {
            let place = SourcePlace { file: file.to_string(), line };
            if self.last_line.as_ref() != Some(&place) {
                terminal.line(&format!("{}:{}", place.file, place.line))?;
                self.last_line = Some(place);
            }
        }
        let info = self.program.info.get(step.pc as usize);
        let text = info.map_or("exit", |info| &info.text);
        let text = if text.is_empty() { "exit" } else { text };
        terminal.line(&format!("{:>6}  {text}", self.executed))?;
        terminal.line(&format!("        lanes {}", masks(step.active, step.on)))?;
        for change in changes(event, text) {
            terminal.line(&format!("        {change}"))?;
        }
        let splits: Vec<(u32, Mask, bool)> = event.block.warps()[event.warp].splits().collect();
        if splits.len() > 1 {
            // The lanes that have just executed this stand behind it; the others are the news.
            for (pc, mask, waits) in splits.iter().rev().filter(|(_, mask, _)| *mask != step.active) {
                let doing = if *waits { "waits at" } else { "goes on at" };
                let text = self.program.info.get(*pc as usize).map_or("the end", |info| &info.text);
                terminal.line(&format!("        | {mask:08x} {doing} `{text}`"))?;
            }
        }
        Ok(())
    }

    fn ask(&mut self) {
        let mut line = String::new();
        loop {
            line.clear();
            match io::stdin().lock().read_line(&mut line) {
                Ok(0) => self.typed = false,
                Ok(_) => match Wish::of(&line) {
                    Wish::Steps(steps) => self.until = self.executed.saturating_add(steps),
                    Wish::ToTheEnd => (self.until, self.typed) = (u64::MAX, false),
                    Wish::Quit => (self.until, self.typed) = (self.executed, false),
                    Wish::Help => {
                        eprintln!("Enter: one step; a number: so many; c: to the end; q: no more");
                        continue;
                    }
                },
                Err(error) => self.error = Some(error),
            }
            return;
        }
    }
}

impl Probe for Stepper<'_> {
    fn instruction(&mut self, event: &Event<'_>) {
        let [x, y, z] = event.block.index().map(u64::from);
        let linear = x + u64::from(event.grid.dim[0]) * (y + u64::from(event.grid.dim[1]) * z);
        let waits = event.step.effect == warpwise_simt::exec::Effect::Waiting;
        if linear != self.block || event.warp != self.warp || waits || self.error.is_some() {
            return;
        }
        if (self.from..self.until).contains(&self.executed)
            && let Err(error) = self.show(event)
        {
            self.error = Some(error);
        }
        self.executed += 1;
        if self.typed && self.executed >= self.until {
            self.ask();
        }
    }
}

/// Registers whose value is another now, under the names of the instruction's text.
pub(crate) fn changes(event: &Event<'_>, text: &str) -> Vec<String> {
    let (slots, preds) = event.block.registers(event.warp);
    let instr = event.grid.kernel().instr(event.step.pc);
    let names = destinations(text);
    let float = text.split_whitespace().find(|word| !word.starts_with('@')).is_some_and(|op| op.contains(".f32"));
    let mut out = Vec::new();
    for (index, dst) in instr.dst.iter().flatten().enumerate() {
        let place = usize::from(dst.0);
        let name = names.get(index).copied().unwrap_or("result");
        let Some(now) = slots.get(place) else { continue };
        let wide = slots.get(place + 1).filter(|_| is_wide(text));
        let value = |lane: usize| match (wide, float) {
            (Some(high), _) => format!("0x{:x}", u64::from(high.0[lane]) << 32 | u64::from(now.0[lane])),
            (None, true) => format!("{}", f32::from_bits(now.0[lane])),
            (None, false) => format!("{}", now.0[lane] as i32),
        };
        out.push(format!("{name} = {}", lanes_text(event.step.on, value)));
    }
    for (index, pred) in instr.pdst.iter().flatten().enumerate() {
        if let Some(mask) = preds.get(usize::from(pred.0)).filter(|_| pred.0 != 0) {
            let name = names.iter().filter(|name| name.starts_with("%p")).nth(index).copied().unwrap_or("predicate");
            out.push(format!("{name} = {:08x} (true in {} lanes)", mask, (mask & event.step.on).count_ones()));
        }
    }
    out
}

/// Active lanes, and those that the guard lets through where they are fewer.
fn masks(active: Mask, on: Mask) -> String {
    let count = active.count_ones();
    match active == on {
        true => format!("{active:08x} ({count} active)"),
        false => format!("{active:08x} ({count} active, guard true in {:08x}: {})", on, on.count_ones()),
    }
}

/// Values of the lanes of a mask: one where they agree, the first and the step where they rise evenly, else the first few.
fn lanes_text(on: Mask, value: impl Fn(usize) -> String) -> String {
    let values: Vec<String> = (0..WARP_SIZE).filter(|lane| on >> lane & 1 != 0).map(value).collect();
    match values.split_first() {
        None => "unchanged".to_owned(),
        Some((first, rest)) if rest.iter().all(|other| other == first) => format!("{first} in each lane"),
        Some(_) if values.len() > 6 => format!("{} … {}", values[..5].join(", "), values[values.len() - 1]),
        Some(_) => values.join(", "),
    }
}

/// The first operand of an instruction, or its parts: `{%r1, %r2}` and `%r1|%p1` have two.
fn destinations(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let text = if text.starts_with('@') { text.split_once(' ').map_or("", |(_, rest)| rest) } else { text };
    let operands = text.split_once(' ').map_or("", |(_, rest)| rest).trim_start();
    let first = match operands.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or(""),
        None => operands.split([',', ';']).next().unwrap_or(""),
    };
    first.split([',', '|']).map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Whether the result has 64 bits, by the instruction's last type.
fn is_wide(text: &str) -> bool {
    let op = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
    op.contains(".wide.") || op.split('.').any(|part| matches!(part, "u64" | "s64" | "b64" | "f64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_results_are_read_from_the_text() {
        assert_eq!(destinations("add.s32 %r3, %r1, %r2;"), ["%r3"]);
        assert_eq!(destinations("@%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1];"), ["%r1", "%r2"]);
        assert_eq!(destinations("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;"), ["%r1", "%p1"]);
        assert_eq!(destinations("ret;"), [""; 0]);
        assert!(is_wide("mul.wide.u32 %rd1, %r1, 4;") && !is_wide("@%p1 add.u32 %r1, %r1, 1;"));
    }

    #[test]
    fn lanes_are_told_shortly() {
        assert_eq!(lanes_text(!0, |_| "5".to_owned()), "5 in each lane");
        assert_eq!(lanes_text(!0, |lane| lane.to_string()), "0, 1, 2, 3, 4 … 31");
        assert_eq!(lanes_text(5, |lane| lane.to_string()), "0, 2");
        assert_eq!(masks(0xf, 0x3), "0000000f (4 active, guard true in 00000003: 2)");
    }

    #[test]
    fn what_is_typed_is_a_wish() {
        assert_eq!(Wish::of("\n"), Wish::Steps(1));
        assert_eq!(Wish::of("12\n"), Wish::Steps(12));
        assert_eq!((Wish::of("c"), Wish::of("q"), Wish::of("what")), (Wish::ToTheEnd, Wish::Quit, Wish::Help));
    }
}
