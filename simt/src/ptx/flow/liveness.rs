//! Where each register and predicate holds a value that is still wanted.
//!
//! Positions are half steps: a step reads at `2 × step` and writes at `2 × step + 1`. A register is alive where some path leads
//! on to a read and some path led here from a write. A guarded write, or one of only some words, replaces nothing.
//!
//! Registers that live in one block only, the great majority, need no data flow and no bits ([`super::crossing`]).

use std::collections::HashMap;
use std::ops::Range;

use super::blocks::Blocks;
use super::crossing::Crossing;
use super::scan::{Scan, Variable};
use crate::ptx::error::Outcome;
use crate::ptx::lower::{Code, Predicate, Register};

/// Positions `start..end` in which a variable is alive.
pub(super) type Extent = (u32, u32);

pub(super) struct Live {
    /// For each variable of the function, in order of first position: where it is alive, in order, never touching.
    extents: Vec<(Variable, Vec<Extent>)>,
    registers: u32,
    first_step: u32,
    /// 32-bit words alive before each step, and those alive both before and after it.
    before: Vec<u32>,
    across: Vec<u32>,
}

impl Live {
    pub fn new(code: &Code, function: u32, blocks: &Blocks) -> Outcome<Self> {
        let scan = Scan::new(code, function);
        let crossing = Crossing::new(&scan, blocks)?;
        let mut found: Vec<(Variable, u32, u32)> = scan.formal_extents();
        for block in 0..blocks.len() {
            Walk::new(&scan, &crossing, block, blocks.steps(block)).run(blocks.steps(block), &mut found);
        }
        let extents = group(found);
        let part = &code.functions[function as usize];
        let steps = (part.end - part.start) as usize;
        let mut live = Self {
            extents,
            registers: code.registers.len() as u32,
            first_step: part.start,
            before: Vec::new(),
            across: Vec::new(),
        };
        // Alive at the read of a step, and alive at its read and at its write.
        live.before = live.words(code, steps, |(start, end)| (start.div_ceil(2), end.div_ceil(2)));
        live.across = live.words(code, steps, |(start, end)| (start.div_ceil(2), end / 2));
        Ok(live)
    }

    pub fn registers(&self) -> impl Iterator<Item = (Register, &[Extent])> {
        let extents = self.extents.iter().filter(|(variable, _)| *variable < self.registers);
        extents.map(|(variable, extents)| (Register(*variable), extents.as_slice()))
    }

    pub fn predicates(&self) -> impl Iterator<Item = (Predicate, &[Extent])> {
        let extents = self.extents.iter().filter(|(variable, _)| *variable >= self.registers);
        extents.map(|(variable, extents)| (Predicate(*variable - self.registers), extents.as_slice()))
    }

    /// Most 32-bit words alive before any one step.
    pub fn peak(&self) -> u32 {
        self.before.iter().copied().max().unwrap_or(0)
    }

    /// Words alive both before and after a step: what a call leaves waiting.
    pub fn across(&self, step: u32) -> u32 {
        self.across.get((step - self.first_step) as usize).copied().unwrap_or(0)
    }

    /// For each step, the words of the registers alive there; `steps_of` says from which step to which an extent counts.
    fn words(&self, code: &Code, steps: usize, steps_of: impl Fn(Extent) -> (u32, u32)) -> Vec<u32> {
        let mut changes = vec![0i64; steps + 1];
        for (register, extents) in self.registers() {
            let words = i64::from(code.registers[register.0 as usize].words);
            for (first, last) in extents.iter().map(|&extent| steps_of(extent)).filter(|(first, last)| first < last) {
                changes[((first - self.first_step) as usize).min(steps)] += words;
                changes[((last - self.first_step) as usize).min(steps)] -= words;
            }
        }
        let mut alive = 0;
        let sums = changes.iter().take(steps).map(|change| {
            alive += change;
            u32::try_from(alive).unwrap_or(0)
        });
        sums.collect()
    }
}

/// What is known while one block is walked from its end to its start.
struct Walk<'a> {
    scan: &'a Scan<'a>,
    crossing: &'a Crossing,
    block: usize,
    /// First write of each variable that the block writes.
    first_write: HashMap<Variable, u32>,
    /// Variables alive here, with the end of the extent that is open.
    open: HashMap<Variable, u32>,
}

impl<'a> Walk<'a> {
    fn new(scan: &'a Scan<'a>, crossing: &'a Crossing, block: usize, steps: Range<u32>) -> Self {
        let mut first_write = HashMap::new();
        for at in steps.clone() {
            scan.writes(at, |variable, _| _ = first_write.entry(variable).or_insert(at));
        }
        let open = crossing.alive_after(block).map(|variable| (variable, 2 * steps.end)).collect();
        Self { scan, crossing, block, first_write, open }
    }

    fn run(mut self, steps: Range<u32>, found: &mut Vec<(Variable, u32, u32)>) {
        for at in steps.clone().rev() {
            self.step(at, found);
        }
        found.extend(self.open.into_iter().map(|(variable, end)| (variable, 2 * steps.start, end)));
    }

    fn step(&mut self, at: u32, found: &mut Vec<(Variable, u32, u32)>) {
        let (read, written) = (2 * at, 2 * at + 1);
        let scan = self.scan;
        scan.writes(at, |variable, replaces| match self.open.get(&variable).copied() {
            Some(end) if replaces || !self.holds(variable, at) => {
                found.push((variable, written, end));
                self.open.remove(&variable);
            }
            Some(_) => {}
            None => found.push((variable, written, written + 1)),
        });
        scan.reads(at, |variable, stays| {
            let end = if stays { written + 1 } else { written };
            if !self.holds(variable, at) {
                found.push((variable, read, end));
                return;
            }
            let open = self.open.entry(variable).or_insert(end);
            *open = end.max(*open);
        });
    }

    /// Does the variable perhaps hold something before this step?
    fn holds(&self, variable: Variable, at: u32) -> bool {
        self.first_write.get(&variable).is_some_and(|&first| first < at)
            || self.crossing.perhaps_written_before(self.block, variable)
    }
}

/// Extents by variable, each variable's in order and joined where they touch; variables in order of first position.
fn group(mut found: Vec<(Variable, u32, u32)>) -> Vec<(Variable, Vec<Extent>)> {
    found.sort_unstable();
    let mut groups: Vec<(Variable, Vec<Extent>)> = Vec::new();
    for (variable, start, end) in found {
        let Some((_, extents)) = groups.last_mut().filter(|(last, _)| *last == variable) else {
            groups.push((variable, vec![(start, end)]));
            continue;
        };
        match extents.last_mut() {
            Some(last) if start <= last.1 => last.1 = end.max(last.1),
            _ => extents.push((start, end)),
        }
    }
    groups.sort_by_key(|(_, extents)| extents.first().map_or(0, |extent| extent.0));
    groups
}
