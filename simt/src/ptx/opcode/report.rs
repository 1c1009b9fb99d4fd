//! What to say of an opcode that the table does not have.

use super::pattern::Pattern;
use super::{FORMS, Form};
use crate::ptx::error::Problem;
use crate::ptx::source::Span;

/// Most forms that one message lists, and the most letters that they may have unless there is only one.
const FORMS_SHOWN: usize = 4;
const LETTERS_SHOWN: usize = 240;
/// An optional word of so many choices is shown in full; of more, the first.
const CHOICES_SHOWN: usize = 8;

pub(super) fn unknown_base(base: &str, span: Span) -> Problem {
    let problem = Problem::new(span, format!("`{base}` is not an instruction of PTX"));
    let mut near: Vec<_> = FORMS.keys().filter(|known| distance(base, known) <= 1 + base.len() / 4).copied().collect();
    near.sort_unstable();
    near.truncate(FORMS_SHOWN);
    if near.is_empty() { problem } else { problem.help(format!("near it: {}", near.join(", "))) }
}

pub(super) fn operand_count(text: &str, pattern: &Pattern, given: usize, span: Span) -> Problem {
    let plural = if given == 1 { "" } else { "s" };
    let message = format!("`{text}` with {given} operand{plural}, expected {}", pattern.arity.in_words());
    Problem::new(span, message).help(format!("its form is {}", heading(pattern.form)))
}

/// No form takes these words: names the first word that the nearest forms do not take, or what they lack.
pub(super) fn modifiers(text: &str, words: &[&str], patterns: &[Pattern], span: Span) -> Problem {
    let score = |pattern: &Pattern| {
        let (assigned, wrong) = pattern.fill(words);
        let typed = assigned.iter().any(|(class, _)| *class == "t");
        (typed, assigned.len(), wrong.is_none())
    };
    let best = patterns.iter().map(score).max();
    let nearest: Vec<_> = patterns.iter().filter(|pattern| Some(score(pattern)) == best).collect();
    let Some(first) = nearest.first() else { return Problem::new(span, format!("`{text}` has no form")) };
    let message = match first.fill(words).1.and_then(|index| words.get(index)) {
        Some(word) => format!("`.{word}` is not legal in `{text}`"),
        None => match first.missing(words) {
            Some(missing) => format!("`{text}` lacks one of {}", dotted(missing)),
            None => format!("`{text}` is not legal"),
        },
    };
    let mut forms = nearest.iter().take(FORMS_SHOWN).map(|pattern| heading(pattern.form));
    let mut legal = forms.next().unwrap_or_default();
    for form in forms {
        if legal.len() + form.len() > LETTERS_SHOWN {
            legal += "; …";
            break;
        }
        legal = format!("{legal}; {form}");
    }
    Problem::new(span, message).help(format!("legal: {legal}"))
}

fn dotted(words: &[&str]) -> String {
    words.iter().map(|word| format!(".{word}")).collect::<Vec<_>>().join(", ")
}

/// A form as the PTX ISA document writes it: `add{.rn|.rz}{.ftz}.f32 d, a, b`.
fn heading(form: &Form) -> String {
    let mut heading = form.base.to_owned();
    for slot in form.modifiers.split_whitespace() {
        let pattern = Pattern::words_of(slot);
        let is_optional = slot.starts_with('?');
        let shown = if is_optional && pattern.len() > CHOICES_SHOWN { 1 } else { pattern.len() };
        let mut words: Vec<_> = pattern.iter().take(shown).map(|word| format!(".{word}")).collect();
        words.extend((shown < pattern.len()).then(|| "…".to_owned()));
        heading += &match (is_optional, words.join("|")) {
            (true, words) => format!("{{{words}}}"),
            (false, words) if pattern.len() == 1 => words,
            (false, words) => format!("({words})"),
        };
    }
    let mut letters = ["a", "b", "c", "e"].into_iter();
    let operands = form.operands.split_whitespace().map(|item| {
        let name = item.trim_start_matches('?').split('=').next().unwrap_or_default();
        match name {
            "a" | "S" | "i" => letters.next().unwrap_or("a").to_owned(),
            "D" => "d".to_owned(),
            "[]" => "[addr]".to_owned(),
            "P" => "p".to_owned(),
            _ => name.to_owned(),
        }
    });
    let operands: Vec<_> = operands.collect();
    if operands.is_empty() { heading } else { format!("{heading} {}", operands.join(", ")) }
}

/// Edit distance of two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(32).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
