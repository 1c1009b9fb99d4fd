//! Floating-point arithmetic, comparison, special functions.

use super::{Lowered, Lowering, Operand, Parts, operand};
use crate::isa::{AluKind, Instr, Mods, Mufu, Op, Ty};

impl Lowering<'_> {
    pub(super) fn float(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        use AluKind::*;
        Some(match parts.base {
            "FADD" | "UFADD" => self.arithmetic(parts, Add, Ty::F32, &[1, 1]),
            "FMUL" | "UFMUL" => self.arithmetic(parts, Mul, Ty::F32, &[1, 1]),
            "FFMA" | "UFFMA" => self.arithmetic(parts, Fma, Ty::F32, &[1, 1, 1]),
            "DADD" => self.arithmetic(parts, Add, Ty::F64, &[2, 2]),
            "DMUL" => self.arithmetic(parts, Mul, Ty::F64, &[2, 2]),
            "DFMA" => self.arithmetic(parts, Fma, Ty::F64, &[2, 2, 2]),
            "HADD2" if parts.modifiers.has("F32") => self.half_to_float(parts),
            "HADD2" => self.halves(parts, Add, 2),
            "HMUL2" => self.halves(parts, Mul, 2),
            "HFMA2" => self.halves(parts, Fma, 3),
            "FSETP" | "UFSETP" => self.compare_floats(parts, Ty::F32),
            "DSETP" => self.compare_floats(parts, Ty::F64),
            "FSEL" | "UFSEL" => self.select(parts),
            "FMNMX" | "UFMNMX" => self.extreme_float(parts),
            "MUFU" => self.special_function(parts),
            "FCHK" => self.division_check(parts),
            _ => return None,
        })
    }

    fn arithmetic(&mut self, parts: &Parts<'_>, kind: AluKind, ty: Ty, words: &[u16]) -> Lowered {
        let modifiers = &parts.modifiers;
        let mods =
            Mods { round: modifiers.round(), ftz: modifiers.has("FTZ"), sat: modifiers.has("SAT"), ..Mods::default() };
        // An immediate of a double is its upper half.
        self.plain(parts, kind, ty, mods, words)
    }

    /// Pairs of halves. Two immediates make one operand, the high half first in the text.
    fn halves(&mut self, parts: &Parts<'_>, kind: AluKind, sources: usize) -> Lowered {
        parts.modifiers.ignore(&["MMA"]);
        if kind == AluKind::Fma && is_constant_move(parts) {
            let mov = crate::isa::Alu { kind: AluKind::Mov, ty: Ty::F16x2, from: Ty::F16x2, mods: Mods::default() };
            let mut instr = Instr::new(Op::Alu(mov));
            instr.src[0] = self.literal(parts.immediate().into(), 1)?;
            return self.with_result(parts, instr);
        }
        let ty = if parts.modifiers.has("BF16_V2") { Ty::BF16x2 } else { Ty::F16x2 };
        let mods = Mods { ftz: parts.modifiers.has("FTZ"), sat: parts.modifiers.has("SAT"), ..Mods::default() };
        let mut instr = Instr::new(Op::Nop);
        let mut mods = mods;
        let mut at = 1;
        for index in 0..sources {
            let (src, changes) = match operand(parts, at)? {
                Operand::Decimal(_) | Operand::Integer(_) => {
                    at += 1;
                    (self.literal(parts.immediate().into(), 1)?, Default::default())
                }
                _ => self.source(parts, at, 1)?,
            };
            at += 1;
            instr.src[index] = src;
            mods.neg |= u8::from(changes.negate) << index;
            mods.abs |= u8::from(changes.absolute) << index;
        }
        super::expect_count(parts, at)?;
        instr.op = Op::Alu(crate::isa::Alu { kind, ty, from: ty, mods });
        self.with_result(parts, instr)
    }

    /// HADD2.F32 with a zero is how a half becomes an `f32`: `R, -RZ, R2.H0_H0`.
    fn half_to_float(&mut self, parts: &Parts<'_>) -> Lowered {
        let Operand::Register { register, changes, suffix } = operand(parts, 2)? else {
            return Err("a register was expected".to_owned());
        };
        let is_zero = matches!(operand(parts, 1)?, Operand::Register { register, .. } if register.number.is_none());
        if !is_zero || suffix != "H0_H0" || *changes != Default::default() {
            return Err("a sum of halves that is an f32".to_owned());
        }
        let src = match self.slot(*register)? {
            Some(slot) => crate::isa::Src::slot(slot),
            None => self.literal(0, 1)?,
        };
        let mut instr = Instr::new(Op::Alu(crate::isa::Alu {
            kind: AluKind::Cvt,
            ty: Ty::F32,
            from: Ty::F16,
            mods: Mods::default(),
        }));
        instr.src[0] = src;
        self.with_result(parts, instr)
    }

    /// `P, P, a, b, Pin`.
    fn compare_floats(&mut self, parts: &Parts<'_>, ty: Ty) -> Lowered {
        let cmp = parts.modifiers.cmp().ok_or("a comparison is missing")?;
        let ftz = parts.modifiers.has("FTZ");
        let mods = Mods { cmp, bool_op: super::integer::bool_op(parts), ftz, ..Mods::default() };
        let words = ty.slots();
        let instr = self.lanewise(parts, AluKind::Setp, ty, mods, 2, &[words, words])?;
        self.with_comparison(parts, instr)
    }

    fn extreme_float(&mut self, parts: &Parts<'_>) -> Lowered {
        let modifiers = &parts.modifiers;
        let mods = Mods {
            ftz: modifiers.has("FTZ"),
            nan: modifiers.has("NAN"),
            xorsign_abs: modifiers.has("XORSIGN"),
            ..Mods::default()
        };
        let mut instr = self.lanewise(parts, AluKind::MinMax, Ty::F32, mods, 1, &[1, 1])?;
        instr.src[2] = self.literal(0, 1)?;
        instr.psrc = self.predicate(operand(parts, 3)?)?;
        self.with_result(parts, instr)
    }

    fn special_function(&mut self, parts: &Parts<'_>) -> Lowered {
        let functions = [
            ("RCP", Mufu::Rcp),
            ("RSQ", Mufu::Rsq),
            ("SQRT", Mufu::Sqrt),
            ("LG2", Mufu::Lg2),
            ("EX2", Mufu::Ex2),
            ("SIN", Mufu::Sin),
            ("COS", Mufu::Cos),
            ("TANH", Mufu::Tanh),
            ("RCP64H", Mufu::Rcp64h),
            ("RSQ64H", Mufu::Rsq64h),
        ];
        let mufu = parts.modifiers.pick(&functions).ok_or("a special function that the machine does not know")?;
        self.plain(parts, AluKind::Mufu, Ty::F32, Mods { mufu, ..Mods::default() }, &[1])
    }

    /// `P, a, b`.
    fn division_check(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["DIVIDE"]);
        let mut instr = self.lanewise(parts, AluKind::FloatCheck, Ty::F32, Mods::default(), 1, &[1, 1])?;
        instr.pdst[0] = self.result_predicate(operand(parts, 0)?)?;
        Ok(instr)
    }
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
    let is_number = |half: u32| half & 0x7c00 != 0x7c00;
    let plain = parts.modifiers.is_plain(&["MMA"]);
    plain && zero(1, true) && zero(2, false) && is_number(parts.immediate()) && is_number(parts.immediate() >> 16)
}
