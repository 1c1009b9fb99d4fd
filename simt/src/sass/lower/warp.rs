//! Special registers, shuffles, votes and the other operations over a warp.

use super::{Lowered, Lowering, Operand, Parts, first, operand, predicates_from};
use crate::isa::{
    Alu, AluKind, AtomicKind, Constant, Instr, Mods, Op, PredSrc, SHARED_WINDOW, ShuffleKind, Special, Src, Ty,
    VoteKind,
};

impl Lowering<'_> {
    pub(super) fn warp(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        Some(match parts.base {
            "S2R" | "S2UR" | "CS2R" | "CS2UR" => self.special(parts),
            "SHFL" => self.shuffle(parts),
            "VOTE" | "VOTEU" => self.vote(parts),
            "MATCH" => self.match_values(parts),
            "REDUX" | "CREDUX" => self.reduce(parts),
            "ELECT" => self.elect(parts),
            _ => return None,
        })
    }

    fn special(&mut self, parts: &Parts<'_>) -> Lowered {
        let Operand::Name(name) = operand(parts, 1)? else {
            return Err("a special register was expected".to_owned());
        };
        let wide = parts.base.starts_with('C') && !parts.modifiers.has("32");
        let register = match name.as_str() {
            "SR_TID.X" => Special::ThreadIdx(0),
            "SR_TID.Y" => Special::ThreadIdx(1),
            "SR_TID.Z" => Special::ThreadIdx(2),
            "SR_CTAID.X" => Special::BlockIdx(0),
            "SR_CTAID.Y" => Special::BlockIdx(1),
            "SR_CTAID.Z" => Special::BlockIdx(2),
            "SR_LANEID" => Special::LaneId,
            "SR_VIRTUALSMID" => Special::SmId,
            "SR_EQMASK" => Special::LaneMaskEq,
            "SR_LTMASK" => Special::LaneMaskLt,
            "SR_LEMASK" => Special::LaneMaskLe,
            "SR_GTMASK" => Special::LaneMaskGt,
            "SR_GEMASK" => Special::LaneMaskGe,
            "SR_CLOCKLO" if wide => Special::Clock64,
            "SR_CLOCKLO" => Special::Clock,
            "SR_CLOCKHI" => Special::ClockHi,
            "SR_GLOBALTIMERLO" if wide => Special::GlobalTimer,
            "SR_GLOBALTIMERLO" => Special::GlobalTimerLo,
            "SR_GLOBALTIMERHI" => Special::GlobalTimerHi,
            // The zero, and a block's number in its cluster: clusters have one block.
            "SRZ" | "SR_CgaCtaId" => return self.known_word(parts, 0, wide),
            "SR_SWINHI" => return self.known_word(parts, (SHARED_WINDOW >> 32) as u32, wide),
            _ => return Err(format!("the machine does not know the special register {name}")),
        };
        let instr = self.with_result(parts, Instr::new(Op::Special(register)))?;
        match (wide, register) {
            (true, Special::Clock64 | Special::GlobalTimer) | (false, _) => Ok(instr),
            (true, _) => Err(format!("the machine does not know {name} as 64 bits")),
        }
    }

    /// A special register that is the same for everybody.
    fn known_word(&mut self, parts: &Parts<'_>, value: u32, wide: bool) -> Lowered {
        let ty = if wide { Ty::B64 } else { Ty::B32 };
        let words = [Constant::Literal(value), Constant::Literal(0)];
        let src = self.constant(&words[..usize::from(ty.slots())])?;
        let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::Mov, ty, from: ty, mods: Mods::default() }));
        instr.src[0] = src;
        self.with_result(parts, instr)
    }

    /// `P, R, value, lane, clamp`.
    fn shuffle(&mut self, parts: &Parts<'_>) -> Lowered {
        let kinds = [
            ("IDX", ShuffleKind::Index),
            ("UP", ShuffleKind::Up),
            ("DOWN", ShuffleKind::Down),
            ("BFLY", ShuffleKind::Butterfly),
        ];
        let kind = parts.modifiers.pick(&kinds).ok_or("a shuffle that the machine does not know")?;
        super::expect_count(parts, 5)?;
        let mut instr = Instr::new(Op::Shuffle(kind));
        for index in 0..3 {
            instr.src[index] = self.source(parts, 2 + index, 1)?.0;
        }
        instr.pdst[0] = self.result_predicate(first(parts)?)?;
        instr.dst[0] = self.result(operand(parts, 1)?)?;
        Ok(instr)
    }

    /// `[R,] P, Pin`: of the active lanes; the register, where there is one, gets their ballot.
    fn vote(&mut self, parts: &Parts<'_>) -> Lowered {
        let kinds = [("ALL", VoteKind::All), ("ANY", VoteKind::Any), ("EQ", VoteKind::Uniform)];
        let kind = parts.modifiers.pick(&kinds).ok_or("a vote that the machine does not know")?;
        let with_ballot = matches!(first(parts)?, Operand::Register { .. });
        let result = operand(parts, usize::from(with_ballot))?;
        let pdst = self.result_predicate(result)?;
        let dst = if with_ballot { self.result(first(parts)?)? } else { None };
        if dst.is_some() && pdst.is_some() {
            return Err("a vote with a ballot and a verdict".to_owned());
        }
        let mut instr = Instr::new(Op::Vote(if dst.is_some() { VoteKind::Ballot } else { kind }));
        (instr.dst[0], instr.pdst[0]) = (dst, pdst);
        instr.psrc = self.predicate(operand(parts, 1 + usize::from(with_ballot))?)?;
        Ok(instr)
    }

    /// `[P,] R, value`.
    fn match_values(&mut self, parts: &Parts<'_>) -> Lowered {
        let all =
            parts.modifiers.pick(&[("ALL", true), ("ANY", false)]).ok_or("a match that the machine does not know")?;
        let bits = if parts.modifiers.has("U64") { 64 } else { 32 };
        parts.modifiers.ignore(&["U32"]);
        let outs = predicates_from(parts, 0);
        let mut instr = Instr::new(Op::Match { all, bits });
        instr.src[0] = self.source(parts, outs + 1, u16::from(bits / 32))?.0;
        instr.dst[0] = self.result(operand(parts, outs)?)?;
        if outs > 0 {
            instr.pdst[0] = self.result_predicate(first(parts)?)?;
        }
        Ok(instr)
    }

    /// `P, UR, Pin`: of the active lanes.
    fn elect(&mut self, parts: &Parts<'_>) -> Lowered {
        if self.predicate(operand(parts, 2)?)? != PredSrc::TRUE {
            return Err("an election among lanes that a predicate names".to_owned());
        }
        let mut instr = Instr::new(Op::Elect);
        instr.pdst[0] = self.result_predicate(first(parts)?)?;
        instr.dst[0] = self.result(operand(parts, 1)?)?;
        Ok(instr)
    }

    /// `UR, value`: over the active lanes.
    fn reduce(&mut self, parts: &Parts<'_>) -> Lowered {
        use AtomicKind::*;
        let kinds = [("SUM", Add), ("ADD", Add), ("MIN", Min), ("MAX", Max), ("AND", And), ("OR", Or), ("XOR", Xor)];
        let kind = parts.modifiers.pick(&kinds).unwrap_or(And);
        let ty = parts.modifiers.pick(&[("S32", Ty::S32), ("F32", Ty::F32)]).unwrap_or(Ty::U32);
        let mut instr = Instr::new(Op::Redux(kind, ty));
        instr.src = [self.source(parts, 1, 1)?.0, Src::NONE, Src::NONE, Src::NONE];
        self.with_result(parts, instr)
    }
}
