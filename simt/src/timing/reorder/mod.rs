//! PTX in the order in which ptxas might put it.
//!
//! The chip does not run PTX as written: ptxas moves loads up and users down inside a basic block. For the cycle model we do the
//! same: in each run of instructions that control flow enters and leaves as a whole, values that die there get names of their
//! own ([`rename`](mod@rename)), and a list schedule by critical path orders the rest ([`graph`](mod@graph)). Every result stays what
//! it was: only independent instructions trade places. Program counters of block starts do not change, so jumps need no mending.

mod graph;
mod rename;

use std::ops::Range;

use crate::device::Device;
use crate::isa::{Access, Instr, Isa, Op, Pc, Program, Space, Special};

use super::class::class_of;

/// Longer runs are cut: the work grows with the square of the length.
const RUN_LENGTH_MAX: usize = 512;

/// A program in another order.
#[derive(Clone, Debug)]
pub struct Reordered {
    pub program: Program,
    /// Where each instruction stood.
    pub original: Vec<Pc>,
}

/// The program with its instructions in the order of a list schedule for the device. SASS stays as it is: ptxas has put it in
/// order, and its control information holds for that order only.
pub fn reorder(program: &Program, device: &Device) -> Reordered {
    let original = (0..program.code.len() as Pc).collect();
    let mut result = Reordered { program: program.clone(), original };
    if program.isa == Isa::Sass {
        return result;
    }
    let Some(mut names) = rename::Names::new(&mut result.program) else {
        return Reordered { program: program.clone(), ..result };
    };
    for run in runs(program) {
        names.rename(&mut result.program, run.clone());
        let order = graph::order(&result.program, run.clone(), &|instr| latency_cycles(instr, device));
        result.permute(run.start, &order);
    }
    names.settle(&mut result.program);
    result
}

/// From an instruction's issue to that of a user, when nothing else is in the way.
fn latency_cycles(instr: &Instr, device: &Device) -> u32 {
    let p = &device.parameters;
    let cycles = match &instr.op {
        Op::Load(Access { space: Space::Shared, .. }) => p.shared_latency_cycles,
        Op::Load(Access { space: Space::Const | Space::Param, .. }) => p.constant_latency_cycles,
        Op::Load(_) | Op::Atomic(..) => p.l2_near_latency_cycles,
        _ => return device.costs.of(class_of(instr)).latency_cycles,
    };
    cycles as u32
}

/// Runs of two or more instructions that are entered at the top only and left at the bottom only.
fn runs(program: &Program) -> Vec<Range<usize>> {
    let mut starts = vec![false; program.code.len() + 1];
    for (pc, instr) in program.code.iter().enumerate() {
        for target in targets(program, &instr.op) {
            starts[target as usize] = true;
        }
        if !may_move(&instr.op) {
            starts[pc] = true;
            starts[pc + 1] = true;
        }
    }
    let mut runs = Vec::new();
    let mut first = 0;
    for (end, is_start) in starts.iter().enumerate().skip(1) {
        if *is_start || end == program.code.len() || end - first == RUN_LENGTH_MAX {
            if end - first > 1 {
                runs.push(first..end);
            }
            first = end;
        }
    }
    runs
}

fn targets<'p>(program: &'p Program, op: &Op) -> impl Iterator<Item = u32> + use<'p> {
    let (one, two, table) = match *op {
        Op::Branch { target, reconverge } => (Some(target), reconverge, None),
        Op::Call { target } => (Some(target), None, None),
        Op::BranchIndexed { table, reconverge } => (None, reconverge, program.tables.get(usize::from(table))),
        _ => (None, None, None),
    };
    let last = program.code.len() as u32;
    one.into_iter().chain(two).chain(table.into_iter().flatten().copied()).filter(move |target| *target <= last)
}

/// Whether an instruction may trade places with others at all.
fn may_move(op: &Op) -> bool {
    match op {
        Op::Special(register) => !matches!(
            register,
            Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::GlobalTimer
                | Special::GlobalTimerLo
                | Special::GlobalTimerHi
        ),
        Op::Nop
        | Op::Alu(_)
        | Op::Load(_)
        | Op::Store(_)
        | Op::Atomic(..)
        | Op::Shuffle(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux(..) => true,
        _ => false,
    }
}

impl Reordered {
    /// Puts instruction `order[i]` of a run at its place `i`.
    fn permute(&mut self, start: usize, order: &[usize]) {
        let run = start..start + order.len();
        take_order(&mut self.program.code[run.clone()], order);
        take_order(&mut self.program.info[run.clone()], order);
        take_order(&mut self.original[run], order);
    }
}

fn take_order<T: Clone>(items: &mut [T], order: &[usize]) {
    let moved: Vec<T> = order.iter().map(|index| items[*index].clone()).collect();
    items.clone_from_slice(&moved);
}
