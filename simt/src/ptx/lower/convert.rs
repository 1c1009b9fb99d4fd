//! `cvt`, `cvta` and `isspacep`.

use super::code::{Read, Register, Step, Write};
use super::function::Function;
use super::instruction::alu;
use super::operand::Fit;
use crate::isa::{Alu, AluKind, Mods, Op, Ty};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::Opcode;

impl Function<'_, '_> {
    /// One-operand conversions take registers wider than their types, and extend a narrower result to the register.
    pub fn cvt(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        if !opcode.arity.roles.is_empty() {
            let step = self.bind_operands(opcode, operands)?;
            self.push(Step { op: Op::Alu(alu(opcode, AluKind::Cvt)), ..step });
            return Ok(());
        }
        let [to, from] = operands else {
            let message = format!("`cvt` with {} operands, expected 2", operands.len());
            return Err(Problem::new(self.span, message));
        };
        let (ty, source_ty) = (opcode.ty(), opcode.second());
        let source = self.source(from, source_ty, Fit::AtLeast)?;
        let written = self.destination(to, ty, Fit::AtLeast)?;
        let mut op = alu(opcode, AluKind::Cvt);
        let mut step = self.step(Op::Nop);
        step.src[0] = source;
        let Some((write, register_ty)) = written.filter(|(_, register_ty)| register_ty.bits() > ty.bits()) else {
            step.dst[0] = written.map(|(write, _)| write);
            self.push(Step { op: Op::Alu(op), ..step });
            return Ok(());
        };
        if let Some(direct) = extending(ty, source_ty, register_ty, &op.mods) {
            (op.ty, op.from) = direct;
            step.dst[0] = Some(write);
            self.push(Step { op: Op::Alu(op), ..step });
            return Ok(());
        }
        let register = self.lowering.code.register(ty.slots(), self.index);
        step.dst[0] = Some(self.lowering.code.whole(register));
        self.push(Step { op: Op::Alu(op), ..step });
        self.extend(register, ty, write, register_ty);
        Ok(())
    }

    /// Extends a value of type `ty` to a wider register.
    pub fn extend(&mut self, register: Register, ty: Ty, to: Write, to_ty: Ty) {
        let op = Alu {
            kind: AluKind::Cvt,
            ty: integer(to_ty.bits(), ty.is_signed()),
            from: as_integer(ty),
            mods: Mods::default(),
        };
        let mut step = self.step(Op::Alu(op));
        step.src[0] = Read::register(register);
        step.dst[0] = Some(to);
        self.push(step);
    }

    pub fn cvta(&mut self, opcode: &Opcode, instruction: &Instruction) -> Outcome<()> {
        let kind = if opcode.has("to") { AluKind::CvtaTo } else { AluKind::CvtaFrom };
        let op = Alu { kind, ty: opcode.ty(), from: opcode.ty(), mods: opcode.mods };
        let step = self.bind_operands(opcode, &instruction.operands)?;
        self.push(Step { op: Op::Alu(op), ..step });
        Ok(())
    }

    pub fn is_space(&mut self, opcode: &Opcode, operands: &[Operand]) -> Outcome<()> {
        let [to, from] = operands else {
            let message = format!("`isspacep` with {} operands, expected 2", operands.len());
            return Err(Problem::new(self.span, message));
        };
        let ty = self.address_type(from)?;
        let op = Alu { kind: AluKind::IsSpace, ty, from: ty, mods: opcode.mods };
        let mut step = self.step(Op::Alu(op));
        step.pdst[0] = self.predicate_destination(to)?;
        step.src[0] = self.source(from, ty, Fit::Exact)?;
        self.push(step);
        Ok(())
    }
}

/// Types of one integer conversion that also extends its result to the register, where there is one.
///
/// `cvt.s8.s32 %r1, %r2` leaves the low byte, extended: that is `cvt.s32.s8`. `cvt.u16.u8` into 32 bits is `cvt.u32.u8`.
fn extending(ty: Ty, from: Ty, register: Ty, mods: &Mods) -> Option<(Ty, Ty)> {
    if ty.is_float() || from.is_float() || mods.sat {
        return None;
    }
    let wide = integer(register.bits(), ty.is_signed());
    if from.bits() >= ty.bits() {
        return Some((wide, ty));
    }
    (ty.is_signed() || !from.is_signed()).then_some((wide, from))
}

pub(super) fn integer(bits: u32, signed: bool) -> Ty {
    match (bits, signed) {
        (8, false) => Ty::U8,
        (8, true) => Ty::S8,
        (16, false) => Ty::U16,
        (16, true) => Ty::S16,
        (32, false) => Ty::U32,
        (32, true) => Ty::S32,
        (_, false) => Ty::U64,
        (_, true) => Ty::S64,
    }
}

pub(super) fn as_integer(ty: Ty) -> Ty {
    integer(ty.bits(), ty.is_signed())
}
