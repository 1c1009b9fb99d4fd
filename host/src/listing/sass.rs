//! One kernel of a cubin as lines with their sources.

use std::collections::HashMap;

use warpwise_nvtools::nvdisasm::{Control, Function, Instruction};
use warpwise_simt::sass::live::{self, File, Live, Register, Rule};

use super::life::Counts;
use super::{Life, Line, Listing, SourcePlace, Use};
use crate::kernels::{Sass, SassUnusable};

/// A kernel's lines, with what is alive at each if that is asked for.
///
/// # Errors
/// If the cubin has no code of that name.
pub fn listing(sass: &Sass, name: &str, with_life: bool) -> Result<Listing, SassUnusable> {
    let function = sass.function(name)?;
    let (lines, indices) = lines(function);
    let life = with_life.then(|| life(sass, name, function, &indices)).transpose()?;
    Ok(Listing { lines, life })
}

/// The instructions and labels of a kernel, up to its last instruction that does anything, and which instruction each line is.
fn lines(function: &Function) -> (Vec<Line>, Vec<Option<usize>>) {
    let end = function.instructions.iter().rposition(|instruction| !is_padding(instruction)).map_or(0, |last| last + 1);
    let (mut lines, mut indices) = (Vec::new(), Vec::new());
    let mut labels = function.labels.iter().peekable();
    for (index, instruction) in function.instructions[..end].iter().enumerate() {
        while let Some(label) = labels.next_if(|label| label.address <= instruction.address) {
            lines.push(Line { text: format!("{}:", label.name), ..Line::default() });
            indices.push(None);
        }
        lines.push(line(instruction));
        indices.push(Some(index));
    }
    (lines, indices)
}

fn line(instruction: &Instruction) -> Line {
    let place =
        |line: &warpwise_nvtools::nvdisasm::SourceLine| SourcePlace { file: line.file.to_string(), line: line.line };
    let chain: Vec<SourcePlace> = instruction.source.iter().map(place).collect();
    Line {
        source: Line::own(&chain),
        chain,
        text: text(instruction),
        is_instruction: true,
        control: Some(control(instruction.control())),
        ..Line::default()
    }
}

/// `NOP`, which fills the code up behind its end.
fn is_padding(instruction: &Instruction) -> bool {
    instruction.base_opcode() == "NOP"
}

/// Address, predicate, opcode and operands in columns.
fn text(instruction: &Instruction) -> String {
    let Instruction { address, predicate, opcode, operands, .. } = instruction;
    let predicate = predicate.as_deref().unwrap_or_default();
    format!("{address:04x} {predicate:>5} {opcode} {operands}").trim_end().to_owned()
}

/// As assemblers write it, and the operands that are kept for reuse: `B0-----:R-:W2:-:S01:a--`.
fn control(control: Control) -> String {
    let slots = "abcd".chars().enumerate();
    let reuse: String =
        slots.map(|(slot, name)| if control.reuse_mask >> slot & 1 == 1 { name } else { '-' }).collect();
    format!("{control}:{reuse}")
}

fn life(sass: &Sass, name: &str, function: &Function, lines: &[Option<usize>]) -> Result<Life, SassUnusable> {
    let (theirs, exact) = (sass.live(name, Rule::Nvdisasm)?, sass.live(name, Rule::Exact)?);
    let mut numbers: HashMap<Register, usize> = HashMap::new();
    let mut life = Life::default();
    let line_of: HashMap<usize, usize> =
        lines.iter().enumerate().filter_map(|(at, index)| Some(((*index)?, at))).collect();
    let successors = sass.successors(name)?;
    for index in lines {
        let Some(index) = *index else {
            life.counts.push(Counts::default());
            life.alive.push(Vec::new());
            life.successors.push(Vec::new());
            continue;
        };
        life.counts.push(counts(&theirs[index], &exact[index]));
        let guarded = function.instructions[index].predicate.is_some();
        let alive = exact[index].registers.iter().map(|(register, usage)| {
            let number = *numbers.entry(*register).or_insert_with(|| {
                life.names.push(register.to_string());
                life.names.len() - 1
            });
            (number, usage_of(*usage, guarded))
        });
        life.alive.push(alive.collect());
        life.successors.push(successors[index].iter().filter_map(|next| line_of.get(next).copied()).collect());
    }
    Ok(life)
}

fn counts(theirs: &Live, exact: &Live) -> Counts {
    let of = |file| theirs.count(file) as u32;
    Counts {
        general: of(File::General),
        uniform: of(File::Uniform),
        predicates: of(File::Predicate),
        uniform_predicates: of(File::UniformPredicate),
        kept: (exact.count(File::General) - theirs.count(File::General).min(exact.count(File::General))) as u32,
    }
}

fn usage_of(usage: live::Use, guarded: bool) -> Use {
    match usage {
        live::Use::Written if guarded => Use::WrittenInPart,
        live::Use::Written => Use::Written,
        live::Use::Read => Use::Read,
        live::Use::ReadAndWritten => Use::ReadAndWritten,
        live::Use::Held => Use::Held,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use warpwise_nvtools::nvdisasm::{Label, SourceLine};

    use super::*;

    fn instruction(address: u32, opcode: &str, operands: &str, files: &[(&str, u32)]) -> Instruction {
        let source: Vec<SourceLine> =
            files.iter().map(|(file, line)| SourceLine { file: (*file).into(), line: *line }).collect();
        Instruction {
            address,
            predicate: (opcode == "EXIT").then(|| "@P0".to_owned()),
            opcode: opcode.to_owned(),
            operands: operands.to_owned(),
            encoding: 5 << 105 | 0b101 << 122,
            source: Arc::from(source),
            live: None,
        }
    }

    fn function() -> Function {
        Function {
            name: "k".to_owned(),
            instructions: vec![
                instruction(0, "EXIT", "", &[("src/vecadd.rs", 14)]),
                instruction(16, "BRA", "`(.L_x_0)", &[("/rustc/library/core/num.rs", 9), ("src/vecadd.rs", 19)]),
                instruction(32, "NOP", "", &[]),
            ],
            labels: vec![Label { address: 16, name: ".L_x_0".to_owned() }],
        }
    }

    #[test]
    fn labels_stand_before_their_instruction_and_padding_is_left_out() {
        let text: Vec<String> = lines(&function()).0.into_iter().map(|line| line.text).collect();
        assert_eq!(text, ["0000   @P0 EXIT", ".L_x_0:", "0010       BRA `(.L_x_0)"]);
    }

    #[test]
    fn an_instruction_of_the_library_belongs_to_the_line_that_called() {
        let lines = lines(&function()).0;
        assert_eq!(lines[2].source.as_ref().map(SourcePlace::short).as_deref(), Some("vecadd.rs:19"));
        assert_eq!(lines[2].chain.len(), 2);
        assert_eq!(lines[1].source, None);
    }

    #[test]
    fn control_says_what_is_kept_for_reuse() {
        let control = lines(&function()).0[0].control.clone().expect("an instruction has it");
        assert_eq!(control, "B------:R0:W0:Y:S05:a-c-");
    }
}
