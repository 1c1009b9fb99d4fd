//! Floating-point arithmetic, comparison, special functions.

use super::{Lowered, Lowering, Parts, operand};
use crate::isa::{AluKind, Cmp, Mods, Mufu, Op, PredSrc, Ty};

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
            "HMNMX2" => self.extreme_halves(parts),
            "HSETP2" => self.compare_halves(parts),
            "HSET2" => self.set_halves(parts),
            "FSET" => self.set_float(parts),
            "DSETP" if parts.modifiers.has("MAX") || parts.modifiers.has("MIN") => self.which_extreme(parts),
            "FSETP" | "UFSETP" => self.compare_floats(parts, Ty::F32),
            "DSETP" => self.compare_floats(parts, Ty::F64),
            "FSEL" | "UFSEL" => self.select(parts),
            "FMNMX" | "UFMNMX" => self.extreme_float(parts),
            "FMNMX3" => self.extreme_of_three(parts),
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

    /// `P, P, a, b, Pin`.
    fn compare_floats(&mut self, parts: &Parts<'_>, ty: Ty) -> Lowered {
        let cmp = parts.modifiers.cmp().ok_or("a comparison is missing")?;
        let ftz = parts.modifiers.has("FTZ");
        let mods = Mods { cmp, bool_op: super::integer::bool_op(parts), ftz, ..Mods::default() };
        let words = ty.slots();
        let instr = self.lanewise(parts, AluKind::Setp, ty, mods, 2, &[words, words])?;
        self.with_comparison(parts, instr)
    }

    /// `R, a, b, Pin`: `.BF` gives 1.0 for true, else all bits are set.
    fn set_float(&mut self, parts: &Parts<'_>) -> Lowered {
        let cmp = parts.modifiers.cmp().ok_or("a comparison is missing")?;
        let from = if parts.modifiers.has("BF") { Ty::F32 } else { Ty::U32 };
        let mods =
            Mods { cmp, bool_op: super::integer::bool_op(parts), ftz: parts.modifiers.has("FTZ"), ..Mods::default() };
        let mut instr = self.lanewise(parts, AluKind::Set, Ty::F32, mods, 1, &[1, 1])?;
        if let Op::Alu(alu) = &mut instr.op {
            alu.from = from;
        }
        instr.psrc = self.predicate(operand(parts, 3)?)?;
        self.with_result(parts, instr)
    }

    /// `P, P, a, b, Pin`: how ptxas makes the lesser or greater of two doubles.
    fn which_extreme(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["AND"]);
        if self.predicate(operand(parts, 4)?)? != PredSrc::TRUE {
            return Err("a DSETP.MAX or .MIN joined with a predicate".to_owned());
        }
        let cmp = if parts.modifiers.has("MIN") { Cmp::Lt } else { Cmp::Gt };
        parts.modifiers.ignore(&["MAX"]);
        let mods = Mods { cmp, ..Mods::default() };
        let mut instr = self.lanewise(parts, AluKind::WhichExtreme, Ty::F64, mods, 2, &[2, 2])?;
        instr.pdst = [self.result_predicate(operand(parts, 0)?)?, self.result_predicate(operand(parts, 1)?)?];
        Ok(instr)
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

    /// `R, a, b, c, P`: the least where P is true.
    fn extreme_of_three(&mut self, parts: &Parts<'_>) -> Lowered {
        let kind = match self.predicate(operand(parts, 4)?)? {
            PredSrc::TRUE => AluKind::Min3,
            PredSrc::FALSE => AluKind::Max3,
            _ => return Err("the lesser or greater of three by a predicate".to_owned()),
        };
        let modifiers = &parts.modifiers;
        let mods = Mods { ftz: modifiers.has("FTZ"), nan: modifiers.has("NAN"), ..Mods::default() };
        let instr = self.lanewise(parts, kind, Ty::F32, mods, 1, &[1, 1, 1])?;
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
        if let Some(ty) = parts.modifiers.pick(&[("F16", Ty::F16), ("BF16", Ty::BF16)]) {
            let kinds = [("EX2", AluKind::Ex2), ("TANH", AluKind::Tanh)];
            let kind = parts.modifiers.pick(&kinds).ok_or("a special function that the machine does not know")?;
            return self.half_function(parts, kind, ty);
        }
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
