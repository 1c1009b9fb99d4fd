//! New names for values that live and die inside a run, so that reuse of a slot does not order instructions that are independent.
//!
//! A value may be renamed if it is written whole and without a guard, everything that reads it reads nothing else in the same
//! operand, and its slots are all written again, again without a guard, before the run ends. Lanes that do not take part keep
//! their old values: a run writes to fewer old slots than before, and new slots are nobody's outside it.

use std::ops::Range;

use crate::isa::{PredSrc, Program};
use crate::timing::operands::{Operand, Places, reads, replace, writes};

/// Slots and predicates that a warp may have beyond those of the program.
const EXTRA_SLOTS: u16 = 96;
const EXTRA_PREDS: u16 = 32;
/// Slots and predicates together must stay below what a place can number.
const SLOTS_MAX: u16 = 1 << 14;

/// Hands out names; each run starts over with the same ones.
pub(super) struct Names {
    /// Sizes of the program as it was.
    slot_count: u16,
    pred_count: u16,
    slots_used: u16,
    preds_used: u16,
}

/// One write of one operand in a run.
struct Value {
    instr: usize,
    operand: Operand,
    places: Places,
    /// Places not written again yet.
    alive: u16,
    uses: Vec<(usize, Operand, u16)>,
    may_rename: bool,
}

impl Names {
    /// Makes room for new names in the program. A program so large that there is none keeps its own.
    pub fn new(program: &mut Program) -> Option<Self> {
        let (slot_count, pred_count) = (program.slot_count, program.pred_count);
        program.slot_count = slot_count.checked_add(EXTRA_SLOTS).filter(|count| *count < SLOTS_MAX)?;
        program.pred_count = pred_count.checked_add(EXTRA_PREDS).filter(|count| *count < SLOTS_MAX)?;
        Some(Self { slot_count, pred_count, slots_used: 0, preds_used: 0 })
    }

    /// Renames what may be renamed in a run.
    pub fn rename(&mut self, program: &mut Program, run: Range<usize>) {
        let (mut slots, mut preds) = (0, 0);
        for value in values(program, run).iter().filter(|value| value.may_rename && value.alive == 0) {
            let (used, most, base) = match value.places.first >= program.slot_count {
                true => (&mut preds, EXTRA_PREDS, self.pred_count),
                false => (&mut slots, EXTRA_SLOTS, self.slot_count),
            };
            if *used + value.places.count > most {
                continue;
            }
            let number = base + *used;
            *used += value.places.count;
            replace(&mut program.code[value.instr], value.operand, number);
            for (instr, operand, offset) in &value.uses {
                replace(&mut program.code[*instr], *operand, number + offset);
            }
        }
        self.slots_used = self.slots_used.max(slots);
        self.preds_used = self.preds_used.max(preds);
    }

    /// Gives back the room that no run needed.
    pub fn settle(self, program: &mut Program) {
        program.slot_count = self.slot_count + self.slots_used;
        program.pred_count = self.pred_count + self.preds_used;
    }
}

/// The values written in a run, with their uses in it.
fn values(program: &Program, run: Range<usize>) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let places = usize::from(program.slot_count) + usize::from(program.pred_count);
    let mut current: Vec<Option<usize>> = vec![None; places];
    for index in run {
        let instr = &program.code[index];
        for (operand, places) in reads(program, instr) {
            note_use(&mut values, &current, index, operand, places);
        }
        let guarded = instr.guard != PredSrc::TRUE;
        for (operand, places) in writes(program, instr) {
            for place in places.iter() {
                if let Some(before) = current[usize::from(place)] {
                    values[before].alive -= 1;
                    values[before].may_rename &= !guarded;
                }
                current[usize::from(place)] = Some(values.len());
            }
            let alive = places.count;
            values.push(Value { instr: index, operand, places, alive, uses: Vec::new(), may_rename: !guarded });
        }
    }
    values
}

/// Enters a read with the value it reads; where it reads more than one value, none of them may be renamed.
fn note_use(values: &mut [Value], current: &[Option<usize>], instr: usize, operand: Operand, places: Places) {
    let first = current[usize::from(places.first)];
    if places.iter().all(|place| current[usize::from(place)] == first) {
        if let Some(value) = first {
            let offset = places.first - values[value].places.first;
            values[value].uses.push((instr, operand, offset));
        }
        return;
    }
    for place in places.iter() {
        if let Some(value) = current[usize::from(place)] {
            values[value].may_rename = false;
        }
    }
}
