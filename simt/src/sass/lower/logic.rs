//! Moves, logic, shifts, bit counts, predicates.

use super::{Lowered, Lowering, Operand, Parts, expect_count, first, operand, predicates_from, with_pa};
use crate::isa::{Alu, AluKind, BoolOp, Half, Instr, Mods, Op, PredOperand, Prmt, Src, Ty};

impl Lowering<'_> {
    pub(super) fn logic(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        Some(match parts.base {
            "MOV" | "UMOV" | "R2UR" | "MOV32I" => self.mov(parts),
            "LOP3" | "ULOP3" => self.lop3(parts),
            "PLOP3" | "UPLOP3" => self.plop3(parts),
            "SHF" | "USHF" => self.shf(parts),
            "PRMT" | "UPRMT" => self.prmt(parts),
            "POPC" | "UPOPC" => self.plain(parts, AluKind::Popc, Ty::B32, Mods::default(), &[1]),
            "BREV" | "UBREV" => self.plain(parts, AluKind::Brev, Ty::B32, Mods::default(), &[1]),
            "FLO" | "UFLO" => self.flo(parts),
            "SGXT" | "USGXT" => self.extend(parts),
            "BMSK" | "UBMSK" => {
                let mods = Mods { wrap: parts.modifiers.has("W"), ..Mods::default() };
                self.plain(parts, AluKind::Bmsk, Ty::B32, mods, &[1, 1])
            }
            "P2R" => self.preds_to_reg(parts),
            "R2P" => self.reg_to_preds(parts),
            _ => return None,
        })
    }

    fn mov(&mut self, parts: &Parts<'_>) -> Lowered {
        if parts.base == "R2UR" && predicates_from(parts, 0) == 1 {
            return self.disagree(parts);
        }
        let ty = if parts.modifiers.has("64") { Ty::B64 } else { Ty::B32 };
        // An older MOV has a mask of bytes behind its source.
        if parts.operands.len() == 3 && parts.operands[2] != Operand::Integer(0xf) {
            return Err("a move of some bytes only".to_owned());
        }
        let instr = self.lanewise(parts, AluKind::Mov, ty, Mods::default(), 1, &[ty.slots()])?;
        self.with_result(parts, instr)
    }

    /// `R2UR P, URZ, R`: whether the active lanes do not agree on R, as its use before BRA.DIV tells.
    fn disagree(&mut self, parts: &Parts<'_>) -> Lowered {
        expect_count(parts, 3)?;
        if self.result(operand(parts, 1)?)?.is_some() {
            return Err("a move that says whether the lanes agree".to_owned());
        }
        let mut instr = Instr::new(Op::Match { all: true, bits: 32 });
        instr.src[0] = self.source(parts, 2, 1)?.0;
        instr.pdst[1] = self.result_predicate(first(parts)?)?;
        Ok(instr)
    }

    /// `[P,] R, a, b, c, table, Pin`.
    fn lop3(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["LUT"]);
        let bool_op = parts.modifiers.pick(&[("PAND", BoolOp::And)]).unwrap_or(BoolOp::Or);
        let outs = predicates_from(parts, 0);
        let lut = table(operand(parts, outs + 4)?)?;
        let mods = Mods { lut, bool_op: if outs > 0 { bool_op } else { BoolOp::None }, ..Mods::default() };
        let mut instr = self.lanewise(parts, AluKind::Lop3, Ty::B32, mods, outs + 1, &[1, 1, 1])?;
        instr.dst[0] = self.result(operand(parts, outs)?)?;
        if outs > 0 {
            instr.pdst[0] = self.result_predicate(first(parts)?)?;
            instr.psrc = self.predicate(operand(parts, outs + 5)?)?;
        }
        // A complemented source turns the table over.
        if let Op::Alu(alu) = &mut instr.op {
            for source in 0..3 {
                if alu.mods.invert >> source & 1 != 0 {
                    alu.mods.lut = turned(alu.mods.lut, source);
                }
            }
            alu.mods.invert = 0;
        }
        Ok(instr)
    }

    /// `P, P, a, b, c, table, table`.
    fn plop3(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["LUT"]);
        if matches!(operand(parts, 2)?, Operand::Register { .. }) {
            return self.sign_logic(parts);
        }
        expect_count(parts, 7)?;
        let mods = Mods {
            lut: table(operand(parts, 5)?)?,
            lut2: table(operand(parts, 6)?)?,
            pb: PredOperand(self.predicate(operand(parts, 4)?)?),
            ..Mods::default()
        };
        let mods = with_pa(mods, self.predicate(operand(parts, 2)?)?);
        let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::Plop3, ty: Ty::Pred, from: Ty::Pred, mods }));
        instr.psrc = self.predicate(operand(parts, 3)?)?;
        instr.pdst = [self.result_predicate(first(parts)?)?, self.result_predicate(operand(parts, 1)?)?];
        Ok(instr)
    }

    /// `P, P, R.SIGN, R.SIGN, R.SIGN, table, table`.
    fn sign_logic(&mut self, parts: &Parts<'_>) -> Lowered {
        expect_count(parts, 7)?;
        let mods = Mods { lut: table(operand(parts, 5)?)?, lut2: table(operand(parts, 6)?)?, ..Mods::default() };
        let alu = Alu { kind: AluKind::SignLogic, ty: Ty::B32, from: Ty::B32, mods };
        let mut instr = Instr::new(Op::Alu(alu));
        for source in 0..3 {
            instr.src[source] = match operand(parts, 2 + source)? {
                Operand::Register { register, changes, suffix }
                    if suffix == "SIGN" && *changes == Default::default() =>
                {
                    match self.slot(*register)? {
                        Some(slot) => Src::slot(slot),
                        None => self.literal(0, 1)?,
                    }
                }
                other => return Err(format!("the sign of a register was expected, and {other:?} is there")),
            };
        }
        instr.pdst = [self.result_predicate(first(parts)?)?, self.result_predicate(operand(parts, 1)?)?];
        Ok(instr)
    }

    /// `R, low, by, high`.
    fn shf(&mut self, parts: &Parts<'_>) -> Lowered {
        let left = parts.modifiers.pick(&[("L", true), ("R", false)]).ok_or("a direction is missing")?;
        let types = [("U64", Ty::U64), ("S64", Ty::S64), ("U32", Ty::U32), ("S32", Ty::S32)];
        let ty = parts.modifiers.pick(&types).unwrap_or(Ty::S64);
        let half = if parts.modifiers.has("HI") { Half::Hi } else { Half::Lo };
        let mods = Mods { left, half, wrap: parts.modifiers.has("W"), ..Mods::default() };
        self.plain(parts, AluKind::Shf, ty, mods, &[1, 1, 1])
    }

    /// `R, a, selector, b`.
    fn prmt(&mut self, parts: &Parts<'_>) -> Lowered {
        let modes = [
            ("F4E", Prmt::F4e),
            ("B4E", Prmt::B4e),
            ("RC8", Prmt::Rc8),
            ("ECL", Prmt::Ecl),
            ("ECR", Prmt::Ecr),
            ("RC16", Prmt::Rc16),
        ];
        let mods = Mods { prmt: parts.modifiers.pick(&modes).unwrap_or_default(), ..Mods::default() };
        let mut instr = self.plain(parts, AluKind::Prmt, Ty::B32, mods, &[1, 1, 1])?;
        instr.src.swap(1, 2);
        Ok(instr)
    }

    fn flo(&mut self, parts: &Parts<'_>) -> Lowered {
        let ty = parts.modifiers.word();
        let mods = Mods { shiftamt: parts.modifiers.has("SH"), ..Mods::default() };
        self.plain(parts, AluKind::Bfind, ty, mods, &[1])
    }

    /// `R, a, bits`: the low bits, extended by their sign or by zeros.
    fn extend(&mut self, parts: &Parts<'_>) -> Lowered {
        let ty = parts.modifiers.word();
        let mods = Mods { wrap: parts.modifiers.has("W"), ..Mods::default() };
        self.plain(parts, AluKind::Szext, ty, mods, &[1, 1])
    }

    /// `R, PR, old, mask`.
    fn preds_to_reg(&mut self, parts: &Parts<'_>) -> Lowered {
        self.general_predicates(operand(parts, 1)?)?;
        let instr = self.lanewise(parts, AluKind::PredsToReg, Ty::B32, Mods::default(), 2, &[1, 1])?;
        self.with_result(parts, instr)
    }

    /// `PR, a, mask`.
    fn reg_to_preds(&mut self, parts: &Parts<'_>) -> Lowered {
        self.general_predicates(first(parts)?)?;
        self.lanewise(parts, AluKind::RegToPreds, Ty::B32, Mods::default(), 1, &[1, 1])
    }

    fn general_predicates(&self, operand: &Operand) -> Result<(), String> {
        match operand {
            Operand::Name(name) if name == "PR" => Ok(()),
            other => Err(format!("PR was expected, and {other:?} is there")),
        }
    }
}

/// A table of eight rows.
fn table(operand: &Operand) -> Result<u8, String> {
    match operand {
        Operand::Integer(table @ 0..=255) => Ok(*table as u8),
        other => Err(format!("a table of eight bits was expected, and {other:?} is there")),
    }
}

/// The table with one operand complemented; operand 0 has the highest bit of the index.
fn turned(lut: u8, source: u32) -> u8 {
    let bit = 4 >> source;
    (0..8).fold(0, |turned, row| turned | (lut >> (row ^ bit) & 1) << row)
}

#[cfg(test)]
mod tests {
    use super::turned;

    #[test]
    fn a_table_with_an_operand_complemented() {
        // a & b with a complemented is !a & b.
        assert_eq!((turned(0xc0, 0), turned(0xc0, 1), turned(0xc0, 2)), (0x0c, 0x30, 0xc0));
        assert_eq!(turned(turned(0x6a, 2), 2), 0x6a);
    }
}
