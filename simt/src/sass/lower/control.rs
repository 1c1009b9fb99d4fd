//! Branches, convergence barriers, block barriers, fences.

use super::place::BARRIER_RESULT;
use super::{Lowered, Lowering, Operand, Parts, first, operand, predicates_from};
use crate::isa::{Alu, AluKind, BarrierKind, BarrierReduce, Instr, Mods, Op, PredOperand, PredSrc, Scope, Src, Ty};

impl Lowering<'_> {
    pub(super) fn control(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        Some(match parts.base {
            "BRA" => self.branch(parts),
            "CALL" => self.call(parts),
            "RET" => self.jump_by_register(parts, false),
            "BRX" => self.jump_by_register(parts, true),
            "EXIT" => Ok(Instr::new(Op::Exit)),
            "BPT" => {
                parts.modifiers.ignore(&["TRAP", "INT"]);
                Ok(Instr::new(Op::Trap))
            }
            "BSSY" => self.set_barrier(parts),
            "BSYNC" | "WARPSYNC" => self.synchronise(parts),
            "BREAK" => self.leave_barrier(parts),
            "BMOV" => self.move_barrier(parts),
            "BAR" => self.block_barrier(parts),
            "B2R" => self.barrier_result(parts),
            "MEMBAR" | "FENCE" => self.fence(parts),
            "NANOSLEEP" => {
                let (src, _) = match self.source(parts, parts.operands.len().saturating_sub(1), 1) {
                    Ok(source) => source,
                    Err(problem) => return Some(Err(problem)),
                };
                let mut instr = Instr::new(Op::Sleep);
                instr.src[0] = src;
                Ok(instr)
            }
            // They order or hint at what the machine does in order anyway.
            "NOP" | "YIELD" | "DEPBAR" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "ENDCOLLECTIVE" | "PMTRIG" | "LDGDEPBAR"
            | "ACQBULK" => {
                parts.modifiers.ignore(&["LE", "IVALL", "CTL", "C", "D", "IVALLP"]);
                Ok(Instr::new(Op::Nop))
            }
            _ => return None,
        })
    }

    /// `BRA label`, `BRA P, label`, `BRA.U UP, label`, `BRA.DIV UR, label`.
    fn branch(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["U"]);
        let target = self.target(parts.operands.last().ok_or("a target is missing")?)?;
        if let Some(all) = parts.modifiers.pick(&[("DIV", false), ("CONV", true)]) {
            let mut instr = Instr::new(Op::BranchMembers { target, all });
            instr.src[0] = self.source(parts, 0, 1)?.0;
            return Ok(instr);
        }
        match predicates_from(parts, 0) {
            0 => Ok(Instr::new(Op::Branch { target, reconverge: None })),
            _ => {
                let psrc = self.predicate(first(parts)?)?;
                Ok(Instr { psrc, ..Instr::new(Op::BranchIf { target }) })
            }
        }
    }

    /// The return address was put into a register before, so the call itself is a jump.
    fn call(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["REL", "NOINC"]);
        let target = self.target(parts.operands.last().ok_or("a target is missing")?)?;
        Ok(Instr::new(Op::Branch { target, reconverge: None }))
    }

    /// `RET R2 label`: to byte R2 of what the label names. `BRX R2 offset`: as far behind this instruction.
    fn jump_by_register(&mut self, parts: &Parts<'_>, relative: bool) -> Lowered {
        parts.modifiers.ignore(&["REL", "NODEC"]);
        let base = match (relative, operand(parts, 1)?) {
            (true, Operand::Integer(offset)) => (i64::from(parts.address) + 16).wrapping_add(*offset),
            (false, label) => 16 * i64::from(self.target(label)?),
            (true, other) => return Err(format!("an offset was expected, and {other:?} is there")),
        };
        let mut instr = Instr::new(Op::BranchRegister { base });
        instr.src[0] = self.source(parts, 0, 1)?.0;
        Ok(instr)
    }

    /// The barrier's mask is the active lanes.
    fn set_barrier(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["RECONVERGENT", "RELIABLE"]);
        self.with_result(parts, Instr::new(Op::ActiveMask))
    }

    /// `BSYNC B`, `WARPSYNC mask`, `WARPSYNC.ALL`.
    fn synchronise(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["RECONVERGENT", "RELIABLE"]);
        let op = match parts.modifiers.pick(&[("EXCLUSIVE", Op::Separate), ("COLLECTIVE", Op::Separate)]) {
            _ if parts.base == "BSYNC" => Op::Meet,
            Some(separate) => separate,
            None => Op::WarpSync,
        };
        let mut instr = Instr::new(op);
        instr.src[0] = match parts.operands.first() {
            Some(Operand::Barrier(number)) => Src::slot(self.layout.barrier(*number)?),
            _ if parts.modifiers.has("ALL") => self.literal(u32::MAX.into(), 1)?,
            _ => self.source(parts, 0, 1)?.0,
        };
        Ok(instr)
    }

    fn leave_barrier(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["RELIABLE"]);
        let at = predicates_from(parts, 0);
        let Operand::Barrier(number) = operand(parts, at)? else {
            return Err("a convergence barrier was expected".to_owned());
        };
        let mut instr = Instr::new(Op::Break);
        instr.src[0] = Src::slot(self.layout.barrier(*number)?);
        if at > 0 {
            instr.psrc = self.predicate(first(parts)?)?;
        }
        Ok(instr)
    }

    /// Between convergence barriers and registers.
    fn move_barrier(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["32", "CLEAR", "PQUAD"]);
        let ty = Ty::B32;
        let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::Mov, ty, from: ty, mods: Mods::default() }));
        instr.src[0] = match operand(parts, 1)? {
            Operand::Barrier(number) => Src::slot(self.layout.barrier(*number)?),
            _ => self.source(parts, 1, 1)?.0,
        };
        self.with_result(parts, instr)
    }

    /// `BAR.SYNC number [, threads]`, `BAR.ARV number, threads`, `BAR.RED.op number [, threads], P`.
    fn block_barrier(&mut self, parts: &Parts<'_>) -> Lowered {
        let modifiers = &parts.modifiers;
        modifiers.ignore(&["DEFER_BLOCKING", "ALIGNED"]);
        let reduce =
            modifiers.pick(&[("POPC", BarrierReduce::Popc), ("AND", BarrierReduce::And), ("OR", BarrierReduce::Or)]);
        let kind = match (modifiers.pick(&[("SYNC", 0), ("ARV", 1), ("RED", 2)]), reduce) {
            (Some(0), None) => BarrierKind::Sync,
            (Some(1), None) => BarrierKind::Arrive,
            (Some(2), Some(reduce)) => BarrierKind::Reduce(reduce),
            _ => return Err("a barrier that the machine does not know".to_owned()),
        };
        let mut instr = Instr::new(Op::Barrier(kind));
        instr.src[0] = self.source(parts, 0, 1)?.0;
        let mut at = 1;
        if parts.operands.get(1).is_some_and(|operand| !matches!(operand, Operand::Predicate { .. })) {
            instr.src[1] = self.source(parts, 1, 1)?.0;
            at = 2;
        }
        match kind {
            BarrierKind::Reduce(BarrierReduce::Popc) => instr.dst[0] = Some(self.layout.barrier_count()),
            BarrierKind::Reduce(_) => instr.pdst[0] = Some(BARRIER_RESULT),
            _ => return Ok(instr),
        }
        instr.psrc = self.predicate(operand(parts, at)?)?;
        Ok(instr)
    }

    /// `B2R.RESULT R [, P]`: what the last BAR.RED found.
    fn barrier_result(&mut self, parts: &Parts<'_>) -> Lowered {
        if !parts.modifiers.has("RESULT") {
            return Err("only B2R.RESULT is known".to_owned());
        }
        let ty = Ty::B32;
        match parts.operands.get(1) {
            Some(predicate) => {
                let mods = Mods { pa: PredOperand(PredSrc::is(BARRIER_RESULT)), ..Mods::default() };
                let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::PredMov, ty: Ty::Pred, from: Ty::Pred, mods }));
                if self.result(first(parts)?)?.is_some() {
                    return Err("a count and a predicate of one barrier".to_owned());
                }
                instr.pdst[0] = self.result_predicate(predicate)?;
                Ok(instr)
            }
            None => {
                let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::Mov, ty, from: ty, mods: Mods::default() }));
                instr.src[0] = Src::slot(self.layout.barrier_count());
                self.with_result(parts, instr)
            }
        }
    }

    fn fence(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["SC", "ALL", "VIEW", "ASYNC"]);
        let scopes = [("CTA", Scope::Block), ("GPU", Scope::Gpu), ("SYS", Scope::System), ("VC", Scope::Gpu)];
        Ok(Instr::new(Op::Fence(parts.modifiers.pick(&scopes).unwrap_or_default())))
    }
}
