//! Liveness of PTX's virtual registers, from the text of one entry: an estimate of what a compiler must keep at least.
//!
//! An instruction writes its first operand, unless its opcode is one of those that write nothing; every other register in its
//! text is read. So it needs no table of instructions and works for those that nobody here knows.

use std::collections::HashMap;

use super::Line;
use super::life::{Counts, Life, Use};

/// Opcodes whose first operand is read, or is no register.
const WRITE_NOTHING: [&str; 28] = [
    "applypriority",
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "bulk",
    "call",
    "cp",
    "discard",
    "exit",
    "fence",
    "griddepcontrol",
    "membar",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "red",
    "ret",
    "setmaxnreg",
    "st",
    "stackrestore",
    "stmatrix",
    "sured",
    "sust",
    "tensormap",
    "trap",
];

/// What is alive at each line of an entry.
pub(super) fn life(lines: &[Line]) -> Life {
    let mut reader = Reader::default();
    let steps: Vec<Step> = lines.iter().map(|line| reader.step(&line.text)).collect();
    let count = steps.len();
    let next = |at: usize| (at + 1 < count).then_some(at + 1);
    let successors: Vec<Vec<usize>> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let targets = step.targets.iter().filter_map(|name| reader.labels.get(name).copied());
            targets.chain(next(at).filter(|_| step.goes_on)).collect()
        })
        .collect();
    let words = reader.names.len().div_ceil(64);
    let before = before(&steps, &successors, words);
    let mut life = Life { names: reader.names, successors, ..Life::default() };
    for (step, before) in steps.iter().zip(&before) {
        let mut alive: Vec<(usize, Use)> =
            step.writes.iter().map(|value| (*value, step.usage(*value, before))).collect();
        alive.extend(
            members(before)
                .filter(|value| !step.writes.contains(value))
                .map(|value| (value, if step.reads.contains(&value) { Use::Read } else { Use::Held })),
        );
        let mut counts = Counts::default();
        for (value, _) in alive.iter().filter(|_| step.is_instruction) {
            match reader.words[*value] {
                0 => counts.predicates += 1,
                words => counts.general += words,
            }
        }
        life.counts.push(counts);
        life.alive.push(alive);
    }
    life
}

/// What one line does.
#[derive(Default)]
struct Step {
    is_instruction: bool,
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// Under a guard: what was written before may stay.
    guarded: bool,
    targets: Vec<String>,
    goes_on: bool,
}

impl Step {
    fn usage(&self, value: usize, before: &[u64]) -> Use {
        match (self.reads.contains(&value), self.guarded && contains(before, value)) {
            (true, _) => Use::ReadAndWritten,
            (_, true) => Use::WrittenInPart,
            _ => Use::Written,
        }
    }
}

#[derive(Default)]
struct Reader {
    names: Vec<String>,
    /// Of each value; 0 for a predicate.
    words: Vec<u32>,
    /// Widths by name without the number, of `.reg .b32 %r<5>`, and by full name.
    families: HashMap<String, u32>,
    values: HashMap<String, usize>,
    labels: HashMap<String, usize>,
    /// Lines read.
    read: usize,
}

impl Reader {
    fn step(&mut self, text: &str) -> Step {
        let at = self.read;
        self.read += 1;
        let mut step = Step { goes_on: true, ..Step::default() };
        let text = text.split("//").next().unwrap_or_default().trim();
        let (label, text) = match text.split_once(':') {
            Some((label, rest)) if is_name(label) => (Some(label), rest.trim()),
            _ => (None, text),
        };
        if let Some(label) = label {
            self.labels.insert(label.to_owned(), at);
        }
        for statement in text.trim_matches(['{', '}', ' ', '\t']).split(';').map(str::trim) {
            match statement.strip_prefix(".reg") {
                Some(declared) => self.declare(declared),
                None if statement.starts_with('.') || statement.is_empty() => {}
                None => self.instruction(statement, &mut step),
            }
        }
        step
    }

