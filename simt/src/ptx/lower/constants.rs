//! The table of launch constants, each word sequence once.

use std::collections::HashMap;

use crate::isa::Constant;
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;

/// Constants that a source operand can name ([`crate::isa::Src::constant`]).
const WORDS_MAX: usize = (1 << 15) - 1;

#[derive(Debug, Default)]
pub(in crate::ptx) struct Constants {
    pub words: Vec<Constant>,
    singles: HashMap<Constant, u16>,
    groups: HashMap<Vec<Constant>, u16>,
}

impl Constants {
    /// Index of the first word of `words`, which stand one after another in the table.
    pub fn index(&mut self, words: &[Constant], span: Span) -> Outcome<u16> {
        let known = match words {
            [word] => self.singles.get(word),
            _ => self.groups.get(words),
        };
        if let Some(&index) = known {
            return Ok(index);
        }
        if self.words.len() + words.len() > WORDS_MAX {
            let message = format!("the kernel has more than {WORDS_MAX} different constants");
            return Err(Problem::new(span, message));
        }
        let index = self.words.len() as u16;
        for (at, word) in words.iter().enumerate() {
            self.singles.entry(word.clone()).or_insert(index + at as u16);
        }
        if words.len() > 1 {
            self.groups.insert(words.to_vec(), index);
        }
        self.words.extend_from_slice(words);
        Ok(index)
    }

    /// The low `words` 32-bit words of `value`.
    pub fn literal(&mut self, value: u128, words: u16, span: Span) -> Outcome<u16> {
        let words: Vec<_> = (0..words).map(|word| Constant::Literal((value >> (32 * word)) as u32)).collect();
        self.index(&words, span)
    }
}
