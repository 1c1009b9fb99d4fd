//! Loads, stores and atomics.

use super::address::{Address, AddressOf};
use super::code::{Register, Step, Write};
use super::function::Function;
use super::operand::Fit;
use super::scope::Binding;
use crate::isa::{Access, Op, Space, Ty};
use crate::ptx::ast::{Component, Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::{Action, Opcode};

/// A load's result in a register wider than it: the value as loaded, and the register.
struct Extension {
    loaded: Register,
    to: Write,
    to_ty: Ty,
}

impl Function<'_, '_> {
    pub fn load(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        let address = self.address(&operands[1])?;
        if opcode.memory.space == Space::Param
            && let Address::Variable(binding, of) = address
        {
            return self.load_param(opcode, &operands[0], binding, of);
        }
        let mut step = self.step(Op::Nop);
        let extensions = self.load_results(&mut step, opcode, &operands[0])?;
        let access = self.access(&mut step, opcode, address)?;
        self.push(Step { op: Op::Load(access), ..step });
        for Extension { loaded, to, to_ty } in extensions {
            self.extend(loaded, opcode.ty(), to, to_ty);
        }
        Ok(())
    }

    /// Puts the registers of a load in place. A narrow element fills its 32-bit register by itself; a 64-bit register needs more.
    fn load_results(&mut self, step: &mut Step, opcode: &Opcode, operand: &Operand) -> Outcome<Vec<Extension>> {
        let mut extensions = Vec::new();
        for (at, element) in self.elements(opcode, operand)?.into_iter().enumerate() {
            let Some((to, to_ty)) = self.destination(&element, opcode.ty(), Fit::AtLeast)? else { continue };
            step.dst[at] = Some(to);
            if to_ty.slots() > opcode.ty().slots() {
                let loaded = self.lowering.code.register(opcode.ty().slots(), self.index);
                step.dst[at] = Some(self.lowering.code.whole(loaded));
                extensions.push(Extension { loaded, to, to_ty });
            }
        }
        Ok(extensions)
    }

    pub fn store(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        let address = self.address(&operands[0])?;
        if opcode.memory.space == Space::Param {
            return match address {
                Address::Variable(binding, of) => self.store_param(opcode, &operands[1], binding, of),
                _ => Err(self.not_a(&operands[0], "the name of a parameter")),
            };
        }
        let mut step = self.step(Op::Nop);
        for (at, element) in self.elements(opcode, &operands[1])?.into_iter().enumerate() {
            step.src[at] = self.source(&element, opcode.ty(), Fit::AtLeast)?;
        }
        let access = self.access(&mut step, opcode, address)?;
        if access.space == Space::Const {
            return Err(self.not_a(&operands[0], "memory that can be written"));
        }
        self.push(Step { op: Op::Store(access), ..step });
        Ok(())
    }

    pub fn atomic(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        let at = usize::from(opcode.action() == Action::Atomic);
        let address = self.address(&operands[at])?;
        let mut step = self.bind_operands(opcode, operands)?;
        let access = self.access(&mut step, opcode, address)?;
        self.push(Step { op: Op::Atomic(opcode.atomic, access), ..step });
        Ok(())
    }

    /// Puts the address in place, and says what is accessed.
    fn access(&mut self, step: &mut Step, opcode: &Opcode, address: Address) -> Outcome<Access> {
        let mut access = opcode.access(false);
        match address {
            Address::Register { base, offset, wide } => {
                (step.addr, step.offset, access.wide_address) = (base, offset, wide);
            }
            Address::Absolute(offset) => step.offset = offset,
            Address::Variable(binding, of) => {
                let space = match binding {
                    Binding::Offset { space, .. } | Binding::Variable { space, .. } => space,
                    _ => {
                        let text = self.text(of.name.span);
                        return Err(Problem::new(of.name.span, format!("`{text}` is not in memory")));
                    }
                };
                if access.space == Space::Generic {
                    // A name says which space it is in.
                    access.space = space;
                }
                if access.space != space {
                    let message = format!("`{}` is {}", self.text(of.name.span), space_phrase(space));
                    return Err(Problem::new(of.name.span, message)
                        .help(format!("the instruction accesses what is {}", space_phrase(access.space))));
                }
                match binding {
                    Binding::Offset { offset, .. } => step.offset = (offset as i64).wrapping_add(of.addend),
                    _ => {
                        step.offset = of.addend;
                        let of = AddressOf { addend: 0, ..of };
                        step.addr = self.address_value(binding, of, Ty::U64, of.name.span)?;
                        access.wide_address = true;
                    }
                }
            }
        }
        Ok(access)
    }

    /// The elements of a vector operand, as many as the opcode says; one operand stands for itself.
    pub fn elements(&mut self, opcode: &Opcode, operand: &Operand) -> Outcome<Vec<Operand>> {
        let lanes = usize::from(opcode.memory.lanes);
        if lanes > 4 {
            return Err(Problem::new(self.span, "vectors of 8 are not executed by the machine"));
        }
        match &operand.kind {
            OperandKind::Vector(items) if items.len() == lanes => Ok(items.clone()),
            OperandKind::Vector(items) => {
                let message = format!("a vector of {}, expected {lanes}", items.len());
                Err(Problem::new(operand.span, message))
            }
            _ if lanes == 1 => Ok(vec![operand.clone()]),
            OperandKind::Name { name, component: None, .. } => match self.resolve(*name)? {
                Binding::Vector { lanes: has, .. } if usize::from(has) == lanes => Ok(vector_elements(operand, lanes)),
                _ => Err(self.not_a(operand, &format!("a vector of {lanes}"))),
            },
            _ => Err(self.not_a(operand, &format!("a vector of {lanes}"))),
        }
    }
}

/// `v` as `v.x`, `v.y` …
fn vector_elements(operand: &Operand, lanes: usize) -> Vec<Operand> {
    let element = |lane: usize| {
        let mut element = operand.clone();
        if let OperandKind::Name { component, .. } = &mut element.kind {
            *component = Some(Component::Lane(lane as u8));
        }
        element
    };
    (0..lanes).map(element).collect()
}

fn space_phrase(space: Space) -> &'static str {
    match space {
        Space::Generic => "at a generic address",
        Space::Global => "in global memory",
        Space::Shared => "in shared memory",
        Space::Local => "in local memory",
        Space::Const => "in constant memory",
        Space::Param => "a parameter",
    }
}
