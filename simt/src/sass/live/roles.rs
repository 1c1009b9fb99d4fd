//! Which registers an instruction reads and writes, from its text and, where that does not show them, its encoding.

use super::table::{Writes, row_of};
use super::{Abi, File, Register, Rule, Set};
use crate::sass::Instruction;
use crate::sass::operand::split;

/// What an instruction does with registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roles {
    pub reads: Set,
    pub writes: Set,
    /// Alive behind it, though it reads them not: what a function leaves as it found it, at its return.
    pub keeps: Set,
    /// Whether what was in the written registers before may still be there behind it.
    pub conditional: bool,
}

pub(super) fn roles(instruction: &Instruction, abi: &Abi, rule: Rule) -> Roles {
    let mut parts = instruction.opcode.split('.');
    let base = parts.next().unwrap_or_default();
    let modifiers: Vec<&str> = parts.collect();
    let text = without_targets(base, &instruction.operands);
    let operands = split(&text);
    let row = row_of(base);
    let written = written(row.writes, &operands);
    let mut roles = Roles::default();
    for (place, operand) in operands.iter().enumerate() {
        let side = if place < written { &mut roles.writes } else { &mut roles.reads };
        if let Some(predicate) = predicate(operand) {
            side.insert(predicate);
        } else if *operand == "PR" {
            // nvdisasm shows none of the predicates that P2R and R2P move.
            if rule == Rule::Exact {
                let side = if base == "R2P" { &mut roles.writes } else { &mut roles.reads };
                packed(operands.last()).for_each(|predicate| side.insert(predicate));
            }
        } else if operand.contains('[') {
            let pairs = base.starts_with("ATOM") && modifiers.contains(&"CAS") && modifiers.contains(&"E");
            addressing(operand, pairs, &mut roles.reads);
        } else if let Some(register) = register(operand) {
            insert(side, register, row.width.of(base, &modifiers, place, written));
        }
    }
    if let Some(descriptor) = hidden_descriptor(instruction, abi) {
        insert(&mut roles.reads, descriptor, 2);
    }
    match base {
        "CALL" => abi.call(&mut roles),
        "RET" => roles.keeps = abi.kept(),
        _ => {}
    }
    let guard = instruction.predicate.as_deref().and_then(|text| predicate(text.trim_start_matches('@')));
    if let Some(guard) = guard {
        roles.reads.insert(guard);
        // nvdisasm takes a uniform guard to hold always.
        roles.conditional = rule == Rule::Exact || guard.file == File::Predicate;
    }
    roles
}

/// RET and BRX have a space between operands, and BRX its targets behind.
fn without_targets(base: &str, operands: &str) -> String {
    match base {
        "RET" | "BRX" | "JMX" => operands.split("(*").next().unwrap_or_default().trim().replacen(' ', ", ", 1),
        _ => operands.to_owned(),
    }
}

/// How many operands are written.
fn written(writes: Writes, operands: &[&str]) -> usize {
    let is_predicate = |place: usize| operands.get(place).is_some_and(|text| is_predicate(text));
    match writes {
        Writes::Nothing => 0,
        Writes::First(count) => count,
        Writes::Leading(behind) => {
            let first = usize::from(is_predicate(0));
            match operands.get(first).is_some_and(|text| is_register(text)) {
                false => first,
                true => first + 1 + (1..=behind).take_while(|more| is_predicate(first + more)).count(),
            }
        }
    }
}

/// `P0`, `!UP3`, and `PT`, which is no register but stands in a predicate's place.
fn is_predicate(text: &str) -> bool {
    let name = text.trim_start_matches('!');
    let name = name.strip_prefix('U').unwrap_or(name);
    name.strip_prefix('P').is_some_and(|number| number == "T" || number.parse::<u16>().is_ok())
}

fn predicate(text: &str) -> Option<Register> {
    let name = text.trim_start_matches('!');
    let (file, name) = match name.strip_prefix('U') {
        Some(name) => (File::UniformPredicate, name),
        None => (File::Predicate, name),
    };
    Some(Register { file, index: name.strip_prefix('P')?.parse().ok()? })
}

/// `R5`, `-|UR4|.reuse`, and `RZ`.
fn is_register(text: &str) -> bool {
    register(text).is_some() || matches!(name_of(text), "RZ" | "URZ")
}

fn register(text: &str) -> Option<Register> {
    named(name_of(text))
}

/// A register's name without signs before it and suffixes behind it.
fn name_of(text: &str) -> &str {
    let text = text.trim_start_matches(['-', '~', '|', '!']);
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

fn named(name: &str) -> Option<Register> {
    let (file, number) = match name.strip_prefix("UR") {
        Some(number) => (File::Uniform, number),
        None => (File::General, name.strip_prefix('R')?),
    };
    Some(Register { file, index: number.parse().ok()? })
}

/// The registers in `desc[UR4][R2.64+UR6+0x10]` and `c[0x3][R5]`: pairs where `.64` says so, where they are a descriptor, and
/// general ones where `pairs` does.
fn addressing(operand: &str, pairs: bool, reads: &mut Set) {
    let inner = operand.strip_prefix("desc").unwrap_or(operand);
    for (bracket, text) in inner.split('[').skip(1).enumerate() {
        let text = text.split(']').next().unwrap_or_default();
        let descriptor = bracket == 0 && inner.len() < operand.len();
        for part in text.split('+') {
            let Some(register) = register(part) else { continue };
            let wide = descriptor || part.split('.').any(|suffix| suffix == "64");
            let pair = wide || pairs && register.file == File::General;
            insert(reads, register, if pair { 2 } else { 1 });
        }
    }
}

fn insert(set: &mut Set, first: Register, count: u16) {
    (0..count).for_each(|more| set.insert(Register { index: first.index + more, ..first }));
}

/// The predicates that P2R and R2P move: bits of the last operand; all without one.
fn packed(mask: Option<&&str>) -> impl Iterator<Item = Register> {
    let mask = mask.and_then(|text| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()).unwrap_or(0x7f);
    (0..7).filter(move |bit| mask >> bit & 1 == 1).map(|index| Register { file: File::Predicate, index })
}

/// The pair of uniform registers with a descriptor that 8.x takes for global memory and nvdisasm does not print. Where it is in
/// the encoding was found by comparison with what nvdisasm says is alive.
fn hidden_descriptor(instruction: &Instruction, abi: &Abi) -> Option<Register> {
    let encoding = instruction.encoding;
    if abi.arch >= 90 || encoding >> 91 & 1 == 0 || instruction.operands.contains("desc") {
        return None;
    }
    let at = match encoding & 0xfff {
        0x981 => 32,
        0x986 | 0x98a | 0x98e | 0x9a8 | 0xfae => 64,
        _ => return None,
    };
    Some(Register { file: File::Uniform, index: (encoding >> at & 0x3f) as u16 })
}
