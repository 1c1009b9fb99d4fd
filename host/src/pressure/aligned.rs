//! Two codes side by side: which instructions stayed, went and came, in the order of their source lines.
//!
//! Registers, addresses and labels change with any edit, so instructions are compared without them: opcode with modifiers, the
//! shape of the operands, and the source line where both sides have the same file. What is shown is the text as it is.

use std::collections::BTreeMap;

use similar::{Algorithm, ChangeTag, TextDiff, capture_diff_slices};
use warpwise_nvtools::nvdisasm::{Function, Instruction};

/// How a line of the comparison came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Same,
    Gone,
    Come,
}

/// One instruction of either side, or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: Kind,
    /// As it is printed, on the right where both have it.
    pub text: String,
}

/// The instructions of one source line, on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `kernels-gpu/src/vecadd.rs:24`; of instructions without a line `(no source line)`.
    pub place: String,
    pub lines: Vec<Line>,
}

impl Section {
    pub fn is_changed(&self) -> bool {
        self.lines.iter().any(|line| line.kind != Kind::Same)
    }
}

/// Aligns `before` and `after`. Sections are in the order in which `after`, then `before`, first comes to their lines.
pub fn align(before: &Function, after: &Function) -> Vec<Section> {
    let mut order: Vec<String> = Vec::new();
    let mut sides: BTreeMap<String, [Vec<&Instruction>; 2]> = BTreeMap::new();
    for (side, function) in [(1, after), (0, before)] {
        for instruction in own(function) {
            let place = place(instruction);
            if !sides.contains_key(&place) {
                order.push(place.clone());
            }
            sides.entry(place).or_default()[side].push(instruction);
        }
    }
    let section = |place: String| {
        let [before, after] = sides.get(&place).cloned().unwrap_or_default();
        Section { lines: lines(&before, &after), place }
    };
    order.into_iter().map(section).collect()
}

/// Without the padding behind the code.
fn own(function: &Function) -> impl Iterator<Item = &Instruction> {
    let end = function.instructions.iter().rposition(|instruction| instruction.base_opcode() != "NOP");
    function.instructions.iter().take(end.map_or(0, |end| end + 1))
}

/// The innermost line outside the standard library, which the build has put first.
fn place(instruction: &Instruction) -> String {
    match instruction.source.first() {
        Some(line) if line.line > 0 => format!("{}:{}", line.file, line.line),
        _ => "(no source line)".to_owned(),
    }
}

fn lines(before: &[&Instruction], after: &[&Instruction]) -> Vec<Line> {
    let shapes = |side: &[&Instruction]| side.iter().map(|instruction| shape(instruction)).collect::<Vec<_>>();
    let (old, new) = (shapes(before), shapes(after));
    let mut lines = Vec::new();
    let text = |side: &[&Instruction], index: usize| side.get(index).map_or_else(String::new, |one| text(one));
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        for change in operation.iter_changes(&old, &new) {
            let line = match (change.tag(), change.old_index(), change.new_index()) {
                (ChangeTag::Delete, Some(index), _) => Line { kind: Kind::Gone, text: text(before, index) },
                (ChangeTag::Insert, _, Some(index)) => Line { kind: Kind::Come, text: text(after, index) },
                (_, _, index) => Line { kind: Kind::Same, text: text(after, index.unwrap_or(usize::MAX)) },
            };
            lines.push(line);
        }
    }
    lines
}

/// An instruction as a listing shows it.
fn text(instruction: &Instruction) -> String {
    let Instruction { predicate, opcode, operands, .. } = instruction;
    format!("{} {opcode} {operands}", predicate.as_deref().unwrap_or_default()).trim().to_owned()
}

/// What an instruction is when registers, predicates and labels are only numbered otherwise.
fn shape(instruction: &Instruction) -> String {
    let mut shape = String::new();
    if let Some(predicate) = &instruction.predicate {
        shape.push_str(if predicate.contains('!') { "@!" } else { "@" });
    }
    shape.push_str(&instruction.opcode);
    shape.push(' ');
    let mut rest = instruction.operands.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '`') {
        shape.push_str(&rest[..at]);
        let word_end = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        if rest[at..].starts_with('`') {
            // A label: `(.L_x_3)
            let end = rest[at..].find(')').map_or(rest.len(), |end| at + end + 1);
            shape.push('L');
            rest = &rest[end..];
            continue;
        }
        let end = at + word_end(&rest[at..]);
        shape.push_str(unnumbered(&rest[at..end]));
        rest = &rest[end..];
    }
    shape.push_str(rest);
    shape
}

