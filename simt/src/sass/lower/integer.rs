//! Integer arithmetic, comparison and selection.

use super::{Lowered, Lowering, Operand, Parts, first, operand, predicates_from};
use crate::isa::{AluKind, BoolOp, Half, Instr, Mods, Op, Pred, PredOperand, PredSrc, Ty};

impl Lowering<'_> {
    pub(super) fn integer(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        Some(match parts.base {
            "IADD3" | "UIADD3" => self.add3(parts),
            "IADD" | "UIADD" | "VIADD" | "UVIADD" => self.add(parts),
            "IMAD" | "UIMAD" => self.imad(parts),
            "LEA" | "ULEA" => self.lea(parts),
            "IABS" | "UIABS" => self.plain(parts, AluKind::Abs, Ty::S32, Mods::default(), &[1]),
            "IMNMX" | "UIMNMX" | "VIMNMX" | "UVIMNMX" => self.extreme(parts),
            "VIADDMNMX" | "UVIADDMNMX" => self.extreme_of_sum(parts),
            "VABSDIFF" => {
                let ty = parts.modifiers.word();
                self.plain(parts, AluKind::Sad, ty, Mods::default(), &[1, 1, 1])
            }
            "IDP" => self.dot_product(parts),
            "ISETP" | "UISETP" => self.compare(parts),
            "SEL" | "USEL" => self.select(parts),
            _ => return None,
        })
    }

    /// `R, [P, P,] a, b, c [, Pin, Pin]`; `.64` of register pairs, of which ptxas adds two.
    fn add3(&mut self, parts: &Parts<'_>) -> Lowered {
        let outs = predicates_from(parts, 1);
        if parts.modifiers.has("64") {
            return self.add3_wide(parts, outs);
        }
        let ins = predicates_from(parts, 4 + outs);
        let carries = self.carries(parts, outs)?;
        let mut mods = Mods { carry_out: carries != [None; 2], carry_in: parts.modifiers.has("X"), ..Mods::default() };
        let mut flags = [PredSrc::FALSE; 2];
        if mods.carry_in {
            for (index, flag) in flags.iter_mut().enumerate().take(ins) {
                *flag = self.predicate(operand(parts, 4 + outs + index)?)?;
            }
        }
        mods.pa = PredOperand(flags[1]);
        let mut instr = self.lanewise(parts, AluKind::Add3, Ty::U32, mods, 1 + outs, &[1, 1, 1])?;
        (instr.psrc, instr.pdst) = (flags[0], carries);
        self.with_result(parts, instr)
    }

    /// `.64` of register pairs, where there are two of them and the third is the register of zeros.
    fn add3_wide(&mut self, parts: &Parts<'_>, outs: usize) -> Lowered {
        let third = operand(parts, 3 + outs)?;
        let zero = matches!(third, Operand::Register { register, .. } if self.slot(*register)?.is_none());
        if !zero || parts.modifiers.has("X") || self.carries(parts, outs)? != [None; 2] {
            return Err("a 64-bit sum of three, or with carries".to_owned());
        }
        let instr = self.lanewise(parts, AluKind::Add, Ty::U64, Mods::default(), 1 + outs, &[2, 2])?;
        self.with_result(parts, instr)
    }

    /// Where the carries go that stand behind the result; nowhere for PT.
    fn carries(&self, parts: &Parts<'_>, outs: usize) -> Result<[Option<Pred>; 2], String> {
        let mut carries = [None; 2];
        for (index, carry) in carries.iter_mut().enumerate().take(outs) {
            *carry = self.result_predicate(operand(parts, 1 + index)?)?;
        }
        Ok(carries)
    }

    /// `R, [P,] a, b [, Pin]`; `.64` of register pairs.
    fn add(&mut self, parts: &Parts<'_>) -> Lowered {
        if parts.modifiers.has("16x2") {
            return self.plain(parts, AluKind::Add, Ty::U16x2, Mods::default(), &[1, 1]);
        }
        let outs = predicates_from(parts, 1);
        let wide = parts.modifiers.has("64");
        let carry_in = parts.modifiers.has("X");
        let ty = if wide { Ty::U64 } else { Ty::U32 };
        let carries = self.carries(parts, outs)?;
        if !carry_in && carries == [None; 2] {
            let words = ty.slots();
            let instr = self.lanewise(parts, AluKind::Add, ty, Mods::default(), 1 + outs, &[words, words])?;
            return self.with_result(parts, instr);
        }
        if wide {
            return Err("a 64-bit addition with carries".to_owned());
        }
        let flag = match parts.operands.get(3 + outs) {
            Some(flag) if carry_in => self.predicate(flag)?,
            _ => PredSrc::FALSE,
        };
        let carry_out = carries != [None; 2];
        let mods = Mods { carry_out, carry_in, pa: PredOperand(PredSrc::FALSE), ..Mods::default() };
        let mut instr = self.lanewise(parts, AluKind::Add3, Ty::U32, mods, 1 + outs, &[1, 1])?;
        instr.src[2] = self.literal(0, 1)?;
        (instr.psrc, instr.pdst) = (flag, carries);
        self.with_result(parts, instr)
    }

    /// `R, [P,] a, b, c [, Pin]`. MOV, IADD and SHL are forms of it with a constant where the name says so. With `.WIDE` and `.HI`, c
    /// has 64 bits.
    fn imad(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["MOV", "IADD", "SHL"]);
        let outs = predicates_from(parts, 1);
        let ty = parts.modifiers.word();
        let half = parts.modifiers.pick(&[("WIDE", Half::Wide), ("HI", Half::Hi)]).unwrap_or_default();
        let carry_in = parts.modifiers.has("X");
        let words: &[u16] = if half == Half::Lo { &[1, 1, 1] } else { &[1, 1, 2] };
        let carries = self.carries(parts, outs)?;
        let carry_out = carries != [None; 2];
        let kind = if carry_in || carry_out || half == Half::Hi { AluKind::MadCarry } else { AluKind::Mad };
        let mods = Mods { half, carry_in, carry_out, ..Mods::default() };
        let mut instr = self.lanewise(parts, kind, ty, mods, 1 + outs, words)?;
        if carry_in {
            instr.psrc = self.predicate(operand(parts, 4 + outs)?)?;
        }
        instr.pdst = carries;
        self.with_result(parts, instr)
    }

    /// `R, [P,] a, b, shift` and, with `.HI`, `R, [P,] a, b, high, shift`; then the carry of `.X`.
    fn lea(&mut self, parts: &Parts<'_>) -> Lowered {
        let outs = predicates_from(parts, 1);
        let high = parts.modifiers.has("HI");
        let carry_in = parts.modifiers.has("X");
        let signed = parts.modifiers.has("SX32");
        let sources: &[u16] = if high && !signed { &[1, 1, 1] } else { &[1, 1] };
        let after = 1 + outs + sources.len();
        let shift = match operand(parts, after)? {
            super::Operand::Integer(shift @ 0..=31) => *shift as u8,
            other => return Err(format!("a shift of 0 to 31 was expected, and {other:?} is there")),
        };
        let carries = self.carries(parts, outs)?;
        let mods = Mods { shift, carry_in, carry_out: carries != [None; 2], ..Mods::default() };
        let kind = if high { AluKind::LeaHi } else { AluKind::Lea };
        let ty = if signed { Ty::S32 } else { Ty::U32 };
        let mut instr = self.lanewise(parts, kind, ty, mods, 1 + outs, sources)?;
        if sources.len() < 3 {
            instr.src[2] = self.literal(0, 1)?;
        }
        if carry_in {
            instr.psrc = self.predicate(operand(parts, after + 1)?)?;
        }
        instr.pdst = carries;
        self.with_result(parts, instr)
    }

    /// `R, [P, P,] a, b, P`: the lesser where the last P is true.
    fn extreme(&mut self, parts: &Parts<'_>) -> Lowered {
        let pairs = parts.modifiers.pick(&[("U16x2", Ty::U16x2), ("S16x2", Ty::S16x2)]);
        let ty = pairs.unwrap_or_else(|| parts.modifiers.word());
        let mods = Mods { relu: parts.modifiers.has("RELU"), ..Mods::default() };
        // From 10.0 on with two result predicates, whose meaning is not known.
        let outs = predicates_from(parts, 1);
        if self.carries(parts, outs)? != [None; 2] {
            return Err("a lesser or greater that says which it is".to_owned());
        }
        let mut instr = self.lanewise(parts, AluKind::MinMax, ty, mods, 1 + outs, &[1, 1])?;
        instr.src[2] = self.literal(0, 1)?;
        instr.psrc = self.predicate(operand(parts, 3 + outs)?)?;
        self.with_result(parts, instr)
    }

    /// `R, a, b, c, P`: the lesser of a + b and c where P is true.
    fn extreme_of_sum(&mut self, parts: &Parts<'_>) -> Lowered {
        let ty = parts.modifiers.word();
        let mods = Mods { relu: parts.modifiers.has("RELU"), ..Mods::default() };
        let mut instr = self.lanewise(parts, AluKind::AddMinMax, ty, mods, 1, &[1, 1, 1])?;
        instr.psrc = self.predicate(operand(parts, 4)?)?;
        self.with_result(parts, instr)
    }

    /// `IDP.4A.U8.S8 R, a, b, c`, `IDP.2A.LO.S16.U8 R, a, b, c`: signs of a's and of b's elements.
    fn dot_product(&mut self, parts: &Parts<'_>) -> Lowered {
        let modifiers = &parts.modifiers;
        let signs = [("U8", Ty::U32), ("S8", Ty::S32), ("U16", Ty::U32), ("S16", Ty::S32)];
        let written = modifiers.in_order(&signs);
        let [ty, from] = written[..] else {
            return Err(format!("two types were expected, and {} are there", written.len()));
        };
        let half = modifiers.pick(&[("LO", Half::Lo), ("HI", Half::Hi)]).unwrap_or_default();
        let kinds = [("4A", AluKind::Dp4a), ("2A", AluKind::Dp2a)];
        let kind = modifiers.pick(&kinds).ok_or("a dot product that the machine does not know")?;
        let mut instr = self.plain(parts, kind, ty, Mods { half, ..Mods::default() }, &[1, 1, 1])?;
        if let Op::Alu(alu) = &mut instr.op {
            alu.from = from;
        }
        Ok(instr)
    }

    /// `P, P, a, b, Pin [, Plow]`.
    fn compare(&mut self, parts: &Parts<'_>) -> Lowered {
        let cmp = parts.modifiers.cmp().ok_or("a comparison is missing")?;
        let bool_op = bool_op(parts);
        let extends = parts.modifiers.has("EX");
        let wide = parts.modifiers.pick(&[("U64", Ty::U64), ("S64", Ty::S64)]);
        let ty = wide.unwrap_or_else(|| parts.modifiers.word());
        let words = ty.slots();
        let mut mods = Mods { cmp, bool_op, ..Mods::default() };
        if extends {
            mods.pb = PredOperand(self.predicate(operand(parts, 5)?)?);
        }
        let kind = if extends { AluKind::SetpX } else { AluKind::Setp };
        let instr = self.lanewise(parts, kind, ty, mods, 2, &[words, words])?;
        self.with_comparison(parts, instr)
    }

    /// Puts the two result predicates and the one that the comparison is joined with.
    pub(super) fn with_comparison(&self, parts: &Parts<'_>, mut instr: Instr) -> Lowered {
        instr.pdst = [self.result_predicate(first(parts)?)?, self.result_predicate(operand(parts, 1)?)?];
        instr.psrc = self.predicate(operand(parts, 4)?)?;
        if let Op::Alu(alu) = &mut instr.op
            && alu.mods.changes_sources()
            && alu.kind == AluKind::Setp
            && !alu.ty.is_float()
        {
            // With the low words equal the comparison of the high ones is the comparison, so one function serves both.
            alu.kind = AluKind::SetpX;
            let equal = matches!(alu.mods.cmp, crate::isa::Cmp::Eq | crate::isa::Cmp::Le | crate::isa::Cmp::Ge);
            alu.mods.pb = PredOperand(if equal { PredSrc::TRUE } else { PredSrc::FALSE });
        }
        Ok(instr)
    }

    /// `R, a, b, P`.
    pub(super) fn select(&mut self, parts: &Parts<'_>) -> Lowered {
        let wide = parts.modifiers.has("64");
        parts.modifiers.ignore(&["FTZ"]);
        // What floats may have and integers not: a sign turned.
        let word = if parts.base == "FSEL" { Ty::F32 } else { Ty::B32 };
        let ty = if wide { Ty::B64 } else { word };
        let words = ty.slots();
        let mut instr = self.lanewise(parts, AluKind::Selp, ty, Mods::default(), 1, &[words, words])?;
        if let Op::Alu(alu) = &mut instr.op
            && alu.mods.changes_sources()
            && parts.base.ends_with("FSEL")
        {
            (alu.ty, alu.from) = (Ty::F32, Ty::F32);
            instr.src[2] = self.literal(0, 1)?;
        }
        instr.psrc = self.predicate(operand(parts, 3)?)?;
        self.with_result(parts, instr)
    }
}

pub(super) fn bool_op(parts: &Parts<'_>) -> BoolOp {
    parts.modifiers.pick(&[("AND", BoolOp::And), ("OR", BoolOp::Or), ("XOR", BoolOp::Xor)]).unwrap_or_default()
}
