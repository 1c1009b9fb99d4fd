//! Addresses: as operands in brackets, and as values.

use super::Lowering;
use super::code::Read;
use super::function::Function;
use super::operand::register_of;
use super::scope::Binding;
use crate::isa::{Constant, Space, Ty};
use crate::ptx::ast::{Base, Home, Name, Number, Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;
use crate::ptx::variables::function_address;

/// A named address: `tile + 8`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressOf {
    pub name: Name,
    pub addend: i64,
}

/// An address operand, resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    /// A register plus an offset; the register has 64 bits or 32.
    Register { base: Read, offset: i64, wide: bool },
    /// A number.
    Absolute(i64),
    /// A variable plus an offset.
    Variable(Binding, AddressOf),
}

impl Lowering<'_> {
    /// What a name means at module level.
    pub(super) fn module_binding(&self, name: Name) -> Option<Binding> {
        let module = self.module;
        if let Some(index) = module.function_index(name.symbol) {
            return Some(Binding::Function(index));
        }
        let declaration = module.global_declaration(name.symbol)?;
        match declaration.home {
            Home::Memory(Space::Shared) => {
                let offset = self.shared.offset(declaration.name.span)?;
                Some(Binding::Offset { space: Space::Shared, offset, bytes: 0 })
            }
            Home::Memory(space @ (Space::Global | Space::Const)) => {
                Some(Binding::Variable { space, name: declaration.name.span })
            }
            _ => None,
        }
    }
}

impl Function<'_, '_> {
    pub fn address(&mut self, operand: &Operand) -> Outcome<Address> {
        let OperandKind::Address { base, addend, more } = &operand.kind else {
            return Err(self.not_a(operand, "an address in brackets"));
        };
        if !more.is_empty() {
            return Err(self.not_a(operand, "an address of one part"));
        }
        let Base::Name(name) = base else { return Ok(Address::Absolute(*addend)) };
        let binding = self.resolve(*name)?;
        match register_of(binding, None) {
            Some(typed) if matches!(typed.ty.bits(), 32 | 64) => {
                let base = typed.read();
                Ok(Address::Register { base, offset: *addend, wide: typed.ty.bits() == 64 })
            }
            Some(_) => Err(self.not_a(operand, "an address: its register has neither 32 nor 64 bits")),
            None => Ok(Address::Variable(binding, AddressOf { name: *name, addend: *addend })),
        }
    }

    /// The type of an address operand: its register's width, else that of the module's addresses.
    pub fn address_type(&mut self, operand: &Operand) -> Outcome<Ty> {
        if let OperandKind::Name { name, component, .. } = operand.kind
            && let Some(typed) = self.lookup(name).and_then(|binding| register_of(binding, component))
        {
            return Ok(if typed.ty.bits() == 32 { Ty::U32 } else { Ty::U64 });
        }
        Ok(if self.lowering.module.listing.address_bits == 64 { Ty::U64 } else { Ty::U32 })
    }

    /// The address of a variable as a value of type `ty`.
    pub fn address_value(&mut self, binding: Binding, of: AddressOf, ty: Ty, span: Span) -> Outcome<Read> {
        if ty.is_float() || !matches!(ty.bits(), 32 | 64) {
            let message = format!("the address `{}` where a value of type .{ty} belongs", self.text(span));
            return Err(Problem::new(span, message));
        }
        let words: Vec<_> = match binding {
            Binding::Offset { offset, .. } => {
                let value = (offset as i64).wrapping_add(of.addend) as u64;
                return self.literal(Number::Unsigned(value), ty, span);
            }
            Binding::Variable { name, .. } => {
                let name = self.text(name);
                let constant = |word| Constant::Variable { name: name.to_owned(), addend: of.addend, word };
                (0..ty.slots()).map(|word| constant(word as u8)).collect()
            }
            Binding::Function(index) => {
                return self.literal(Number::Unsigned(function_address(index)), ty, span);
            }
            Binding::Param { .. } => {
                let message = format!("the address of the function parameter `{}`", self.text(of.name.span));
                return Err(Problem::new(span, message)
                    .help("parameters of functions are held in registers and have no address"));
            }
            _ => {
                let message = format!("`{}` is not a value of type .{ty}", self.text(span));
                return Err(Problem::new(span, message));
            }
        };
        Ok(Read::Constant(self.lowering.code.constants.index(&words, span)?))
    }
}
