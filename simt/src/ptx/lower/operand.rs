//! Single operands: registers, predicates, literals, special registers.

use super::address::AddressOf;
use super::code::{PredRead, Predicate, Read, Register, Step, Write};
use super::function::Function;
use super::scope::Binding;
use super::special::{SpecialRegister, special_register};
use crate::isa::{Constant, Op, Ty};
use crate::ptx::ast::{Component, Name, Number, Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;

/// How wide a register may be for an operand of some type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Exact,
    /// Wider too: loads, stores and conversions.
    AtLeast,
}

/// A register, or one element of a vector register, with its declared type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    register: Register,
    word: u16,
    pub ty: Ty,
}

impl Typed {
    pub fn read(self) -> Read {
        Read::Register { register: self.register, word: self.word }
    }

    fn write(self) -> Write {
        Write { register: self.register, word: self.word, words: self.ty.slots() }
    }
}

impl<'m> Function<'_, 'm> {
    pub fn text(&self, span: Span) -> &'m str {
        self.lowering.module.source.slice(span)
    }

    /// What a name means, if it is declared: in the function, else in the module.
    pub fn lookup(&mut self, name: Name) -> Option<Binding> {
        let module = self.lowering.module;
        let text = module.source.slice(name.span);
        let local = self.scopes.find(name, text, &mut self.lowering.code, self.index);
        local.or_else(|| self.lowering.module_binding(name))
    }

    pub fn resolve(&mut self, name: Name) -> Outcome<Binding> {
        self.lookup(name).ok_or_else(|| self.undeclared(name))
    }

    fn undeclared(&self, name: Name) -> Problem {
        let text = self.text(name.span);
        let problem = Problem::new(name.span, format!("`{text}` is not declared"));
        match text.starts_with('%') {
            true => problem.help("no register or special register has that name"),
            false => problem,
        }
    }

    /// A source value of type `ty`.
    pub fn source(&mut self, operand: &Operand, ty: Ty, fit: Fit) -> Outcome<Read> {
        match &operand.kind {
            OperandKind::Number(number) => self.literal(*number, ty, operand.span),
            OperandKind::Name { name, component, addend } => {
                self.named_source(*name, *component, *addend, ty, fit, operand.span)
            }
            // `{a}`: a vector of one, as Triton writes it.
            OperandKind::Vector(items) if items.len() == 1 => self.source(&items[0], ty, fit),
            _ => Err(self.not_a(operand, &format!("a source of type .{ty}"))),
        }
    }

    fn named_source(
        &mut self,
        name: Name,
        component: Option<Component>,
        addend: i64,
        ty: Ty,
        fit: Fit,
        span: Span,
    ) -> Outcome<Read> {
        let binding = self.lookup(name);
        if let Some(typed) = binding.and_then(|binding| register_of(binding, component)) {
            self.check_fit(typed, ty, fit, span)?;
            return Ok(typed.read());
        }
        match binding {
            Some(Binding::Predicate(_)) => {
                let message = format!("`{}` is a predicate where a value of type .{ty} belongs", self.text(span));
                Err(Problem::new(span, message))
            }
            Some(binding) => self.address_value(binding, AddressOf { name, addend }, ty, span),
            None => self.special_source(name, component, ty, span),
        }
    }

    fn special_source(&mut self, name: Name, component: Option<Component>, ty: Ty, span: Span) -> Outcome<Read> {
        let special = self.special(name, component)?;
        let words = ty.slots();
        match special {
            SpecialRegister::Varying(special, special_words) => {
                let register = self.lowering.code.register(special_words.max(words), self.index);
                let mut step = self.step(Op::Special(special));
                step.dst[0] = Some(Write { register, word: 0, words: special_words });
                self.push(step);
                match words > special_words {
                    true => Err(self.too_narrow(span, 32 * u32::from(special_words), ty)),
                    false => Ok(Read::register(register)),
                }
            }
            SpecialRegister::Launch(constant) => {
                let mut constants = vec![constant];
                constants.resize(usize::from(words.max(1)), Constant::Literal(0));
                Ok(Read::Constant(self.lowering.code.constants.index(&constants, span)?))
            }
            SpecialRegister::Always(value) => self.literal(Number::Unsigned(value), ty, span),
            SpecialRegister::AlwaysPredicate(_) => Err(Problem::new(span, "a predicate where a value belongs")),
        }
    }

    pub fn special(&mut self, name: Name, component: Option<Component>) -> Outcome<SpecialRegister> {
        let lane = match component {
            Some(Component::Lane(lane)) => Some(lane),
            _ => None,
        };
        special_register(self.text(name.span), lane).ok_or_else(|| self.undeclared(name))
    }

    pub fn literal(&mut self, number: Number, ty: Ty, span: Span) -> Outcome<Read> {
        let Some(bits) = literal_bits(number, ty) else {
            let problem = Problem::new(span, format!("`{}` is not a value of type .{ty}", self.text(span)));
            return Err(match ty {
                Ty::F32 => problem.help("write a float with a point, or its bits as 0f3F800000"),
                Ty::F64 => problem.help("write a float with a point, or its bits as 0d3FF0000000000000"),
                _ => problem,
            });
        };
        Ok(Read::Constant(self.lowering.code.constants.literal(bits, ty.slots().max(1), span)?))
    }

    /// A small number that an instruction needs besides its operands.
    pub fn small(&mut self, value: u32) -> Outcome<Read> {
        let span = self.span;
        Ok(Read::Constant(self.lowering.code.constants.literal(u128::from(value), 1, span)?))
    }

    /// A result register; None for `_`.
    pub fn destination(&mut self, operand: &Operand, ty: Ty, fit: Fit) -> Outcome<Option<(Write, Ty)>> {
        let (name, component) = match &operand.kind {
            OperandKind::Sink => return Ok(None),
            OperandKind::Name { name, component, addend: 0 } => (*name, *component),
            OperandKind::Vector(items) if items.len() == 1 => return self.destination(&items[0], ty, fit),
            _ => return Err(self.not_a(operand, &format!("a register for a result of type .{ty}"))),
        };
        let binding = self.resolve(name)?;
        let Some(typed) = register_of(binding, component) else {
            return Err(self.not_a(operand, &format!("a register for a result of type .{ty}")));
        };
        self.check_fit(typed, ty, fit, operand.span)?;
        Ok(Some((typed.write(), typed.ty)))
    }

    fn check_fit(&self, typed: Typed, ty: Ty, fit: Fit, span: Span) -> Outcome<()> {
        let (has, needs) = (typed.ty.bits(), ty.bits());
        let fits = match fit {
            Fit::Exact => has == needs,
            Fit::AtLeast => has >= needs,
        };
        // A byte has no registers of its own in most producers' code.
        if fits || (needs == 8 && has == 16) { Ok(()) } else { Err(self.too_narrow(span, has, ty)) }
    }

    fn too_narrow(&self, span: Span, has: u32, ty: Ty) -> Problem {
        let message = format!("`{}` has {has} bits where .{ty} needs {}", self.text(span), ty.bits());
        Problem::new(span, message)
    }

    pub fn not_a(&self, operand: &Operand, expected: &str) -> Problem {
        Problem::new(operand.span, format!("`{}` is not {expected}", self.text(operand.span)))
    }

    pub fn predicate_source(&mut self, operand: &Operand) -> Outcome<PredRead> {
        match &operand.kind {
            OperandKind::Not(name) => Ok(PredRead { predicate: self.predicate(*name)?, negate: true }),
            OperandKind::Name { name, component: None, addend: 0 } => match self.lookup(*name) {
                None => match self.special(*name, None)? {
                    SpecialRegister::AlwaysPredicate(false) => Ok(PredRead::FALSE),
                    _ => Err(self.not_a(operand, "a predicate")),
                },
                Some(_) => Ok(PredRead::is(self.predicate(*name)?)),
            },
            OperandKind::Number(Number::Signed(0) | Number::Unsigned(0)) => Ok(PredRead::FALSE),
            OperandKind::Number(Number::Signed(_) | Number::Unsigned(_)) => Ok(PredRead::TRUE),
            _ => Err(self.not_a(operand, "a predicate")),
        }
    }

    pub fn predicate_destination(&mut self, operand: &Operand) -> Outcome<Option<Predicate>> {
        match &operand.kind {
            OperandKind::Sink => Ok(None),
            OperandKind::Name { name, component: None, addend: 0 } => Ok(Some(self.predicate(*name)?)),
            _ => Err(self.not_a(operand, "a predicate register")),
        }
    }

    pub fn predicate(&mut self, name: Name) -> Outcome<Predicate> {
        match self.resolve(name)? {
            Binding::Predicate(predicate) => Ok(predicate),
            _ => Err(Problem::new(name.span, format!("`{}` is not a predicate register", self.text(name.span)))),
        }
    }

    pub fn constant(&self, operand: &Operand) -> Outcome<i64> {
        match operand.kind {
            OperandKind::Number(Number::Signed(value)) => Ok(value),
            OperandKind::Number(Number::Unsigned(value)) => Ok(value as i64),
            _ => Err(self.not_a(operand, "an integer constant")),
        }
    }

    pub fn step(&self, op: Op) -> Step {
        Step::new(op, self.span, self.place.clone())
    }

    pub fn push(&mut self, step: Step) {
        self.lowering.code.steps.push(step);
    }
}

