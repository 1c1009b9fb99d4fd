//! The table of instructions, and the check of an opcode against it.
//!
//! Every form of every instruction is one [`Form`]: a base, its modifiers, its operands, and what it lowers to. The forms are
//! data, in a file for each group; modifiers and operands are written in a small notation ([`pattern`]), close to the
//! headings of the PTX ISA document. Matching reads an opcode's words into an [`Opcode`], in any order of words that are not
//! types, since producers differ in it. What does not match is answered with the forms that exist.

mod control;
mod convert;
mod float;
mod integer;
mod logic;
mod meaning;
mod memory;
mod pattern;
mod report;
mod unsupported;
mod warp;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use meaning::Opcode;
pub(super) use pattern::{Role, TypeOf};

use super::error::Outcome;
use super::source::Span;
use crate::isa::AluKind;
use pattern::Pattern;

/// One form of an instruction.
#[derive(Debug)]
pub(super) struct Form {
    pub base: &'static str,
    /// Modifier slots, in the notation of [`pattern`].
    pub modifiers: &'static str,
    /// Operands, in the notation of [`pattern`].
    pub operands: &'static str,
    pub action: Action,
}

const fn form(base: &'static str, modifiers: &'static str, operands: &'static str, action: Action) -> Form {
    Form { base, modifiers, operands, action }
}

/// What a form lowers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// One lane-wise operation on the operands as written.
    Alu(AluKind),
    /// Logic of predicates.
    Logic(AluKind),
    Mov,
    Set,
    Lop3,
    Cvt,
    Cvta,
    IsSpace,
    Load,
    Store,
    Atomic,
    /// Atomic without a result.
    Reduce,
    Branch,
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
    Barrier,
    BarrierArrive,
    BarrierReduce,
    WarpSync,
    Fence,
    Shuffle,
    Vote,
    Match,
    Redux,
    ActiveMask,
    Elect,
    Sleep,
    /// Without effect on the machine: hints to caches and the like.
    Nothing,
    /// A policy for the L2 cache, which the machine does not model: any value will do.
    Policy,
    /// Known to PTX, unknown to the machine.
    Unsupported,
}

/// Every form by base, in the order in which they are tried.
static FORMS: LazyLock<HashMap<&'static str, Vec<Pattern>>> = LazyLock::new(|| {
    let groups = [
        integer::FORMS,
        logic::FORMS,
        float::FORMS,
        convert::FORMS,
        memory::FORMS,
        control::FORMS,
        warp::FORMS,
        unsupported::FORMS,
    ];
    let mut forms: HashMap<_, Vec<_>> = HashMap::new();
    for form in groups.into_iter().flatten() {
        forms.entry(form.base).or_default().push(Pattern::new(form));
    }
    forms
});

/// Checks an opcode as written (`ld.global.f32`) that comes with `operand_count` operands.
pub(super) fn check(text: &str, span: Span, operand_count: usize) -> Outcome<Opcode> {
    let mut words = text.split('.').map(str::trim);
    let base = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let Some(patterns) = FORMS.get(base) else { return Err(report::unknown_base(base, span)) };
    let matches = || patterns.iter().filter_map(|pattern| Some((pattern, pattern.assign(&words)?)));
    match matches().find(|(pattern, _)| pattern.arity.accepts(operand_count)) {
        Some((pattern, assigned)) => Ok(Opcode::new(pattern, &assigned)),
        None => Err(match matches().next() {
            Some((pattern, _)) => report::operand_count(text, pattern, operand_count, span),
            None => report::modifiers(text, &words, patterns, span),
        }),
    }
}
