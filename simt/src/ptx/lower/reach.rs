//! Which functions an entry reaches, and in which order they are lowered: callers before what they call.

use std::collections::HashMap;

use crate::ptx::Module;
use crate::ptx::ast::{Instruction, Name, OperandKind, Statement, Symbol};
use crate::ptx::error::{Outcome, Problem};

/// Most functions that one entry may reach.
const FUNCTIONS_MAX: usize = 4096;

/// Indices in the listing of the entry and of all functions with a body that it reaches, callers first.
pub(super) fn reach(module: &Module, entry: usize) -> Outcome<Vec<usize>> {
    let mut search = Search { module, state: HashMap::new(), finished: Vec::new() };
    search.run(entry)?;
    search.finished.reverse();
    Ok(search.finished)
}

/// The function that a call names directly.
pub(super) fn callee(instruction: &Instruction) -> Option<Name> {
    instruction.operands.iter().find_map(|operand| match &operand.kind {
        OperandKind::Name { name, .. } => Some(*name),
        _ => None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
}

struct Search<'m> {
    module: &'m Module,
    state: HashMap<usize, State>,
    finished: Vec<usize>,
}

impl Search<'_> {
    /// Depth first, with a stack of its own: a chain of calls may be long.
    fn run(&mut self, entry: usize) -> Outcome<()> {
        let mut stack = vec![(entry, self.calls(entry), 0)];
        self.state.insert(entry, State::Open);
        while let Some((function, calls, next)) = stack.last_mut() {
            let Some(&(name, target)) = calls.get(*next) else {
                self.state.insert(*function, State::Done);
                self.finished.push(*function);
                stack.pop();
                continue;
            };
            *next += 1;
            match self.state.get(&target) {
                Some(State::Done) => {}
                Some(State::Open) => return Err(self.recursion(name)),
                None if self.state.len() == FUNCTIONS_MAX => {
                    let message = format!("the kernel reaches more than {FUNCTIONS_MAX} functions");
                    return Err(Problem::new(name.span, message));
                }
                None => {
                    self.state.insert(target, State::Open);
                    stack.push((target, self.calls(target), 0));
                }
            }
        }
        Ok(())
    }

    fn recursion(&self, name: Name) -> Problem {
        let function = self.module.symbol_text(name.symbol);
        Problem::new(name.span, format!("`{function}` calls itself, directly or through others"))
            .help("recursion is not supported: every function has its registers once")
    }

    /// Functions with a body that this one calls, each at its first call.
    fn calls(&self, function: usize) -> Vec<(Name, usize)> {
        let mut calls: Vec<(Name, usize)> = Vec::new();
        let mut seen: HashMap<Symbol, ()> = HashMap::new();
        let body = self.module.listing.functions.get(function).and_then(|function| function.body.as_ref());
        for statement in body.into_iter().flatten() {
            let Statement::Instruction(instruction) = statement else { continue };
            let opcode = self.module.source.slice(instruction.opcode);
            let Some(name) = callee(instruction).filter(|_| opcode == "call" || opcode.starts_with("call.")) else {
                continue;
            };
            if seen.insert(name.symbol, ()).is_none() {
                calls.extend(self.module.function_with_body(name.symbol).map(|index| (name, index)));
            }
        }
        calls
    }
}