/// The register that a name means, with the component selected.
pub(super) fn register_of(binding: Binding, component: Option<Component>) -> Option<Typed> {
    match (binding, component) {
        (Binding::Register(register, ty), None) => Some(Typed { register, word: 0, ty }),
        (Binding::Vector { register, ty, lanes }, Some(Component::Lane(lane))) if lane < lanes => {
            Some(Typed { register, word: ty.slots() * u16::from(lane), ty })
        }
        _ => None,
    }
}

/// The bits of a literal as a value of type `ty`; None if it is not one.
///
/// Integers are cut to the type's width, as PTX does. A float in place of bits gives its bits.
pub(in crate::ptx) fn literal_bits(number: Number, ty: Ty) -> Option<u128> {
    let integer = match number {
        Number::Signed(value) => Some(value as u64),
        Number::Unsigned(value) => Some(value),
        _ => None,
    };
    match (ty, number) {
        (Ty::F32 | Ty::B32, Number::Single(bits)) => Some(u128::from(bits)),
        (Ty::F32, Number::Double(value)) => Some(u128::from((value as f32).to_bits())),
        (Ty::F64 | Ty::B64, Number::Double(value)) => Some(u128::from(value.to_bits())),
        (Ty::F64, Number::Single(bits)) => Some(u128::from(f64::from(f32::from_bits(bits)).to_bits())),
        (Ty::Pred, _) => None,
        _ if ty.is_float() => None,
        // The high half of a 128-bit value repeats the sign.
        (Ty::B128, Number::Signed(value)) => Some(value as i128 as u128),
        _ => {
            let bits = ty.bits().min(64);
            integer.map(|value| u128::from(if bits == 64 { value } else { value & ((1 << bits) - 1) }))
        }
    }
}
