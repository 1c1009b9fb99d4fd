//! Where SASS's registers live in the inner form.

use super::super::Code;
use super::super::error::Problem;
use super::super::operand::File;
use crate::isa::{Pred, Slot};

/// P0 to P6, UP0 to UP6, the constantly true one, and the result of BAR.RED.
pub(super) const PREDICATES: u16 = 16;
/// What BAR.RED leaves for B2R.RESULT.
pub(super) const BARRIER_RESULT: Pred = Pred(15);
const BARRIERS: u16 = 16;
/// A vector access writes up to four registers from the one that is named.
const WIDEST: u16 = 4;

/// Slots of one kernel: general registers, uniform registers, convergence barriers, the count of BAR.RED.
pub(super) struct Layout {
    general: u16,
    uniform: u16,
}

impl Layout {
    /// Room for every register that the code names.
    pub fn of(code: &Code) -> Self {
        let mut layout = Self { general: 0, uniform: 0 };
        for instruction in &code.instructions {
            for word in instruction.operands.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
                if let Some(number) = number(word, "UR") {
                    layout.uniform = layout.uniform.max(number + WIDEST);
                } else if let Some(number) = number(word, "R") {
                    layout.general = layout.general.max(number + WIDEST);
                }
            }
        }
        layout
    }

    pub fn slot(&self, file: File, number: u16) -> Result<Slot, Problem> {
        let (start, count) = match file {
            File::General => (0, self.general),
            File::Uniform => (self.general, self.uniform),
        };
        match number < count {
            true => Ok(Slot(start + number)),
            false => Err(format!("register {number} is past the last one")),
        }
    }

    pub fn barrier(&self, number: u16) -> Result<Slot, Problem> {
        match number < BARRIERS {
            true => Ok(Slot(self.general + self.uniform + number)),
            false => Err(format!("convergence barrier B{number}; there are {BARRIERS}")),
        }
    }

    /// Where BAR.RED.POPC leaves its count.
    pub fn barrier_count(&self) -> Slot {
        Slot(self.general + self.uniform + BARRIERS)
    }

    pub fn slot_count(&self) -> u16 {
        self.general + self.uniform + BARRIERS + 1
    }
}

/// The digits behind a prefix, where nothing else is.
fn number(word: &str, prefix: &str) -> Option<u16> {
    word.strip_prefix(prefix)?.parse().ok().filter(|number| *number < 256)
}

/// Predicate 0 is constantly true.
pub(super) fn predicate(uniform: bool, number: Option<u16>) -> Result<Pred, Problem> {
    match (uniform, number) {
        (_, None) => Ok(Pred::TRUE),
        (false, Some(number @ 0..=6)) => Ok(Pred(1 + number)),
        (true, Some(number @ 0..=6)) => Ok(Pred(8 + number)),
        (_, Some(number)) => Err(format!("predicate {number}; there are seven")),
    }
}