/// `R` for `R12`; constants and the registers that are always zero or true stay as they are.
fn unnumbered(word: &str) -> &str {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let kind = &word[..word.len() - digits.len()];
    let is_register = ["R", "UR", "P", "UP", "B", "SB"].contains(&kind) && !digits.is_empty();
    if is_register && digits.chars().all(|c| c.is_ascii_digit()) { kind } else { word }
}

/// Lines of two texts that differ, as a unified diff without context: of PTX, where there is no SASS.
pub fn unified(before: &str, after: &str) -> Vec<Line> {
    let difference = TextDiff::from_lines(before, after);
    let changes = difference.iter_all_changes().filter_map(|change| {
        let kind = match change.tag() {
            ChangeTag::Equal => return None,
            ChangeTag::Delete => Kind::Gone,
            ChangeTag::Insert => Kind::Come,
        };
        Some(Line { kind, text: change.value().trim_end().to_owned() })
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use warpwise_nvtools::nvdisasm::SourceLine;

    use super::*;

    fn instruction(line: u32, text: &str) -> Instruction {
        let (predicate, text) = match text.split_once(' ') {
            Some((predicate, rest)) if predicate.starts_with('@') => (Some(predicate.to_owned()), rest),
            _ => (None, text),
        };
        let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
        Instruction {
            address: 0,
            predicate,
            opcode: opcode.to_owned(),
            operands: operands.to_owned(),
            encoding: 0,
            source: [SourceLine { file: "a.rs".into(), line }].into(),
            live: None,
        }
    }

    fn function(lines: &[(u32, &str)]) -> Function {
        let instructions = lines.iter().map(|(line, text)| instruction(*line, text)).collect();
        Function { instructions, ..Function::default() }
    }

    #[test]
    fn other_registers_and_labels_are_no_change_and_other_instructions_are_at_their_line() {
        let before = function(&[(1, "LDG.E R2, desc[UR4][R6.64]"), (2, "@!P0 BRA `(.L_x_1)"), (3, "FADD R1, R2, R3")]);
        let after = function(&[
            (1, "LDG.E R9, desc[UR6][R12.64]"),
            (2, "@!P3 BRA `(.L_x_7)"),
            (3, "FFMA R1, R2, R3, RZ"),
            (4, "STL [R1+0x4], R9"),
            (4, "NOP"),
        ]);
        let sections = align(&before, &after);
        let changed: Vec<&Section> = sections.iter().filter(|section| section.is_changed()).collect();
        assert_eq!(changed.iter().map(|section| section.place.as_str()).collect::<Vec<_>>(), ["a.rs:3", "a.rs:4"]);
        let line = |kind, text: &str| Line { kind, text: text.to_owned() };
        assert_eq!(changed[0].lines, [line(Kind::Gone, "FADD R1, R2, R3"), line(Kind::Come, "FFMA R1, R2, R3, RZ")]);
        assert_eq!(changed[1].lines, [line(Kind::Come, "STL [R1+0x4], R9")], "padding is no instruction");
        assert_eq!(sections[0].lines, [line(Kind::Same, "LDG.E R9, desc[UR6][R12.64]")]);
    }

    #[test]
    fn other_constants_sizes_and_senses_of_a_predicate_are_changes() {
        for (before, after) in [
            ("FADD R1, R2, 1", "FADD R1, R2, 2"),
            ("LDG.E R2, [R4.64]", "LDG.E.128 R2, [R4.64]"),
            ("@P0 EXIT", "@!P0 EXIT"),
            ("FADD R1, R2, R3", "FADD R1, R2, RZ"),
            ("FADD R1, R2, R3", "FADD R1, R2, -R3"),
        ] {
            let sections = align(&function(&[(1, before)]), &function(&[(1, after)]));
            assert!(sections[0].is_changed(), "{before} and {after}");
        }
    }
}
