//! Slots for registers: each takes the lowest that are free wherever it is alive.
//!
//! Registers come in the order in which they come alive, so this is a linear scan; since it looks at every stretch in which a
//! register is alive, one may live in the holes of another. A function's slots lie above those of all its callers, so that
//! a call saves nothing.

use super::liveness::{Extent, Live};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lower::Code;
use crate::ptx::source::Span;

/// Most slots or predicates of a program: a warp with more would take a megabyte.
const SLOTS_MAX: usize = 8192;

/// The assignment of a whole program.
pub(super) struct Files {
    pub slots: Vec<u16>,
    pub predicates: Vec<u16>,
    pub slot_count: u16,
    pub pred_count: u16,
}

pub(super) struct Slots {
    files: Files,
    /// First slot and first predicate of each function.
    bases: Vec<(usize, usize)>,
}

impl Slots {
    pub fn new(code: &Code) -> Self {
        let files = Files {
            slots: vec![0; code.registers.len()],
            predicates: vec![0; code.predicates.len()],
            slot_count: 0,
            pred_count: 1,
        };
        // Predicate 0 is constantly true.
        Self { files, bases: vec![(0, 1); code.functions.len()] }
    }

    /// Assigns one function's registers; its callers must have had their turn.
    pub fn assign(&mut self, code: &Code, function: usize, live: &Live) -> Outcome<()> {
        let (slot_base, pred_base) = self.bases[function];
        let mut slots = Pool::default();
        for (register, extents) in live.registers() {
            let words = usize::from(code.registers[register.0 as usize].words);
            let first = slot_base + slots.take(words, extents);
            self.files.slots[register.0 as usize] = checked(first, words, "32-bit registers")?;
        }
        let mut predicates = Pool::default();
        for (predicate, extents) in live.predicates() {
            let number = pred_base + predicates.take(1, extents);
            self.files.predicates[predicate.0 as usize] = checked(number, 1, "predicates")?;
        }
        let ends = (slot_base + slots.uses.len(), pred_base + predicates.uses.len());
        self.files.slot_count = self.files.slot_count.max(ends.0 as u16);
        self.files.pred_count = self.files.pred_count.max(ends.1 as u16);
        for &(_, callee) in &code.functions[function].calls {
            let base = &mut self.bases[callee as usize];
            *base = (base.0.max(ends.0), base.1.max(ends.1));
        }
        Ok(())
    }

    pub fn finish(self) -> Files {
        self.files
    }
}

fn checked(first: usize, words: usize, what: &str) -> Outcome<u16> {
    if first + words <= SLOTS_MAX {
        return Ok(first as u16);
    }
    let message = format!("the kernel needs more than {SLOTS_MAX} {what} at once");
    Err(Problem::new(Span::default(), message))
}

/// The slots of one function, each with the extents in which it is taken.
#[derive(Default)]
struct Pool {
    uses: Vec<Vec<Extent>>,
}

impl Pool {
    /// Takes `words` consecutive slots for these extents; the first of them.
    fn take(&mut self, words: usize, extents: &[Extent]) -> usize {
        let mut first = 0;
        while let Some(taken) = (first..first + words).rev().find(|&slot| self.is_taken(slot, extents)) {
            first = taken + 1;
        }
        if self.uses.len() < first + words {
            self.uses.resize_with(first + words, Vec::new);
        }
        for slot in &mut self.uses[first..first + words] {
            for &extent in extents {
                let at = slot.partition_point(|taken| taken.0 < extent.0);
                slot.insert(at, extent);
            }
        }
        first
    }

    fn is_taken(&self, slot: usize, extents: &[Extent]) -> bool {
        let Some(taken) = self.uses.get(slot) else { return false };
        let (Some(start), Some(last)) = (extents.first(), taken.last()) else { return false };
        if last.1 <= start.0 {
            return false;
        }
        extents.iter().any(|extent| {
            let after = taken.partition_point(|taken| taken.1 <= extent.0);
            taken.get(after).is_some_and(|taken| taken.0 < extent.1)
        })
    }
}
