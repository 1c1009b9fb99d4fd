//! Branches and barriers.

use super::code::Step;
use super::function::Function;
use super::operand::Fit;
use super::scope::Binding;
use crate::isa::{BarrierKind, Op, Ty};
use crate::ptx::ast::{Name, Number, Operand, OperandKind};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::Opcode;

/// Numbered barriers of a block.
const BARRIERS: i64 = 16;

impl Function<'_, '_> {
    pub fn branch(&mut self, operands: &[Operand]) -> Outcome<()> {
        let [operand] = operands else { return Err(self.wants_label("bra", operands.len())) };
        let label = self.label(self.label_name(operand)?)?;
        let mut step = self.step(Op::Branch { target: 0, reconverge: None });
        step.label = Some(label);
        self.push(step);
        Ok(())
    }

    fn wants_label(&self, base: &str, count: usize) -> Problem {
        Problem::new(self.span, format!("`{base}` with {count} operands")).help("expected one label")
    }

    fn label_name(&self, operand: &Operand) -> Outcome<Name> {
        match operand.kind {
            OperandKind::Name { name, component: None, addend: 0 } => Ok(name),
            _ => Err(self.not_a(operand, "a label")),
        }
    }

    pub fn branch_indexed(&mut self, operands: &[Operand]) -> Outcome<()> {
        let [index, table] = operands else {
            let message = format!("`brx.idx` with {} operands", operands.len());
            return Err(Problem::new(self.span, message).help("expected an index and the label of a `.branchtargets`"));
        };
        let name = self.label_name(table)?;
        let Binding::Table(table) = self.resolve(name)? else {
            return Err(self.not_a(table, "the label of a `.branchtargets`"));
        };
        let mut step = self.step(Op::BranchIndexed { table, reconverge: None });
        step.src[0] = self.source(index, Ty::U32, Fit::Exact)?;
        self.push(step);
        Ok(())
    }

    pub fn barrier(&mut self, opcode: &Opcode, operands: &[Operand], kind: BarrierKind) -> Outcome<()> {
        let step = self.bind_operands(opcode, operands)?;
        let number = &operands[usize::from(matches!(kind, BarrierKind::Reduce(_)))];
        let used = match number.kind {
            OperandKind::Number(Number::Signed(barrier)) if (0..BARRIERS).contains(&barrier) => barrier + 1,
            OperandKind::Number(_) => {
                let message = format!("barrier {}", self.text(number.span));
                return Err(Problem::new(number.span, message).help("barriers are numbered 0 to 15"));
            }
            _ => BARRIERS,
        };
        self.lowering.barrier_count = self.lowering.barrier_count.max(used as u32);
        self.push(Step { op: Op::Barrier(kind), ..step });
        Ok(())
    }
}
