//! Direct calls: arguments move to the callee's registers, results back to the caller's.

use super::code::{Read, Register, Write, bits_type};
use super::function::Function;
use super::instruction::mov_op;
use super::scope::Binding;
use crate::isa::Op;
use crate::ptx::ast::{Name, Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};

/// The parts of `call (results), function, (arguments), prototype`.
struct Parts<'a> {
    results: &'a [Operand],
    function: &'a Operand,
    arguments: &'a [Operand],
}

impl<'a> Parts<'a> {
    fn of(operands: &'a [Operand]) -> Option<Self> {
        let (results, rest) = match operands.split_first() {
            Some((Operand { kind: OperandKind::List(items), .. }, rest)) => (items.as_slice(), rest),
            _ => (&[][..], operands),
        };
        let (function, rest) = rest.split_first()?;
        let arguments = match rest.first() {
            Some(Operand { kind: OperandKind::List(items), .. }) => items.as_slice(),
            _ => &[],
        };
        Some(Self { results, function, arguments })
    }
}

impl Function<'_, '_> {
    pub fn call(&mut self, operands: &[Operand]) -> Outcome<()> {
        let Some(parts) = Parts::of(operands) else {
            return Err(Problem::new(self.span, "`call` without a function"));
        };
        let OperandKind::Name { name, .. } = parts.function.kind else {
            return Err(self.not_a(parts.function, "a function"));
        };
        let text = self.text(name.span);
        let index = match self.resolve(name)? {
            Binding::Function(index) => index,
            Binding::Register(..) => {
                let message = format!("a call of the address in `{text}`");
                return Err(Problem::new(name.span, message)
                    .help("only calls of a named function are executed")
                    .unsupported());
            }
            _ => return Err(self.not_a(parts.function, "a function")),
        };
        match self.lowering.index_of.get(&index).copied() {
            Some(callee) => self.call_function(name, callee, &parts),
            None => self.call_runtime(text, name),
        }
    }

    /// A function without a body: of the CUDA runtime, or of another module.
    fn call_runtime(&mut self, text: &str, name: Name) -> Outcome<()> {
        if matches!(text, "__assertfail" | "__assert_fail") {
            let step = self.step(Op::Trap);
            self.push(step);
            return Ok(());
        }
        let message = format!("`{text}` is declared, but has no body in this module");
        let help = "the machine executes only functions whose code is in the module";
        Err(Problem::new(name.span, message).help(help).unsupported())
    }

    fn call_function(&mut self, name: Name, callee: u32, parts: &Parts<'_>) -> Outcome<()> {
        let function = &self.lowering.code.functions[callee as usize];
        let (params, returns) = (function.params.clone(), function.returns.clone());
        self.check_count(name, "argument", parts.arguments.len(), params.len())?;
        self.check_count(name, "result", parts.results.len(), returns.len())?;
        for (argument, param) in parts.arguments.iter().zip(params) {
            self.pass(argument, param)?;
        }
        let at = self.lowering.code.steps.len() as u32;
        let step = self.step(Op::Call { target: 0 });
        self.push(step);
        self.lowering.code.functions[self.index as usize].calls.push((at, callee));
        for (result, register) in parts.results.iter().zip(returns) {
            let to = self.call_register(result)?;
            self.check_words(result, to, register)?;
            self.move_words(Read::register(register), to);
        }
        Ok(())
    }

    fn check_count(&self, name: Name, what: &str, given: usize, takes: usize) -> Outcome<()> {
        if given == takes {
            return Ok(());
        }
        let plural = if given == 1 { "" } else { "s" };
        let message = format!("a call of `{}` with {given} {what}{plural}, expected {takes}", self.text(name.span));
        Err(Problem::new(self.span, message))
    }

    fn pass(&mut self, argument: &Operand, param: Register) -> Outcome<()> {
        let words = self.lowering.code.whole(param).words;
        let from = match argument.kind {
            OperandKind::Number(number) if words <= 2 => {
                let ty = bits_type(32 * u32::from(words));
                self.literal(number, ty, argument.span)?
            }
            _ => {
                let register = self.call_register(argument)?;
                self.check_words(argument, register, param)?;
                Read::register(register)
            }
        };
        self.move_words(from, param);
        Ok(())
    }

    /// The register behind an argument or result.
    fn call_register(&mut self, operand: &Operand) -> Outcome<Register> {
        let OperandKind::Name { name, component, addend: 0 } = operand.kind else {
            return Err(self.not_a(operand, "an argument: a register or a `.param` variable"));
        };
        match (self.resolve(name)?, component) {
            (Binding::Register(register, _), None) => Ok(register),
            (Binding::Param { register, .. } | Binding::Vector { register, .. }, None) => Ok(register),
            _ => Err(self.not_a(operand, "an argument: a register or a `.param` variable")),
        }
    }

    fn check_words(&self, operand: &Operand, given: Register, takes: Register) -> Outcome<()> {
        let (given, takes) = (self.lowering.code.whole(given).words, self.lowering.code.whole(takes).words);
        if given == takes {
            return Ok(());
        }
        let message =
            format!("`{}` has {} bytes where the function has {}", self.text(operand.span), 4 * given, 4 * takes);
        Err(Problem::new(operand.span, message))
    }

    /// Moves a whole register, in pieces of 128, 64 and 32 bits.
    fn move_words(&mut self, from: Read, to: Register) {
        let words = self.lowering.code.whole(to).words;
        let mut word = 0;
        while word < words {
            let piece = match words - word {
                1 => 1,
                2 | 3 => 2,
                _ => 4,
            };
            let source = match from {
                Read::Register { register, word: first } => Read::Register { register, word: first + word },
                Read::Constant(index) => Read::Constant(index + word),
                Read::None => Read::None,
            };
            let mut step = self.step(mov_op(bits_type(32 * u32::from(piece))));
            step.src[0] = source;
            step.dst[0] = Some(Write { register: to, word, words: piece });
            self.push(step);
            word += piece;
        }
    }
}
