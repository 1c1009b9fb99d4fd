//! `mov` in all its meanings: registers, literals, addresses, special registers, vectors joined and split, predicates.

use super::code::{Read, Step, bits_type};
use super::function::Function;
use super::instruction::mov_op;
use super::operand::Fit;
use super::special::SpecialRegister;
use crate::isa::{Alu, AluKind, Op, Ty};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::Opcode;

impl Function<'_, '_> {
    pub fn mov(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        let [to, from] = operands else {
            let message = format!("`mov` with {} operands, expected 2", operands.len());
            return Err(Problem::new(self.span, message));
        };
        if opcode.ty() == Ty::Pred {
            return self.mov_predicate(to, from);
        }
        if opcode.memory.lanes > 1 {
            return self.mov_vector(opcode, to, from);
        }
        match (&to.kind, &from.kind) {
            (OperandKind::Vector(parts), _) if parts.len() > 1 => self.unpack(opcode, parts, from),
            (_, OperandKind::Vector(parts)) if parts.len() > 1 => self.pack(opcode, to, parts),
            _ => self.mov_value(opcode, to, from),
        }
    }

    fn mov_predicate(&mut self, to: &Operand, from: &Operand) -> Outcome<()> {
        let op = Alu { kind: AluKind::PredMov, ty: Ty::Pred, from: Ty::Pred, mods: Default::default() };
        let mut step = self.step(Op::Alu(op));
        step.pdst[0] = self.predicate_destination(to)?;
        step.pa = self.predicate_source(from)?;
        self.push(step);
        Ok(())
    }

    fn mov_value(&mut self, opcode: &Opcode, to: &Operand, from: &Operand) -> Outcome<()> {
        let ty = opcode.ty();
        let written = self.destination(to, ty, Fit::Exact)?.map(|(write, _)| write);
        let mut step = self.step(mov_op(bits_type(ty.bits())));
        step.dst[0] = written;
        // A special register read by `mov` needs no second instruction.
        if let OperandKind::Name { name, component, .. } = &from.kind
            && self.lookup(*name).is_none()
            && let SpecialRegister::Varying(special, words) = self.special(*name, *component)?
        {
            if ty.slots() != words {
                let message =
                    format!("`{}` has {} bits where .{ty} needs {}", self.text(from.span), 32 * words, ty.bits());
                return Err(Problem::new(from.span, message));
            }
            self.push(Step { op: Op::Special(special), ..step });
            return Ok(());
        }
        step.src[0] = self.source(from, ty, Fit::Exact)?;
        self.push(step);
        Ok(())
    }

    /// `mov.v2.f32 u, v`: the elements meet in one register, since results may be sources too.
    fn mov_vector(&mut self, opcode: &Opcode, to: &Operand, from: &Operand) -> Outcome<()> {
        let (ty, lanes) = (opcode.ty(), u32::from(opcode.memory.lanes));
        let bits = ty.bits() * lanes;
        if bits > 128 {
            return Err(
                Problem::new(self.span, format!("a move of {bits} bits")).help("at most 128 bits are moved at once")
            );
        }
        let part = bits_type(ty.bits());
        let register = self.lowering.code.register(bits.div_ceil(32) as u16, self.index);
        let mut join = self.step(pack_op(AluKind::Pack, bits, part));
        join.dst[0] = Some(self.lowering.code.whole(register));
        for (place, operand) in join.src.iter_mut().zip(self.elements(opcode, from)?) {
            *place = self.source(&operand, ty, Fit::Exact)?;
        }
        self.push(join);
        let mut split = self.step(pack_op(AluKind::Unpack, bits, part));
        split.src[0] = Read::register(register);
        for (place, operand) in split.dst.iter_mut().zip(self.elements(opcode, to)?) {
            *place = self.destination(&operand, ty, Fit::Exact)?.map(|(write, _)| write);
        }
        self.push(split);
        Ok(())
    }

    /// `mov.b64 d, {a, b}`.
    fn pack(&mut self, opcode: &Opcode, to: &Operand, parts: &[Operand]) -> Outcome<()> {
        let ty = opcode.ty();
        let part = self.part_type(ty, parts)?;
        let written = self.destination(to, ty, Fit::Exact)?;
        let mut step = self.step(pack_op(AluKind::Pack, ty.bits(), part));
        step.dst[0] = written.map(|(write, _)| write);
        for (place, operand) in step.src.iter_mut().zip(parts) {
            *place = self.source(operand, part, Fit::Exact)?;
        }
        self.push(step);
        Ok(())
    }

    /// `mov.b64 {a, b}, d`.
    fn unpack(&mut self, opcode: &Opcode, parts: &[Operand], from: &Operand) -> Outcome<()> {
        let ty = opcode.ty();
        let part = self.part_type(ty, parts)?;
        let source = self.source(from, ty, Fit::Exact)?;
        let mut step = self.step(pack_op(AluKind::Unpack, ty.bits(), part));
        step.src[0] = source;
        for (place, operand) in step.dst.iter_mut().zip(parts) {
            *place = self.destination(operand, part, Fit::Exact)?.map(|(write, _)| write);
        }
        self.push(step);
        Ok(())
    }

    fn part_type(&self, ty: Ty, parts: &[Operand]) -> Outcome<Ty> {
        let bits = ty.bits() / parts.len() as u32;
        let whole = matches!(parts.len(), 2 | 4) && bits >= 8;
        if whole {
            return Ok(bits_type(bits));
        }
        let message = format!("a vector of {} where .{ty} is split", parts.len());
        Err(Problem::new(self.span, message).help("a vector of 2 or 4 elements of at least 8 bits"))
    }
}

/// Joins or splits: `bits` in all, in parts of type `part`.
pub(super) fn pack_op(kind: AluKind, bits: u32, part: Ty) -> Op {
    Op::Alu(Alu { kind, ty: bits_type(bits), from: part, mods: Default::default() })
}
