//! What an instruction reads and writes, as places: slots first, predicates after them.

use crate::exec::operand_words;
use crate::isa::{Instr, Op, Pred, PredSrc, Program, Slot, Src};

/// An operand of an instruction that a register or predicate can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Source(usize),
    Address,
    /// `psrc`.
    Predicate,
    /// First operand of predicate logic.
    FirstPredicate,
    Guard,
    Result(usize),
    ResultPredicate(usize),
}

/// Consecutive places, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub first: u16,
    pub count: u16,
}

impl Places {
    pub fn iter(self) -> impl Iterator<Item = u16> {
        self.first..self.first + self.count
    }
}

/// The registers and predicates that an instruction reads.
pub(crate) fn reads(program: &Program, instr: &Instr) -> impl Iterator<Item = (Operand, Places)> {
    let words = operand_words(&instr.op).unwrap_or_default();
    let sources = (0..4).map(move |index| (Operand::Source(index), instr.src[index], words.src[index]));
    let slots = sources
        .chain([(Operand::Address, instr.addr, words.address)])
        .filter(|(_, source, count)| *count > 0 && !source.is_none() && !source.is_constant())
        .map(|(operand, source, count)| (operand, Places { first: source.index() as u16, count }));
    let first = match &instr.op {
        Op::Alu(alu) => alu.mods.pa.0,
        _ => PredSrc::TRUE,
    };
    let slot_count = program.slot_count;
    let preds = [(Operand::Predicate, instr.psrc), (Operand::FirstPredicate, first), (Operand::Guard, instr.guard)]
        .into_iter()
        .filter_map(move |(operand, pred)| Some((operand, pred_place(slot_count, pred.pred)?)));
    slots.chain(preds)
}

/// The registers and predicates that it writes.
pub(crate) fn writes(program: &Program, instr: &Instr) -> impl Iterator<Item = (Operand, Places)> {
    let words = operand_words(&instr.op).unwrap_or_default();
    let slots = (0..4).filter_map(move |index| {
        let (slot, count) = (instr.dst[index]?, words.dst[index]);
        (count > 0).then_some((Operand::Result(index), Places { first: slot.0, count }))
    });
    let preds = (0..2).filter_map(|index| {
        let place = pred_place(program.slot_count, instr.pdst[index]?)?;
        Some((Operand::ResultPredicate(index), place))
    });
    slots.chain(preds)
}

/// The constant predicate has no place.
fn pred_place(slot_count: u16, pred: Pred) -> Option<Places> {
    (pred != Pred::TRUE).then_some(Places { first: slot_count + pred.0, count: 1 })
}

/// Puts another slot or predicate in an operand's stead. `number` counts slots for slots and predicates for predicates.
pub(crate) fn replace(instr: &mut Instr, operand: Operand, number: u16) {
    let slot = Slot(number);
    match operand {
        Operand::Source(index) => instr.src[index] = Src::slot(slot),
        Operand::Address => instr.addr = Src::slot(slot),
        Operand::Result(index) => instr.dst[index] = Some(slot),
        Operand::ResultPredicate(index) => instr.pdst[index] = Some(Pred(number)),
        Operand::Predicate => instr.psrc.pred = Pred(number),
        Operand::Guard => instr.guard.pred = Pred(number),
        Operand::FirstPredicate => {
            if let Op::Alu(alu) = &mut instr.op {
                alu.mods.pa.0.pred = Pred(number);
            }
        }
    }
}
