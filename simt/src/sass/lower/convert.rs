//! Conversions between number types.

use super::{Lowered, Lowering, Operand, Parts};
use crate::isa::{AluKind, Instr, Mods, Op, Round, Ty};

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
            "I2I" => self.integer_to_integer(parts),
            "I2IP" => self.pack_integers(parts),
            "F2IP" => self.pack_floats(parts),
            _ => return None,
        })
    }

    fn conversion(&mut self, parts: &Parts<'_>, to: Ty, from: Ty, mods: Mods) -> Lowered {
        self.converted(parts, AluKind::Cvt, to, from, mods, &[from.slots()])
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

    /// Narrow floats from wider ones and back: `F2FP.F16.F32.PACK_AB R, high, low`, `F2FP.TF32.F32.PACK_B R, a`,
    /// `F2FP.F16.E4M3.UNPACK_B R, a`; with `MERGE_C` another operand follows that has what is not written, here RZ.
    fn pack(&mut self, parts: &Parts<'_>) -> Lowered {
        let modifiers = &parts.modifiers;
        let types = [
            ("F16", Ty::F16x2),
            ("BF16", Ty::BF16x2),
            ("TF32", Ty::TF32),
            ("E4M3", Ty::E4M3x2),
            ("E5M2", Ty::E5M2x2),
            ("F32", Ty::F32),
        ];
        let (to, from) = match modifiers.in_order(&types)[..] {
            // 8.x leaves them out.
            [] => (Ty::F16x2, Ty::F32),
            [to] => (to, Ty::F32),
            [to, from] => (to, from),
            ref more => return Err(format!("two types were expected, and {} are there", more.len())),
        };
        let forms = [
            ("PACK_AB", (2, false)),
            ("PACK_AB_MERGE_C", (2, true)),
            ("PACK_B", (1, false)),
            ("UNPACK_B", (1, false)),
            ("UNPACK_B_MERGE_C", (1, true)),
            ("MERGE_C", (1, true)),
        ];
        let (sources, merges) = modifiers.pick(&forms).ok_or("a packing that the machine does not know")?;
        super::expect_count(parts, 1 + sources + usize::from(merges))?;
        if merges && !is_zero(parts, 1 + sources) {
            return Err("halves that are merged with a register".to_owned());
        }
        // One source makes one half.
        let to = match (to, from, sources) {
            (Ty::F16x2, Ty::F32, 1) => Ty::F16,
            (Ty::BF16x2, Ty::F32, 1) => Ty::BF16,
            _ => to,
        };
        let mods = Mods {
            round: modifiers.round(),
            relu: modifiers.has("RELU"),
            satfinite: modifiers.has("SATFINITE"),
            ..Mods::default()
        };
        self.converted(parts, AluKind::Cvt, to, from, mods, &[1, 1][..sources])
    }

    /// `I2IP.U8.S32.SAT R, high, low, rest`: two numbers clamped to bytes below the low half of a third, or to halves.
    fn pack_integers(&mut self, parts: &Parts<'_>) -> Lowered {
        let [to, from] = self.two_types(parts)?;
        if !parts.modifiers.has("SAT") {
            return Err("a packing without clamping".to_owned());
        }
        super::expect_count(parts, 4)?;
        let halves = to.bits() == 16;
        if halves && !is_zero(parts, 3) {
            return Err("halves above a register".to_owned());
        }
        let words: &[u16] = if halves { &[1, 1] } else { &[1, 1, 1] };
        self.converted(parts, AluKind::CvtPack, to, from, Mods { sat: true, ..Mods::default() }, words)
    }

    /// `I2I.U8.S32.SAT R, a`.
    fn integer_to_integer(&mut self, parts: &Parts<'_>) -> Lowered {
        let [to, from] = self.two_types(parts)?;
        let mods = Mods { sat: parts.modifiers.has("SAT"), ..Mods::default() };
        if to == Ty::S16 && mods.sat {
            // As I2IP below a zero: the upper half of the register is 0, whatever the sign.
            let mut instr = self.converted(parts, AluKind::CvtPack, to, from, mods, &[1])?;
            instr.src.swap(0, 1);
            instr.src[0] = self.literal(0, 1)?;
            return Ok(instr);
        }
        self.converted(parts, AluKind::Cvt, to, from, mods, &[1])
    }

    /// `F2IP.U8.F32 R, high, low, rest`, where only the low one is anything.
    fn pack_floats(&mut self, parts: &Parts<'_>) -> Lowered {
        parts.modifiers.ignore(&["NTZ"]);
        let to = integer_type(parts).ok_or("a type is missing")?;
        let from = float_type(parts).unwrap_or(Ty::F32);
        let round = integral(parts).unwrap_or(Round::Rni);
        super::expect_count(parts, 4)?;
        if !is_zero(parts, 1) || !is_zero(parts, 3) {
            return Err("two numbers in one register".to_owned());
        }
        let mut instr = self.lanewise(parts, AluKind::Cvt, to, Mods { round, ..Mods::default() }, 2, &[1])?;
        from_type(&mut instr, from)?;
        self.with_result(parts, instr)
    }

    fn two_types(&self, parts: &Parts<'_>) -> Result<[Ty; 2], String> {
        let written = parts.modifiers.in_order(&INTEGERS);
        <[Ty; 2]>::try_from(written).map_err(|found| format!("two types were expected, and {} are there", found.len()))
    }

    fn converted(&mut self, parts: &Parts<'_>, kind: AluKind, to: Ty, from: Ty, mods: Mods, words: &[u16]) -> Lowered {
        let mut instr = self.lanewise(parts, kind, to, mods, 1, words)?;
        from_type(&mut instr, from)?;
        self.with_result(parts, instr)
    }
}

/// Sets the source's type of a conversion, whose sources come as they are.
fn from_type(instr: &mut Instr, from: Ty) -> Result<(), String> {
    let Op::Alu(alu) = &mut instr.op else { return Ok(()) };
    alu.from = from;
    match alu.mods.changes_sources() {
        true => Err("a conversion of a negated or absolute value".to_owned()),
        false => Ok(()),
    }
}

fn is_zero(parts: &Parts<'_>, at: usize) -> bool {
    matches!(parts.operands.get(at), Some(Operand::Register { register, .. }) if register.number.is_none())
}

const INTEGERS: [(&str, Ty); 8] = [
    ("U64", Ty::U64),
    ("S64", Ty::S64),
    ("U32", Ty::U32),
    ("S32", Ty::S32),
    ("U16", Ty::U16),
    ("S16", Ty::S16),
    ("U8", Ty::U8),
    ("S8", Ty::S8),
];

fn float_type(parts: &Parts<'_>) -> Option<Ty> {
    parts.modifiers.pick(&[("F64", Ty::F64), ("F32", Ty::F32), ("F16", Ty::F16), ("BF16", Ty::BF16)])
}

fn integer_type(parts: &Parts<'_>) -> Option<Ty> {
    parts.modifiers.pick(&INTEGERS)
}

/// How a float becomes a whole number.
fn integral(parts: &Parts<'_>) -> Option<Round> {
    parts.modifiers.pick(&[("TRUNC", Round::Rzi), ("FLOOR", Round::Rmi), ("CEIL", Round::Rpi), ("ROUND", Round::Rni)])
}
