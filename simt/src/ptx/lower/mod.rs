//! One entry to a [`Program`]: names to registers, instructions to operations, registers to slots.

mod address;
mod bind;
mod call;
mod code;
mod constants;
mod control;
mod convert;
mod debug;
mod emit;
mod function;
mod instruction;
mod layout;
mod memory;
mod moves;
mod operand;
mod params;
mod reach;
mod scope;
mod special;

use std::collections::HashMap;
use std::sync::Arc;

pub(super) use code::{Code, FunctionCode, Predicate, Register, Step};
pub(super) use layout::{alignment, bytes, element_bytes};
pub(super) use operand::literal_bits;

use super::Module;
use super::error::{Outcome, Problem};
use super::opcode::Opcode;
use super::source::Span;
use crate::isa::{Param, Program};
use layout::SharedLayout;

pub(super) fn lower(module: &Module, entry: &str) -> Outcome<Program> {
    let Some(&function) = module.entries.get(entry) else { return Err(no_entry(module, entry)) };
    let order = reach::reach(module, function)?;
    let mut lowering = Lowering::new(module, order)?;
    lowering.functions()?;
    emit::program(module, function, lowering)
}

fn no_entry(module: &Module, entry: &str) -> Problem {
    let mut names: Vec<_> = module.entries().take(11).collect();
    if names.len() > 10 {
        names[10] = "…";
    }
    let problem = Problem::new(Span::default(), format!("there is no entry `{entry}`"));
    match names.is_empty() {
        true => problem.help("the module has no entry with a body"),
        false => problem.help(format!("the module has {}", names.join(", "))),
    }
}

/// The state of lowering one entry with all that it calls.
struct Lowering<'m> {
    module: &'m Module,
    code: Code,
    /// Functions of the listing, callers first; `code.functions` has the same order.
    order: Vec<usize>,
    /// Index in `order`, and so in `code.functions`, of a function of the listing.
    index_of: HashMap<usize, u32>,
    shared: SharedLayout,
    params: Vec<Param>,
    /// Opcodes already checked, by text and number of operands: the same few come again and again.
    opcodes: HashMap<(&'m str, usize), Arc<Opcode>>,
    debug: debug::Places,
    /// First byte of local memory of each function: behind that of its callers.
    local_bases: Vec<u64>,
    /// One more than the highest number of a barrier.
    barrier_count: u32,
}

impl<'m> Lowering<'m> {
    fn new(module: &'m Module, order: Vec<usize>) -> Outcome<Self> {
        let shared = SharedLayout::new(module, &order)?;
        let index_of = order.iter().enumerate().map(|(index, &function)| (function, index as u32)).collect();
        let mut code = Code::default();
        // Predicate 0 exists from the start: it is constantly true.
        code.predicates.push(u32::MAX);
        code.functions = vec![FunctionCode::default(); order.len()];
        let local_bases = vec![0; order.len()];
        let debug = debug::Places::default();
        let (params, opcodes) = (Vec::new(), HashMap::new());
        let mut lowering =
            Self { module, code, order, index_of, shared, params, opcodes, debug, local_bases, barrier_count: 0 };
        lowering.entry_params()?;
        for index in 1..lowering.order.len() {
            lowering.formals(index as u32)?;
        }
        Ok(lowering)
    }

    fn functions(&mut self) -> Outcome<()> {
        for index in 0..self.order.len() as u32 {
            function::lower(self, index)?;
            let code = &self.code.functions[index as usize];
            let end = self.local_bases[index as usize] + code.local_bytes;
            for &(_, callee) in &code.calls {
                let base = &mut self.local_bases[callee as usize];
                *base = end.next_multiple_of(16).max(*base);
            }
        }
        Ok(())
    }
}
