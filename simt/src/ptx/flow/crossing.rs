//! Data flow of the variables that live across blocks.

use std::collections::HashMap;

use super::blocks::Blocks;
use super::scan::{Scan, Variable};
use super::sets::BitSet;
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;

/// Most bits of one set for every block: blocks times the variables that live across blocks.
const BITS_MAX: usize = 1 << 28;

pub(super) struct Crossing {
    /// Number of each variable that crosses blocks.
    numbers: HashMap<Variable, usize>,
    variables: Vec<Variable>,
    /// Wanted after each block.
    wanted: Vec<BitSet>,
    /// Perhaps written before each block, and before its end.
    written_before: Vec<BitSet>,
    written_after: Vec<BitSet>,
}

impl Crossing {
    pub fn new(scan: &Scan<'_>, blocks: &Blocks) -> Outcome<Self> {
        let variables = exposed(scan, blocks);
        let numbers: HashMap<_, _> =
            variables.iter().enumerate().map(|(number, &variable)| (variable, number)).collect();
        if blocks.len().saturating_mul(variables.len()) > BITS_MAX {
            let message = format!("{} blocks with {} registers alive across them", blocks.len(), variables.len());
            return Err(Problem::new(Span::default(), message).help("the kernel is too large to be lowered"));
        }
        let effects = Effects::new(scan, blocks, &numbers);
        let predecessors = blocks.predecessors();
        let wanted = effects.wanted(blocks, &predecessors);
        let params = scan.params().filter_map(|variable| numbers.get(&variable).copied());
        let (written_before, written_after) = effects.written(blocks, params);
        Ok(Self { numbers, variables, wanted, written_before, written_after })
    }

    /// Variables that hold something after the block which is wanted there.
    pub fn alive_after(&self, block: usize) -> impl Iterator<Item = Variable> {
        self.wanted[block].common(&self.written_after[block]).map(|number| self.variables[number])
    }

    pub fn perhaps_written_before(&self, block: usize, variable: Variable) -> bool {
        self.numbers.get(&variable).is_some_and(|&number| self.written_before[block].contains(number))
    }
}

/// Variables that some block reads before it has surely written them.
fn exposed(scan: &Scan<'_>, blocks: &Blocks) -> Vec<Variable> {
    // The block, plus one, that last replaced each variable.
    let mut replaced = vec![0u32; scan.variables()];
    let mut known = BitSet::new(scan.variables());
    let mut variables = Vec::new();
    for block in 0..blocks.len() {
        for at in blocks.steps(block) {
            scan.reads(at, |variable, _| {
                if replaced[variable as usize] != block as u32 + 1 && known.insert(variable as usize) {
                    variables.push(variable);
                }
            });
            scan.writes(at, |variable, replaces| {
                if replaces {
                    replaced[variable as usize] = block as u32 + 1;
                }
            });
        }
    }
    variables
}

/// What each block does to the crossing variables.
struct Effects {
    variables: usize,
    /// Read before it is surely written.
    reads: Vec<BitSet>,
    /// Surely written.
    replaces: Vec<BitSet>,
    /// Perhaps written.
    writes: Vec<BitSet>,
}

impl Effects {
    fn new(scan: &Scan<'_>, blocks: &Blocks, numbers: &HashMap<Variable, usize>) -> Self {
        let empty = vec![BitSet::new(numbers.len()); blocks.len()];
        let mut effects =
            Self { variables: numbers.len(), reads: empty.clone(), replaces: empty.clone(), writes: empty };
        for block in 0..blocks.len() {
            let (reads, replaced) = (&mut effects.reads[block], &mut effects.replaces[block]);
            let writes = &mut effects.writes[block];
            for at in blocks.steps(block) {
                scan.reads(at, |variable, _| {
                    if let Some(&number) = numbers.get(&variable).filter(|&&number| !replaced.contains(number)) {
                        reads.insert(number);
                    }
                });
                scan.writes(at, |variable, replaces| {
                    let Some(&number) = numbers.get(&variable) else { return };
                    writes.insert(number);
                    if replaces {
                        replaced.insert(number);
                    }
                });
            }
        }
        effects
    }

    /// Wanted after each block: wanted before a block that may follow.
    fn wanted(&self, blocks: &Blocks, predecessors: &[Vec<u32>]) -> Vec<BitSet> {
        let mut before = self.reads.clone();
        let mut after = vec![BitSet::new(self.variables); blocks.len()];
        let mut pending: Vec<usize> = (0..blocks.len()).collect();
        let mut waiting = vec![true; blocks.len()];
        while let Some(block) = pending.pop() {
            waiting[block] = false;
            for &next in blocks.successors(block) {
                after[block].union(&before[next as usize]);
            }
            if !before[block].union_except(&after[block], &self.replaces[block]) {
                continue;
            }
            for &previous in &predecessors[block] {
                if !std::mem::replace(&mut waiting[previous as usize], true) {
                    pending.push(previous as usize);
                }
            }
        }
        // A block whose own set did not change may still have successors that did.
        for (block, after) in after.iter_mut().enumerate() {
            for &next in blocks.successors(block) {
                after.union(&before[next as usize]);
            }
        }
        after
    }

    /// Perhaps written before each block and before its end; `params` are written before the first.
    fn written(&self, blocks: &Blocks, params: impl Iterator<Item = usize>) -> (Vec<BitSet>, Vec<BitSet>) {
        let mut before = vec![BitSet::new(self.variables); blocks.len()];
        let mut after = self.writes.clone();
        if let Some(first) = before.first_mut() {
            params.for_each(|number| _ = first.insert(number));
            after[0].union(first);
        }
        let mut pending: Vec<usize> = (0..blocks.len()).rev().collect();
        let mut waiting = vec![true; blocks.len()];
        while let Some(block) = pending.pop() {
            waiting[block] = false;
            after[block].union(&before[block]);
            for &next in blocks.successors(block) {
                if before[next as usize].union(&after[block]) && !std::mem::replace(&mut waiting[next as usize], true) {
                    pending.push(next as usize);
                }
            }
        }
        (before, after)
    }
}
