//! What each step of a function reads and writes.

use crate::isa::Op;
use crate::ptx::lower::{Code, Step};

/// A register or a predicate, under one numbering: predicates come after the registers.
pub(super) type Variable = u32;

pub(super) struct Scan<'a> {
    code: &'a Code,
    function: u32,
    registers: u32,
}

impl<'a> Scan<'a> {
    pub fn new(code: &'a Code, function: u32) -> Self {
        Self { code, function, registers: code.registers.len() as u32 }
    }

    /// Calls `visit` for each variable that a step writes, with whether the write replaces all that it held.
    pub fn writes(&self, at: u32, mut visit: impl FnMut(Variable, bool)) {
        let step = &self.code.steps[at as usize];
        let unguarded = step.is_unguarded();
        for write in step.writes() {
            let info = self.code.registers[write.register.0 as usize];
            if info.function == self.function {
                visit(write.register.0, unguarded && write.words == info.words);
            }
        }
        for predicate in step.predicates_written() {
            visit(self.registers + predicate.0, unguarded);
        }
    }

    /// Calls `visit` for each variable that a step reads, with whether it must keep its slots while the step writes.
    ///
    /// A result may take the slot of a source that is not wanted any more only where neither is more than one word: results
    /// then never overlap a source in part.
    pub fn reads(&self, at: u32, mut visit: impl FnMut(Variable, bool)) {
        let step = &self.code.steps[at as usize];
        let reuses = reuses_sources(step);
        for register in step.registers_read() {
            let info = self.code.registers[register.0 as usize];
            if info.function == self.function {
                visit(register.0, !reuses || info.words > 1);
            }
        }
        for predicate in step.predicates_read() {
            visit(self.registers + predicate.0, false);
        }
        if step.op == Op::Return {
            let returns = &self.code.functions[self.function as usize].returns;
            returns.iter().for_each(|register| visit(register.0, true));
        }
    }

    /// Parameters, which callers write before the first step.
    pub fn params(&self) -> impl Iterator<Item = Variable> {
        self.code.functions[self.function as usize].params.iter().map(|register| register.0)
    }

    /// Where parameters and results are in use whatever the code does: callers write and read them.
    pub fn formal_extents(&self) -> Vec<(Variable, u32, u32)> {
        let function = &self.code.functions[self.function as usize];
        let params = function.params.iter().map(|register| (register.0, 2 * function.start, 2 * function.start + 1));
        let last = (2 * function.end).saturating_sub(1);
        let returns = function.returns.iter().map(|register| (register.0, last, last + 1));
        params.chain(returns).collect()
    }

    /// Number of variables of the whole program.
    pub fn variables(&self) -> usize {
        self.code.registers.len() + self.code.predicates.len()
    }
}

fn reuses_sources(step: &Step) -> bool {
    let mut writes = step.writes();
    match (writes.next(), writes.next()) {
        (Some(write), None) => write.words == 1,
        (None, _) => true,
        _ => false,
    }
}
