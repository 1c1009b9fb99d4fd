//! How many instructions of each opcode a kernel has, and how two such counts differ.

use std::collections::BTreeMap;

use warpwise_nvtools::nvdisasm::Function;

use crate::sass_words;

/// Instructions by opcode, without modifiers; the padding behind the code is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mix(BTreeMap<String, usize>);

impl Mix {
    pub fn of(function: &Function) -> Self {
        let mut mix = Self::default();
        for instruction in body(function) {
            *mix.0.entry(instruction.base_opcode().to_owned()).or_insert(0) += 1;
        }
        mix
    }

    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Opcodes and their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(opcode, count)| (opcode.as_str(), *count))
    }

    /// Instructions by what kind they are of, in the order of the table of opcodes; kinds that do not occur have none.
    pub fn by_group(&self) -> Vec<(&'static str, usize)> {
        let mut groups: Vec<(&'static str, usize)> = Vec::new();
        let mut known = 0;
        for opcode in sass_words::opcodes() {
            let count = self.count(&opcode.name);
            known += count;
            match groups.iter_mut().find(|(group, _)| *group == opcode.group) {
                Some((_, sum)) => *sum += count,
                None => groups.push((&opcode.group, count)),
            }
        }
        groups.push(("other", self.total() - known));
        groups
    }

    pub fn count(&self, opcode: &str) -> usize {
        self.0.get(opcode).copied().unwrap_or(0)
    }

    /// What came in and what went since `before`, the largest difference first.
    pub fn since(&self, before: &Self) -> Vec<(String, i64)> {
        let opcodes = self.0.keys().chain(before.0.keys().filter(|opcode| !self.0.contains_key(*opcode)));
        let difference = |opcode: &String| self.count(opcode) as i64 - before.count(opcode) as i64;
        let mut differences: Vec<(String, i64)> =
            opcodes.map(|opcode| (opcode.clone(), difference(opcode))).filter(|(_, by)| *by != 0).collect();
        differences.sort_by_key(|(opcode, by)| (-by.abs(), opcode.clone()));
        differences
    }
}

/// The instructions without the padding behind them: the branch to itself that ends the code and what follows.
fn body(function: &Function) -> impl Iterator<Item = &warpwise_nvtools::nvdisasm::Instruction> {
    let is_padding = |opcode: &str| opcode == "NOP";
    let end = function.instructions.iter().rposition(|instruction| !is_padding(instruction.base_opcode()));
    function.instructions.iter().take(end.map_or(0, |end| end + 1))
}

#[cfg(test)]
mod tests {
    use warpwise_nvtools::nvdisasm::Instruction;

    use super::*;

    fn function(opcodes: &[&str]) -> Function {
        let instruction = |opcode: &&str| Instruction {
            address: 0,
            predicate: None,
            opcode: (*opcode).to_owned(),
            operands: String::new(),
            encoding: 0,
            source: [].into(),
            live: None,
        };
        Function { instructions: opcodes.iter().map(instruction).collect(), ..Function::default() }
    }

    #[test]
    fn opcodes_are_counted_without_modifiers_and_padding_not_at_all() {
        let mix = Mix::of(&function(&["LDG.E", "NOP", "LDG.E.128", "EXIT", "BRA", "NOP", "NOP"]));
        assert_eq!(mix.iter().collect::<Vec<_>>(), [("BRA", 1), ("EXIT", 1), ("LDG", 2), ("NOP", 1)]);
        assert_eq!(mix.total(), 5);
        let groups: Vec<_> = mix.by_group().into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(groups, [("memory", 2), ("control", 3)]);
    }

    #[test]
    fn differences_come_largest_first_and_equal_counts_not_at_all() {
        let before = Mix::of(&function(&["FFMA", "FADD", "MOV"]));
        let after = Mix::of(&function(&["FFMA", "FFMA", "FFMA", "MOV", "LDL"]));
        let differences: Vec<(String, i64)> =
            [("FFMA", 2), ("FADD", -1), ("LDL", 1)].map(|(opcode, by)| (opcode.to_owned(), by)).to_vec();
        assert_eq!(after.since(&before), differences);
        assert_eq!(after.since(&after), []);
    }
}
