//! Arithmetic, comparison and selection of pairs of halves.

use super::{Lowered, Lowering, Operand, Parts, expect_count, first, operand};
use crate::isa::{Alu, AluKind, Halves, Instr, Mods, Op, Src, Ty};
use crate::sass::operand::Changes;

impl Lowering<'_> {
    /// Sources from operand `at` on. Two immediates make one operand, the high half first in the text. Returns the number of the
    /// operand behind them.
    fn half_sources(
        &mut self,
        parts: &Parts<'_>,
        mut at: usize,
        count: usize,
        mods: &mut Mods,
    ) -> Result<([Src; 4], usize), String> {
        let mut sources = [Src::NONE; 4];
        for (index, source) in sources.iter_mut().enumerate().take(count) {
            let (src, changes) = match operand(parts, at)? {
                Operand::Decimal(_) | Operand::Integer(_) => {
                    at += 1;
                    (self.literal(parts.immediate().into(), 1)?, Changes::default())
                }
                Operand::Register { register, changes, suffix } => {
                    let halves = match suffix.as_str() {
                        "" | "H1_H0" => Halves::Both,
                        "H0_H0" | "H0" => Halves::Low,
                        "H1_H1" | "H1" => Halves::High,
                        other => return Err(format!("the machine does not know `.{other}` of a register")),
                    };
                    mods.halves |= (halves as u8) << (2 * index);
                    let src = match self.slot(*register)? {
                        Some(slot) => Src::slot(slot),
                        None => self.literal(0, 1)?,
                    };
                    (src, *changes)
                }
                _ => self.source(parts, at, 1)?,
            };
            at += 1;
            *source = src;
            mods.neg |= u8::from(changes.negate) << index;
            mods.abs |= u8::from(changes.absolute) << index;
        }
        Ok((sources, at))
    }

    /// `R, a, b [, c]`.
    pub(super) fn halves(&mut self, parts: &Parts<'_>, kind: AluKind, sources: usize) -> Lowered {
        parts.modifiers.ignore(&["MMA"]);
        if kind == AluKind::Fma && is_constant_move(parts) {
            let mov = Alu { kind: AluKind::Mov, ty: Ty::F16x2, from: Ty::F16x2, mods: Mods::default() };
            let mut instr = Instr::new(Op::Alu(mov));
            instr.src[0] = self.literal(parts.immediate().into(), 1)?;
            return self.with_result(parts, instr);
        }
        let modifiers = &parts.modifiers;
        let [ftz, sat, relu] = ["FTZ", "SAT", "RELU"].map(|name| modifiers.has(name));
        let mut mods = Mods { ftz, sat, relu, ..Mods::default() };
        let ty = pair_type(parts);
        let (src, at) = self.half_sources(parts, 1, sources, &mut mods)?;
        expect_count(parts, at)?;
        self.with_result(parts, Instr { src, ..Instr::new(Op::Alu(Alu { kind, ty, from: ty, mods })) })
    }

    /// `MUFU.EX2.F16 R, R2.H1`: of one half.
    pub(super) fn half_function(&mut self, parts: &Parts<'_>, kind: AluKind, ty: Ty) -> Lowered {
        let mut mods = Mods::default();
        let (src, at) = self.half_sources(parts, 1, 1, &mut mods)?;
        expect_count(parts, at)?;
        if mods.neg | mods.abs != 0 {
            return Err("a function of a negated or absolute half".to_owned());
        }
        // The low half is what the operation takes anyway.
        if mods.halves == Halves::Low as u8 {
            mods.halves = 0;
        }
        self.with_result(parts, Instr { src, ..Instr::new(Op::Alu(Alu { kind, ty, from: ty, mods })) })
    }

    /// HADD2.F32 with a zero is how a half becomes an `f32`: `R, -RZ, R2.H0_H0`.
    pub(super) fn half_to_float(&mut self, parts: &Parts<'_>) -> Lowered {
        let is_zero = matches!(operand(parts, 1)?, Operand::Register { register, .. } if register.number.is_none());
        let mut mods = Mods::default();
        let (src, at) = self.half_sources(parts, 2, 1, &mut mods)?;
        expect_count(parts, at)?;
        if !is_zero || mods.halves == Halves::Both as u8 || parts.modifiers.has("BF16_V2") {
            return Err("a sum of halves that is an f32".to_owned());
        }
        // The low half is what a conversion takes anyway.
        if mods.halves == Halves::Low as u8 {
            mods.halves = 0;
        }
        let alu = Alu { kind: AluKind::Cvt, ty: Ty::F32, from: Ty::F16, mods };
        self.with_result(parts, Instr { src, ..Instr::new(Op::Alu(alu)) })
    }

    /// `R, a, b, P`: the lesser where P is true.
    pub(super) fn extreme_halves(&mut self, parts: &Parts<'_>) -> Lowered {
        let modifiers = &parts.modifiers;
        let [ftz, nan, xorsign_abs, relu] = ["FTZ", "NAN", "XORSIGN", "RELU"].map(|name| modifiers.has(name));
        let mut mods = Mods { ftz, nan, xorsign_abs, relu, ..Mods::default() };
        let ty = pair_type(parts);
        let (mut src, at) = self.half_sources(parts, 1, 2, &mut mods)?;
        src[2] = self.literal(0, 1)?;
        let psrc = self.predicate(operand(parts, at)?)?;
        let alu = Alu { kind: AluKind::MinMax, ty, from: ty, mods };
        self.with_result(parts, Instr { src, psrc, ..Instr::new(Op::Alu(alu)) })
    }

    /// `P, P, a, b, Pin`: of the low halves and of the high ones.
    pub(super) fn compare_halves(&mut self, parts: &Parts<'_>) -> Lowered {
        let mut mods = comparison(parts)?;
        let ty = pair_type(parts);
        let (src, at) = self.half_sources(parts, 2, 2, &mut mods)?;
        let psrc = self.predicate(operand(parts, at)?)?;
        let pdst = [self.result_predicate(first(parts)?)?, self.result_predicate(operand(parts, 1)?)?];
        let alu = Alu { kind: AluKind::Setp, ty, from: ty, mods };
        Ok(Instr { src, psrc, pdst, ..Instr::new(Op::Alu(alu)) })
    }

    /// `R, a, b, Pin`: `.BF` gives 1.0 for true, else all bits of the half are set.
    pub(super) fn set_halves(&mut self, parts: &Parts<'_>) -> Lowered {
        let mut mods = comparison(parts)?;
        let ty = pair_type(parts);
        let from = if parts.modifiers.has("BF") { ty } else { Ty::U32 };
        let (src, at) = self.half_sources(parts, 1, 2, &mut mods)?;
        let psrc = self.predicate(operand(parts, at)?)?;
        let alu = Alu { kind: AluKind::Set, ty, from, mods };
        self.with_result(parts, Instr { src, psrc, ..Instr::new(Op::Alu(alu)) })
    }
}

