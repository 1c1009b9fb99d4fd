//! Where control goes, and what is alive before each instruction.
//!
//! The stretches are those between labels, as nvdisasm cuts them: a branch in the middle of one is a read of what its target
//! wants. Under nvdisasm's rule a stretch that writes a register anywhere, under a guard or not, passes nothing of it on from what
//! follows the stretch; inside the stretch only a write without guard ends it.

use std::collections::HashMap;
use std::ops::Range;

use super::roles::Roles;
use super::{Rule, Set};
use crate::sass::{Code, Instruction};

pub(super) struct Flow {
    /// Indices of instructions, in order.
    stretches: Vec<Range<usize>>,
    /// The stretch that starts at an instruction.
    starting: HashMap<usize, usize>,
    /// Of each instruction: the instructions that it may jump to, and whether it may go on to the next.
    jumps: Vec<(Vec<usize>, bool)>,
}

impl Flow {
    pub fn new(code: &Code) -> Self {
        let count = code.instructions.len();
        let index = |address: u32| code.instructions.binary_search_by_key(&address, |other| other.address).ok();
        let labels: HashMap<&str, usize> =
            code.labels.iter().filter_map(|(name, address)| Some((name.as_str(), index(*address)?))).collect();
        let jumps: Vec<(Vec<usize>, bool)> =
            code.instructions.iter().map(|instruction| jumps(instruction, &labels)).collect();
        let mut starts: Vec<usize> = labels.values().copied().collect();
        starts.push(0);
        // A target without a label, if a listing has one, and what follows an instruction that never goes on.
        starts.extend(jumps.iter().flat_map(|(targets, _)| targets));
        starts.extend(jumps.iter().enumerate().filter(|(_, (_, goes_on))| !goes_on).map(|(at, _)| at + 1));
        starts.sort_unstable();
        starts.dedup();
        starts.retain(|start| *start < count);
        let ends = starts.iter().skip(1).copied().chain([count]);
        let stretches: Vec<Range<usize>> = starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
        let starting = starts.iter().enumerate().map(|(stretch, start)| (*start, stretch)).collect();
        Self { stretches, starting, jumps }
    }

    /// Of each instruction: those that may come next.
    pub fn successors(&self) -> Vec<Vec<usize>> {
        let count = self.jumps.len();
        let of_one = |(at, (targets, goes_on)): (usize, &(Vec<usize>, bool))| {
            let next = Some(at + 1).filter(|next| *goes_on && *next < count);
            targets.iter().copied().chain(next).collect()
        };
        self.jumps.iter().enumerate().map(of_one).collect()
    }

    /// The registers alive before each instruction.
    pub fn alive_before(&self, roles: &[Roles], rule: Rule) -> Vec<Set> {
        // Of each stretch, at its start.
        let mut known = vec![Set::default(); self.stretches.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (stretch, range) in self.stretches.iter().enumerate().rev() {
                let mut wanted = Set::default();
                let mut written = Set::default();
                for at in range.clone().rev() {
                    wanted = self.step(at, range.end, wanted, &roles[at], &known);
                    if rule == Rule::Nvdisasm || !roles[at].conditional {
                        written = written.or(&roles[at].writes);
                    }
                }
                let start = wanted.or(&self.behind(range, &known).without(&written));
                changed |= start != known[stretch];
                known[stretch] = start;
            }
        }
        let mut before = vec![Set::default(); roles.len()];
        for range in &self.stretches {
            let mut alive = self.behind(range, &known);
            for at in range.clone().rev() {
                alive = self.step(at, range.end, alive, &roles[at], &known);
                before[at] = alive;
            }
        }
        before
    }

    /// From what is alive behind an instruction to what is alive before it.
    fn step(&self, at: usize, end: usize, behind: Set, roles: &Roles, known: &[Set]) -> Set {
        let (targets, goes_on) = &self.jumps[at];
        let is_last = at + 1 == end;
        // What the last instruction leads to, if it never goes on, is counted as behind the stretch.
        let inside = !is_last || *goes_on;
        let wanted =
            targets.iter().filter(|_| inside).fold(behind, |wanted, target| wanted.or(&self.at(*target, known)));
        let kept = if roles.conditional { wanted } else { wanted.without(&roles.writes) };
        kept.or(&roles.reads).or(&roles.keeps)
    }

    /// What is alive behind a stretch.
    fn behind(&self, range: &Range<usize>, known: &[Set]) -> Set {
        let Some((targets, goes_on)) = range.clone().last().map(|last| &self.jumps[last]) else {
            return Set::default();
        };
        match goes_on {
            true => self.at(range.end, known),
            false => targets.iter().fold(Set::default(), |all, target| all.or(&self.at(*target, known))),
        }
    }

    fn at(&self, instruction: usize, known: &[Set]) -> Set {
        self.starting.get(&instruction).map_or_else(Set::default, |stretch| known[*stretch])
    }
}

/// Where an instruction may jump to, and whether it may go on to the next one.
fn jumps(instruction: &Instruction, labels: &HashMap<&str, usize>) -> (Vec<usize>, bool) {
    let guarded = instruction.predicate.as_deref().is_some_and(|guard| !matches!(guard, "@PT" | "@UPT"));
    let base = instruction.opcode.split('.').next().unwrap_or_default();
    let targets = || names(&instruction.operands).filter_map(|name| labels.get(name).copied()).collect();
    match base {
        "EXIT" | "RET" | "KILL" => (Vec::new(), guarded),
        // A condition may stand among the operands: `BRA.U !UP0, …`.
        "BRA" => (targets(), guarded || instruction.operands.contains(',')),
        "BRX" | "JMP" | "JMX" => (targets(), guarded),
        _ => (Vec::new(), true),
    }
}

/// The labels that operands name: `` `(.L_x_3) ``, and all of `(*"BRANCH_TARGETS .L_x_1,.L_x_2"*)`.
fn names(operands: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '$');
    operands.split(move |letter| !is_part(letter)).filter(|word| word.starts_with(['.', '$']))
}
