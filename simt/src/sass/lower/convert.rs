//! Conversions between number types.

use super::{Lowered, Lowering, Parts};
use crate::isa::{Alu, AluKind, Instr, Mods, Op, Round, Ty};

impl Lowering<'_> {
    pub(super) fn convert(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        Some(match parts.base {
            "I2F" | "I2FP" | "UI2F" | "UI2FP" => {
                let to = float_type(parts).unwrap_or(Ty::F32);
                let from = integer_type(parts).unwrap_or(Ty::S32);
                let round = parts.modifiers.round();
                self.conversion(parts, to, from, Mods { round, ..Mods::default() })
            }
            "F2I" | "UF2I" => {
                // NTZ: a NaN gives what it gives anyway.
                parts.modifiers.ignore(&["NTZ"]);
                let from = float_type(parts).unwrap_or(Ty::F32);
                let to = integer_type(parts).unwrap_or(Ty::S32);
                let ftz = parts.modifiers.has("FTZ");
                let round = integral(parts).unwrap_or(Round::Rni);
                self.conversion(parts, to, from, Mods { round, ftz, ..Mods::default() })
            }
            "F2F" => self.float_to_float(parts),
            "FRND" => {
                let ty = float_type(parts).unwrap_or(Ty::F32);
                let ftz = parts.modifiers.has("FTZ");
                let round = integral(parts).unwrap_or(Round::Rni);
                self.conversion(parts, ty, ty, Mods { round, ftz, ..Mods::default() })
            }
            "F2FP" => self.pack(parts),
            _ => return None,
        })
    }

    fn conversion(&mut self, parts: &Parts<'_>, to: Ty, from: Ty, mods: Mods) -> Lowered {
        let instr = self.lanewise(parts, AluKind::Cvt, to, mods, 1, &[from.slots()])?;
        let Op::Alu(alu) = instr.op else { return Ok(instr) };
        if alu.mods.changes_sources() {
            return Err("a conversion of a negated or absolute value".to_owned());
        }
        let instr = Instr { op: Op::Alu(Alu { from, ..alu }), ..instr };
        self.with_result(parts, instr)
    }

    /// `F2F.F32.F64`: to, then from.
    fn float_to_float(&mut self, parts: &Parts<'_>) -> Lowered {
        let types = [("F64", Ty::F64), ("F16", Ty::F16), ("F32", Ty::F32), ("BF16", Ty::BF16)];
        let written = parts.modifiers.in_order(&types);
        let [to, from] = written[..] else {
            return Err(format!("two types were expected, and {} are there", written.len()));
        };
        let mods = Mods { round: parts.modifiers.round(), ftz: parts.modifiers.has("FTZ"), ..Mods::default() };
        self.conversion(parts, to, from, mods)
    }

    /// `F2FP.F16.F32.PACK_AB R, high, low`.
    fn pack(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["F32", "PACK_AB", "F16"]);
        let ty = if parts.modifiers.has("BF16") { Ty::BF16x2 } else { Ty::F16x2 };
        let mods = Mods { relu: parts.modifiers.has("RELU"), ..Mods::default() };
        let instr = self.lanewise(parts, AluKind::Cvt, ty, mods, 1, &[1, 1])?;
        let Op::Alu(alu) = instr.op else { return Ok(instr) };
        if alu.mods.changes_sources() {
            return Err("a conversion of a negated or absolute value".to_owned());
        }
        let instr = Instr { op: Op::Alu(Alu { from: Ty::F32, ..alu }), ..instr };
        self.with_result(parts, instr)
    }
}

fn float_type(parts: &Parts<'_>) -> Option<Ty> {
    parts.modifiers.pick(&[("F64", Ty::F64), ("F32", Ty::F32), ("F16", Ty::F16), ("BF16", Ty::BF16)])
}

fn integer_type(parts: &Parts<'_>) -> Option<Ty> {
    parts.modifiers.pick(&[
        ("U64", Ty::U64),
        ("S64", Ty::S64),
        ("U32", Ty::U32),
        ("S32", Ty::S32),
        ("U16", Ty::U16),
        ("S16", Ty::S16),
        ("U8", Ty::U8),
        ("S8", Ty::S8),
    ])
}

/// How a float becomes a whole number.
fn integral(parts: &Parts<'_>) -> Option<Round> {
    parts.modifiers.pick(&[("TRUNC", Round::Rzi), ("FLOOR", Round::Rmi), ("CEIL", Round::Rpi), ("ROUND", Round::Rni)])
}
