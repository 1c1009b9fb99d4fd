//! The notation of the table.
//!
//! **Modifiers**: slots separated by spaces. `?` before a slot: may be missing. A slot is `class:word|word` or, where class and
//! only word are the same, `word`. `$name` in place of words stands for a set of [`SETS`]. The class `t` is a type: types are
//! matched in the order in which they are written, other words in any order. `*` alone: any words.
//!
//! **Operands**: separated by spaces. `?` before one: it may be missing, with all after it.
//!
//! | written | operand | type |
//! |---|---|---|
//! | `d` | result | the first type |
//! | `D` | result, a vector where the opcode says so | the first type |
//! | `p` | result predicate | |
//! | `p\|q` | result predicate, perhaps with a second one | |
//! | `d\|p` | result, perhaps with a result predicate | the first type |
//! | `a` | source | the first type |
//! | `S` | source, a vector where the opcode says so | the first type |
//! | `i` | integer constant | |
//! | `h` | cache policy, which has no effect | |
//! | `P` | source predicate | |
//! | `[]` | address | |
//! | `...` | anything, any number; the lowering checks them | |
//!
//! After `d` and `a`, `=U` means the second type, `=W` the first type at twice the width, `=u32` and so on that type.

use super::Form;
use crate::isa::Ty;

/// Sets of words with a name.
const SETS: &[(&str, &str)] = &[
    ("$int", "u16|u32|u64|s16|s32|s64"),
    ("$frnd", "rn|rz|rm|rp"),
    ("$irnd", "rni|rzi|rmi|rpi"),
    ("$wide", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("$mem", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("$ucmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"),
    ("$scmp", "eq|ne|lt|le|gt|ge"),
    ("$fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("$bool", "and|or|xor"),
    ("$ld", "global|shared|shared::cta|local|const|param|param::entry|param::func"),
    ("$st", "global|shared|shared::cta|local|param|param::func"),
    ("$as", "global|shared|shared::cta"),
    ("$atomic", "relaxed|acquire|release|acq_rel"),
    ("$scope", "cta|cluster|gpu|sys"),
    ("$level", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"),
    ("$level2", "L2::evict_normal|L2::evict_first|L2::evict_last|L2::evict_unchanged"),
    ("$prefetch", "L2::64B|L2::128B|L2::256B"),
    ("$small", "u8|u16|u32|u64|s8|s16|s32|s64"),
];

/// A form, decoded.
#[derive(Debug)]
pub(super) struct Pattern {
    pub form: &'static Form,
    slots: Vec<SlotPattern>,
    /// `*`: any modifiers.
    any_words: bool,
    pub arity: Arity,
}

#[derive(Debug)]
struct SlotPattern {
    class: &'static str,
    optional: bool,
    words: Vec<&'static str>,
}

/// A word of the opcode with the class of its slot.
pub(super) type Assigned = (&'static str, &'static str);

impl Pattern {
    pub fn new(form: &'static Form) -> Self {
        let slots = form.modifiers.split_whitespace().filter(|slot| *slot != "*").map(SlotPattern::new).collect();
        Self { form, slots, any_words: form.modifiers == "*", arity: Arity::new(form.operands) }
    }

    /// The slots that the words fill, in the order of the words; None if the words are not those of this form.
    pub fn assign(&self, words: &[&str]) -> Option<Vec<Assigned>> {
        if self.any_words {
            return Some(Vec::new());
        }
        let (assigned, wrong) = self.fill(words);
        (wrong.is_none() && self.missing(words).is_none()).then_some(assigned)
    }

    /// As far as the words can be assigned, and the first that cannot.
    pub fn fill(&self, words: &[&str]) -> (Vec<Assigned>, Option<usize>) {
        let mut free: Vec<bool> = vec![true; self.slots.len()];
        let mut assigned = Vec::with_capacity(words.len());
        let mut wrong = None;
        for (index, word) in words.iter().enumerate() {
            let found = self.slots.iter().enumerate().find_map(|(at, slot)| {
                let word = slot.words.iter().find(|known| *known == word).filter(|_| free[at])?;
                Some((at, slot.class, *word))
            });
            match found {
                Some((at, class, word)) => {
                    free[at] = false;
                    assigned.push((class, word));
                }
                None => wrong = wrong.or(Some(index)),
            }
        }
        (assigned, wrong)
    }

    /// The words of the first required slot that none of `words` fills.
    pub fn missing(&self, words: &[&str]) -> Option<&[&'static str]> {
        let mut free: Vec<bool> = vec![true; self.slots.len()];
        for word in words {
            let found = self.slots.iter().enumerate().find(|(at, slot)| free[*at] && slot.words.contains(word));
            if let Some((at, _)) = found {
                free[at] = false;
            }
        }
        let slot = self.slots.iter().enumerate().find(|(at, slot)| free[*at] && !slot.optional);
        slot.map(|(_, slot)| slot.words.as_slice())
    }

    /// The words that a slot of the notation takes.
    pub fn words_of(slot: &'static str) -> Vec<&'static str> {
        SlotPattern::new(slot).words
    }
}

impl SlotPattern {
    fn new(text: &'static str) -> Self {
        let optional = text.starts_with('?');
        let text = text.trim_start_matches('?');
        let (class, words) =
            text.split_once(':').filter(|(class, _)| !class.contains(['|', ':'])).unwrap_or((text, text));
        let mut expanded = Vec::new();
        for word in words.split('|') {
            match SETS.iter().find(|(name, _)| *name == word) {
                Some((_, set)) => expanded.extend(set.split('|')),
                None => expanded.push(word),
            }
        }
        Self { class, optional, words: expanded }
    }
}

/// The operands of a form.
#[derive(Clone, Debug)]
pub(in crate::ptx) struct Arity {
    pub roles: Vec<Role>,
    required: usize,
    /// `...`: any number.
    open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum Role {
    Dst(TypeOf),
    DstVector,
    PredDst,
    PredDstPair,
    DstAndPred(TypeOf),
    Src(TypeOf),
    SrcVector,
    Constant,
    Policy,
    PredSrc,
    Address,
}

/// Which type an operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum TypeOf {
    First,
    Second,
    Wide,
    Is(Ty),
}

impl Arity {
    fn new(text: &'static str) -> Self {
        let mut arity = Self { roles: Vec::new(), required: 0, open: false };
        let mut optional = false;
        for item in text.split_whitespace() {
            optional |= item.starts_with('?');
            match item.trim_start_matches('?') {
                "..." => arity.open = true,
                item => arity.roles.extend(role(item)),
            }
            if !optional {
                arity.required = arity.roles.len();
            }
        }
        arity
    }

    pub fn accepts(&self, count: usize) -> bool {
        self.open || (self.required..=self.roles.len()).contains(&count)
    }

    /// "3", or "2 or 3".
    pub fn in_words(&self) -> String {
        match self.roles.len() - self.required {
            0 => format!("{}", self.required),
            1 => format!("{} or {}", self.required, self.roles.len()),
            _ => format!("{} to {}", self.required, self.roles.len()),
        }
    }
}

fn role(item: &'static str) -> Option<Role> {
    let (letter, ty) = item.split_once('=').unwrap_or((item, ""));
    let ty = match ty {
        "" => TypeOf::First,
        "U" => TypeOf::Second,
        "W" => TypeOf::Wide,
        name => TypeOf::Is(Ty::named(name)?),
    };
    Some(match letter {
        "d" => Role::Dst(ty),
        "D" => Role::DstVector,
        "p" => Role::PredDst,
        "p|q" => Role::PredDstPair,
        "d|p" => Role::DstAndPred(ty),
        "a" => Role::Src(ty),
        "S" => Role::SrcVector,
        "i" => Role::Constant,
        "h" => Role::Policy,
        "P" => Role::PredSrc,
        "[]" => Role::Address,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mistyped row of the table would silently lose an operand or a set.
    #[test]
    fn every_row_of_the_table_is_in_the_notation() {
        for pattern in crate::ptx::opcode::FORMS.values().flatten() {
            let form = pattern.form;
            let items = form.operands.split_whitespace().filter(|item| item.trim_start_matches('?') != "...").count();
            assert_eq!(pattern.arity.roles.len(), items, "operands of {form:?}");
            for slot in &pattern.slots {
                assert!(
                    !slot.words.iter().any(|word| word.contains(['$', '?']) || word.is_empty()),
                    "modifiers of {form:?}"
                );
                let known = slot.class != "t" || slot.words.iter().all(|word| Ty::named(word).is_some());
                assert!(known, "types of {form:?}");
            }
        }
    }
}
