//! Operands to the fields of a [`Step`], as the form's roles say.

use super::code::{PredRead, Read, Step};
use super::function::Function;
use super::operand::Fit;
use crate::isa::{Op, Ty};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::error::Outcome;
use crate::ptx::opcode::{Action, Opcode, Role, TypeOf};

impl Function<'_, '_> {
    /// A step with all operands in place but addresses, which the memory instructions take.
    pub fn bind_operands(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<Step> {
        let mut bound = Bound { step: self.step(Op::Nop), sources: 0, predicates: 0 };
        for (role, operand) in opcode.arity.roles.iter().zip(operands) {
            self.bind_operand(&mut bound, opcode, *role, operand)?;
        }
        Ok(bound.step)
    }

    fn bind_operand(&mut self, bound: &mut Bound, opcode: &Opcode, role: Role, operand: &Operand) -> Outcome<()> {
        match role {
            Role::Dst(ty) => {
                let written = self.destination(operand, type_of(opcode, ty), Fit::Exact)?;
                bound.step.dst[0] = written.map(|(write, _)| write);
            }
            Role::PredDst => bound.step.pdst[0] = self.predicate_destination(operand)?,
            Role::PredDstPair => match &operand.kind {
                OperandKind::Pair(pair) => {
                    bound.step.pdst = [self.predicate_destination(&pair[0])?, self.predicate_destination(&pair[1])?];
                }
                _ => bound.step.pdst[0] = self.predicate_destination(operand)?,
            },
            Role::DstAndPred(ty) => {
                let value = match &operand.kind {
                    OperandKind::Pair(pair) => {
                        bound.step.pdst[0] = self.predicate_destination(&pair[1])?;
                        &pair[0]
                    }
                    _ => operand,
                };
                let written = self.destination(value, type_of(opcode, ty), Fit::Exact)?;
                bound.step.dst[0] = written.map(|(write, _)| write);
            }
            Role::Src(ty) => {
                let read = self.source(operand, type_of(opcode, ty), Fit::Exact)?;
                bound.source(read);
            }
            Role::Policy => _ = self.source(operand, Ty::B64, Fit::Exact)?,
            Role::PredSrc => {
                let read = self.predicate_source(operand)?;
                bound.predicate(read, opcode);
            }
            Role::Constant => _ = self.constant(operand)?,
            // These are bound by the memory instructions.
            Role::DstVector | Role::SrcVector | Role::Address => {}
        }
        Ok(())
    }
}

struct Bound {
    step: Step,
    sources: usize,
    predicates: usize,
}

impl Bound {
    fn source(&mut self, read: Read) {
        if let Some(place) = self.step.src.get_mut(self.sources) {
            *place = read;
        }
        self.sources += 1;
    }

    /// Logic has two predicate sources, everything else one.
    fn predicate(&mut self, read: PredRead, opcode: &Opcode) {
        let is_logic = matches!(opcode.action(), Action::Logic(_));
        match is_logic && self.predicates == 0 {
            true => self.step.pa = read,
            false => self.step.psrc = read,
        }
        self.predicates += 1;
    }
}

fn type_of(opcode: &Opcode, which: TypeOf) -> Ty {
    match which {
        TypeOf::First => opcode.ty(),
        TypeOf::Second => opcode.second(),
        TypeOf::Wide if opcode.ty().bits() == 16 => Ty::B32,
        TypeOf::Wide => Ty::B64,
        TypeOf::Is(ty) => ty,
    }
}