fn pair_type(parts: &Parts<'_>) -> Ty {
    if parts.modifiers.has("BF16_V2") { Ty::BF16x2 } else { Ty::F16x2 }
}

fn comparison(parts: &Parts<'_>) -> Result<Mods, String> {
    let cmp = parts.modifiers.cmp().ok_or("a comparison is missing")?;
    let bool_op = super::integer::bool_op(parts);
    Ok(Mods { cmp, bool_op, ftz: parts.modifiers.has("FTZ"), ..Mods::default() })
}

/// `HFMA2 R, -RZ, RZ, a, b`: the product is -0, which added to a number leaves it as it is. ptxas moves constants so; a NaN would
/// become the canonical one, and takes the long way.
fn is_constant_move(parts: &Parts<'_>) -> bool {
    let zero = |at: usize, negate: bool| match parts.operands.get(at) {
        Some(Operand::Register { register, changes, suffix }) => {
            register.number.is_none() && changes.negate == negate && suffix.is_empty()
        }
        _ => false,
    };
    let is_immediate = matches!(parts.operands.get(3), Some(Operand::Decimal(_) | Operand::Integer(_)));
    let is_number = |half: u32| half & 0x7c00 != 0x7c00;
    let plain = parts.modifiers.is_plain(&["MMA"]) && is_immediate;
    plain && zero(1, true) && zero(2, false) && is_number(parts.immediate()) && is_number(parts.immediate() >> 16)
}
