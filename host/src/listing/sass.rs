//! One kernel of a SASS listing as lines with their sources.

use warpwise_nvtools::nvdisasm::{Function, Instruction};

use super::{Line, SourcePlace};

/// The instructions and labels of a kernel, up to its last instruction that does anything.
pub fn entry(function: &Function) -> Vec<Line> {
    let end = function.instructions.iter().rposition(|instruction| !is_padding(instruction)).map_or(0, |last| last + 1);
    let mut lines = Vec::new();
    let mut labels = function.labels.iter().peekable();
    for instruction in &function.instructions[..end] {
        while let Some(label) = labels.next_if(|label| label.address <= instruction.address) {
            lines.push(Line { source: None, text: format!("{}:", label.name) });
        }
        lines.push(Line { source: source(instruction), text: text(instruction) });
    }
    lines
}

/// `NOP`, and the jump to itself that keeps the fetch unit from running past the end.
fn is_padding(instruction: &Instruction) -> bool {
    instruction.base_opcode() == "NOP"
}

fn source(instruction: &Instruction) -> Option<SourcePlace> {
    let innermost = instruction.source.first()?;
    Some(SourcePlace { file: innermost.file.to_string(), line: innermost.line })
}

/// Address, predicate, opcode and operands in columns.
fn text(instruction: &Instruction) -> String {
    let Instruction { address, predicate, opcode, operands, .. } = instruction;
    let predicate = predicate.as_deref().unwrap_or_default();
    format!("  {address:04x}  {predicate:>5} {opcode} {operands}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use warpwise_nvtools::nvdisasm::{Label, SourceLine};

    use super::*;

    fn instruction(address: u32, opcode: &str, operands: &str, line: u32) -> Instruction {
        Instruction {
            address,
            predicate: (opcode == "EXIT").then(|| "@P0".to_owned()),
            opcode: opcode.to_owned(),
            operands: operands.to_owned(),
            encoding: 0,
            source: Arc::from([SourceLine { file: "src/vecadd.rs".into(), line }]),
            live: None,
        }
    }

    #[test]
    fn labels_stand_before_their_instruction_and_padding_is_left_out() {
        let function = Function {
            name: "k".to_owned(),
            instructions: vec![
                instruction(0, "EXIT", "", 14),
                instruction(16, "BRA", "`(.L_x_0)", 19),
                instruction(32, "NOP", "", 19),
            ],
            labels: vec![Label { address: 16, name: ".L_x_0".to_owned() }],
        };
        let text: Vec<String> = entry(&function).into_iter().map(|line| line.text).collect();
        assert_eq!(text, ["  0000    @P0 EXIT", ".L_x_0:", "  0010        BRA `(.L_x_0)"]);
    }
}