    /// ` .b32 %r<5>`, ` .pred p, q`.
    fn declare(&mut self, text: &str) {
        let Some((ty, names)) = text.trim().split_once(char::is_whitespace) else { return };
        let words = match ty.trim_start_matches(".v2 ").trim_start_matches('.') {
            "pred" => 0,
            "b128" => 4,
            ty if ty.ends_with("64") => 2,
            _ => 1,
        };
        for name in names.split(',').map(str::trim) {
            let family = name.split('<').next().unwrap_or(name);
            self.families.insert(family.to_owned(), words);
        }
    }

    fn instruction(&mut self, text: &str, step: &mut Step) {
        step.is_instruction = true;
        let text = match text.strip_prefix('@') {
            Some(guarded) => {
                let (guard, rest) = guarded.split_once(char::is_whitespace).unwrap_or((guarded, ""));
                step.guarded = true;
                self.names_in(guard).into_iter().for_each(|value| step.reads.push(value));
                rest.trim()
            }
            None => text,
        };
        let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let base = opcode.split('.').next().unwrap_or_default();
        let (first, others) = split_first(operands);
        // A result in brackets is an address.
        let writes =
            !WRITE_NOTHING.contains(&base) && !first.trim_start().starts_with('[') && !opcode.contains(".store");
        let first = self.names_in(first);
        let others = self.names_in(others);
        let sides = if writes { (others, first) } else { (first.into_iter().chain(others).collect(), Vec::new()) };
        step.reads.extend(sides.0.into_iter().filter(|value| !step.writes.contains(value)));
        step.writes.extend(sides.1);
        match base {
            "bra" | "brx" => {
                step.targets.extend(words(operands).filter(|word| !word.starts_with('%')).map(str::to_owned));
                step.goes_on = step.guarded;
            }
            "ret" | "exit" | "trap" => step.goes_on = step.guarded,
            _ => {}
        }
    }

    /// The registers named in a text, as values.
    fn names_in(&mut self, text: &str) -> Vec<usize> {
        words(text).filter_map(|word| self.value(word)).collect()
    }

    fn value(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.values.get(name) {
            return Some(*known);
        }
        let family = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let words = *self.families.get(name).or_else(|| self.families.get(family))?;
        let value = self.names.len();
        self.names.push(name.to_owned());
        self.words.push(words);
        self.values.insert(name.to_owned(), value);
        Some(value)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%'))
}

/// Names in a text: letters, digits, `_`, `$`, `%`, and what follows a dot belongs to its name (`%tid.x`).
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '$' | '%' | '.')).filter(
        |word| word.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$' | '%')),
    )
}

/// The first operand and the rest: at the first comma outside braces and brackets.
fn split_first(operands: &str) -> (&str, &str) {
    let mut depth = 0;
    for (at, letter) in operands.char_indices() {
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => return (&operands[..at], &operands[at + 1..]),
            _ => {}
        }
    }
    (operands, "")
}

/// The values alive before each line, as bits.
fn before(steps: &[Step], successors: &[Vec<usize>], words: usize) -> Vec<Vec<u64>> {
    let mut before = vec![vec![0u64; words]; steps.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, step) in steps.iter().enumerate().rev() {
            let mut alive = vec![0u64; words];
            for next in &successors[at] {
                alive.iter_mut().zip(&before[*next]).for_each(|(mine, theirs)| *mine |= theirs);
            }
            for value in step.writes.iter().filter(|_| !step.guarded) {
                alive[value / 64] &= !(1 << (value % 64));
            }
            for value in &step.reads {
                alive[value / 64] |= 1 << (value % 64);
            }
            if alive != before[at] {
                before[at] = alive;
                changed = true;
            }
        }
    }
    before
}

fn contains(set: &[u64], value: usize) -> bool {
    set[value / 64] >> (value % 64) & 1 == 1
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    let bits = set.iter().enumerate();
    bits.flat_map(|(word, bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * word + bit))
}
