//! One instruction of the text: its opcode checked, its operation chosen.

use std::sync::Arc;

use super::code::{PredRead, Predicate, Step};
use super::function::Function;
use crate::isa::{Alu, AluKind, BarrierKind, Op, Ty};
use crate::ptx::ast::{Instruction, Number};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::{Action, Opcode, check};

impl<'m> Function<'_, 'm> {
    pub fn instruction(&mut self, instruction: &'m Instruction) -> Outcome<()> {
        self.span = instruction.span;
        let opcode = self.opcode(instruction)?;
        let first = self.lowering.code.steps.len();
        self.lower(&opcode, instruction)?;
        let Some(guard) = instruction.guard else { return Ok(()) };
        let guard = PredRead { predicate: self.predicate(guard.name)?, negate: guard.negate };
        for step in &mut self.lowering.code.steps[first..] {
            step.guard = guard;
        }
        Ok(())
    }

    fn opcode(&mut self, instruction: &'m Instruction) -> Outcome<Arc<Opcode>> {
        let text = self.text(instruction.opcode);
        let key = (text, instruction.operands.len());
        if let Some(opcode) = self.lowering.opcodes.get(&key) {
            return Ok(opcode.clone());
        }
        let opcode = Arc::new(check(text, instruction.opcode, instruction.operands.len())?);
        self.lowering.opcodes.insert(key, opcode.clone());
        Ok(opcode)
    }

    fn lower(&mut self, opcode: &Opcode, instruction: &Instruction) -> Outcome<()> {
        let operands = &instruction.operands;
        match opcode.action() {
            Action::Alu(kind) => self.alu(opcode, kind, instruction),
            Action::Logic(kind) => self.simple(opcode, instruction, alu_op(opcode, kind)),
            Action::Set => self.set(opcode, instruction),
            Action::Lop3 => self.lop3(opcode, instruction),
            Action::Mov => self.mov(opcode, operands),
            Action::Cvt => self.cvt(opcode, operands),
            Action::Cvta => self.cvta(opcode, instruction),
            Action::IsSpace => self.is_space(opcode, operands),
            Action::Load => self.load(opcode, operands),
            Action::Store => self.store(opcode, operands),
            Action::Atomic | Action::Reduce => self.atomic(opcode, operands),
            Action::Branch => self.branch(operands),
            Action::BranchIndexed => self.branch_indexed(operands),
            Action::Call => self.call(operands),
            Action::Return if self.is_entry() => self.simple(opcode, instruction, Op::Exit),
            Action::Return => self.simple(opcode, instruction, Op::Return),
            Action::Exit => self.simple(opcode, instruction, Op::Exit),
            Action::Trap => self.simple(opcode, instruction, Op::Trap),
            Action::Barrier => self.barrier(opcode, operands, BarrierKind::Sync),
            Action::BarrierArrive => self.barrier(opcode, operands, BarrierKind::Arrive),
            Action::BarrierReduce => self.barrier(opcode, operands, BarrierKind::Reduce(opcode.reduce)),
            Action::WarpSync => self.simple(opcode, instruction, Op::WarpSync),
            Action::Fence => self.simple(opcode, instruction, Op::Fence(opcode.memory.scope)),
            Action::Shuffle => self.simple(opcode, instruction, Op::Shuffle(opcode.shuffle)),
            Action::Vote => self.simple(opcode, instruction, Op::Vote(opcode.vote)),
            Action::Match => {
                let op = Op::Match { all: opcode.has("all"), bits: opcode.ty().bits() as u8 };
                self.simple(opcode, instruction, op)
            }
            Action::Redux => self.simple(opcode, instruction, Op::Redux(opcode.atomic, opcode.ty())),
            Action::ActiveMask => self.simple(opcode, instruction, Op::ActiveMask),
            Action::Elect => self.simple(opcode, instruction, Op::Elect),
            Action::Sleep => self.simple(opcode, instruction, Op::Sleep),
            Action::Nothing => self.nothing(),
            Action::Policy => self.policy(opcode, instruction),
            Action::Unsupported => Err(self.unsupported(instruction)),
        }
    }

    /// An instruction whose operands are those of its form, and whose operation is `op`.
    fn simple(&mut self, opcode: &Opcode, instruction: &Instruction, op: Op) -> Outcome<()> {
        let step = self.bind_operands(opcode, &instruction.operands)?;
        self.push(Step { op, ..step });
        Ok(())
    }

    fn alu(&mut self, opcode: &Opcode, kind: AluKind, instruction: &Instruction) -> Outcome<()> {
        let mut step = self.bind_operands(opcode, &instruction.operands)?;
        let mut op = alu(opcode, kind);
        if matches!(opcode.form.base, "addc" | "subc" | "madc") {
            op.mods.carry_in = true;
            step.psrc = PredRead::is(self.carry());
        }
        if op.mods.carry_out {
            step.pdst[0] = Some(self.carry());
        }
        self.push(Step { op: Op::Alu(op), ..step });
        Ok(())
    }

    /// The function's carry flag.
    fn carry(&mut self) -> Predicate {
        match self.carry {
            Some(carry) => carry,
            None => {
                let carry = self.lowering.code.predicate(self.index);
                self.carry = Some(carry);
                carry
            }
        }
    }

    /// `set`: the first type is that of the result, the second that of the operands.
    fn set(&mut self, opcode: &Opcode, instruction: &Instruction) -> Outcome<()> {
        let op = Alu { kind: AluKind::Set, ty: opcode.second(), from: opcode.ty(), mods: opcode.mods };
        self.simple(opcode, instruction, Op::Alu(op))
    }

    fn lop3(&mut self, opcode: &Opcode, instruction: &Instruction) -> Outcome<()> {
        let mut op = alu(opcode, AluKind::Lop3);
        let table = &instruction.operands[4];
        let lut = self.constant(table)?;
        op.mods.lut = u8::try_from(lut)
            .map_err(|_| Problem::new(table.span, format!("a truth table of {lut}")).help("expected 0 to 255"))?;
        self.simple(opcode, instruction, Op::Alu(op))
    }

    fn nothing(&mut self) -> Outcome<()> {
        let step = self.step(Op::Nop);
        self.push(step);
        Ok(())
    }

    fn policy(&mut self, opcode: &Opcode, instruction: &Instruction) -> Outcome<()> {
        let mut step = self.bind_operands(opcode, &instruction.operands)?;
        step.src[0] = self.literal(Number::Signed(0), Ty::B64, self.span)?;
        step.op = mov_op(Ty::B64);
        self.push(step);
        Ok(())
    }

    fn unsupported(&self, instruction: &Instruction) -> Problem {
        let text = self.text(instruction.opcode);
        Problem::new(instruction.opcode, format!("`{text}` is not executed by the machine"))
            .help("other entries of the module can still run")
            .unsupported()
    }
}

/// The lane-wise operation of an opcode with its types and modifiers.
pub(super) fn alu(opcode: &Opcode, kind: AluKind) -> Alu {
    Alu { kind, ty: opcode.ty(), from: opcode.second(), mods: opcode.mods }
}

fn alu_op(opcode: &Opcode, kind: AluKind) -> Op {
    Op::Alu(alu(opcode, kind))
}

/// A plain move of bits.
pub(super) fn mov_op(ty: Ty) -> Op {
    Op::Alu(Alu { kind: AluKind::Mov, ty, from: ty, mods: Default::default() })
}
