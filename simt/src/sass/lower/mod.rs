//! From disassembly to the inner form, one instruction at a time.

mod control;
mod convert;
mod float;
mod half;
mod integer;
mod logic;
mod memory;
mod modifiers;
mod place;
mod warp;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::bank::Bank;
use super::cubin::Entry;
use super::error::{Problem, SassError};
use super::operand::{Changes, Operand, Register, parse_all};
use super::{Code, Instruction};
use crate::exec::operand_words;
use crate::isa::{
    Alu, AluKind, Constant, Instr, InstrInfo, Isa, Mods, Op, Pc, Pred, PredOperand, PredSrc, Program, Slot, SourceLine,
    Src, Ty,
};
use modifiers::Modifiers;
use place::Layout;

/// Most words of constants; an operand has 15 bits for them, and the executor adds some.
const CONSTANTS_MAX: usize = 30_000;

/// The kernel in the inner form.
///
/// # Errors
/// The first instruction that the machine does not know.
pub fn lower(entry: &Entry, code: &Code) -> Result<Program, SassError> {
    if code.instructions.is_empty() {
        return Err(SassError::Empty { kernel: entry.name.clone() });
    }
    if !(80..130).contains(&entry.arch) {
        let arch = format!("sm_{}", entry.arch);
        return Err(SassError::Architecture { kernel: entry.name.clone(), arch });
    }
    let mut lowering = Lowering::new(entry, code);
    let mut lowered = Vec::with_capacity(code.instructions.len());
    for instruction in &code.instructions {
        let unsupported = |what: Problem| SassError::Unsupported {
            kernel: entry.name.clone(),
            address: instruction.address,
            text: instruction.text(),
            what,
        };
        lowered.push(lowering.instruction(instruction).map_err(unsupported)?);
    }
    lowering.finish(entry, code, lowered)
}

/// What is kept from instruction to instruction.
struct Lowering<'a> {
    entry: &'a Entry,
    labels: HashMap<&'a str, u32>,
    end: u32,
    layout: Layout,
    bank: Bank,
    constants: Vec<Constant>,
    /// Where a run of words stands among the constants.
    known: HashMap<Vec<Constant>, u16>,
    /// Banks that a register chooses from, and where each starts in `banks`.
    placed: Vec<(u32, u32)>,
    banks: Vec<Constant>,
}

/// One instruction with its parts read.
struct Parts<'a> {
    /// Without a leading `U`.
    base: &'a str,
    /// The uniform form of an opcode.
    modifiers: Modifiers<'a>,
    operands: Vec<Operand>,
    encoding: u128,
    address: u32,
}

impl Parts<'_> {
    /// The immediate of 32 bits that most formats have there.
    fn immediate(&self) -> u32 {
        (self.encoding >> 32) as u32
    }
}

type Lowered = Result<Instr, Problem>;

impl<'a> Lowering<'a> {
    fn new(entry: &'a Entry, code: &'a Code) -> Self {
        let labels = code.labels.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        let end = code.instructions.last().map_or(0, |last| last.address.saturating_add(16));
        let bank = Bank { arch: entry.arch, params: entry.params_at, stack_bytes: entry.local_bytes };
        let layout = Layout::of(code);
        let (constants, known, placed, banks) = Default::default();
        Self { entry, labels, end, layout, bank, constants, known, placed, banks }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Lowered {
        let mut names = instruction.opcode.split('.');
        let base = names.next().unwrap_or_default();
        let parts = Parts {
            base,
            modifiers: Modifiers::new(names.collect()),
            operands: parse_all(&separated(base, &instruction.operands))?,
            encoding: instruction.encoding,
            address: instruction.address,
        };
        let guard = self.guard(instruction.predicate.as_deref())?;
        let groups = [Self::integer, Self::logic, Self::float, Self::convert, Self::memory, Self::control, Self::warp];
        for group in groups {
            if let Some(lowered) = group(self, &parts) {
                let instr = guarded(lowered?, guard);
                parts.modifiers.all_known()?;
                return match operand_words(&instr.op) {
                    Some(_) => Ok(instr),
                    None => Err("the machine has no such operation".to_owned()),
                };
            }
        }
        Err(format!("the machine does not know the opcode {base}"))
    }

    fn guard(&self, text: Option<&str>) -> Result<PredSrc, Problem> {
        let Some(text) = text.and_then(|text| text.strip_prefix('@')) else { return Ok(PredSrc::TRUE) };
        match parse_all(text)?.as_slice() {
            [operand] => self.predicate(operand),
            _ => Err(format!("the guard `{text}` is no predicate")),
        }
    }

    /// A predicate that is read.
    fn predicate(&self, operand: &Operand) -> Result<PredSrc, Problem> {
        let Operand::Predicate { uniform, number, negate } = *operand else {
            return Err(format!("a predicate was expected, and {operand:?} is there"));
        };
        Ok(PredSrc { pred: place::predicate(uniform, number)?, negate })
    }

    /// A predicate that is written; none for PT.
    fn result_predicate(&self, operand: &Operand) -> Result<Option<Pred>, Problem> {
        let source = self.predicate(operand)?;
        Ok(Some(source.pred).filter(|pred| *pred != Pred::TRUE))
    }

    /// A register that is written, the first of several; none for RZ.
    fn result(&self, operand: &Operand) -> Result<Option<Slot>, Problem> {
        match operand {
            Operand::Register { register, .. } => self.slot(*register),
            Operand::Barrier(number) => Ok(Some(self.layout.barrier(*number)?)),
            other => Err(format!("a register was expected, and {other:?} is there")),
        }
    }

    fn slot(&self, register: Register) -> Result<Option<Slot>, Problem> {
        register.number.map(|number| self.layout.slot(register.file, number)).transpose()
    }

    /// Words that do not change within a launch, in a row.
    fn constant(&mut self, words: &[Constant]) -> Result<Src, Problem> {
        if let Some(at) = self.known.get(words) {
            return Ok(Src::constant(*at));
        }
        let at = self.constants.len();
        if at + words.len() > CONSTANTS_MAX {
            return Err(format!("more than {CONSTANTS_MAX} constants"));
        }
        self.constants.extend_from_slice(words);
        self.known.insert(words.to_vec(), at as u16);
        Ok(Src::constant(at as u16))
    }

    fn literal(&mut self, value: u64, words: u16) -> Result<Src, Problem> {
        let parts: Vec<Constant> =
            (0..words).map(|word| Constant::Literal((value >> (32 * u32::from(word).min(1))) as u32)).collect();
        self.constant(&parts)
    }

    /// A source of so many words, with what is done to it.
    fn source(&mut self, parts: &Parts<'_>, at: usize, words: u16) -> Result<(Src, Changes), Problem> {
        let operand = parts.operands.get(at).ok_or_else(|| format!("operand {at} is missing"))?;
        match operand {
            Operand::Register { register, changes, suffix } => {
                if !suffix.is_empty() {
                    return Err(format!("the machine does not know `.{suffix}` of a register"));
                }
                let src = match self.slot(*register)? {
                    Some(slot) => Src::slot(slot),
                    None => self.literal(0, words)?,
                };
                Ok((src, *changes))
            }
            Operand::Integer(value) => Ok((self.literal(*value as u64, words)?, Changes::default())),
            Operand::Decimal(_) if words == 1 => Ok((self.literal(parts.immediate().into(), 1)?, Changes::default())),
            // The upper half of a double.
            Operand::Decimal(_) => Ok((self.literal(u64::from(parts.immediate()) << 32, 2)?, Changes::default())),
            Operand::Constant { bank, register: None, offset, changes } => {
                Ok((self.bank_words(*bank, *offset, words)?, *changes))
            }
            Operand::Constant { .. } => Err("the machine does not know an indexed constant as an operand".to_owned()),
            other => Err(format!("a source was expected, and {other:?} is there")),
        }
    }

    /// Words of a constant bank.
    fn bank_words(&mut self, bank: u32, offset: i64, words: u16) -> Result<Src, Problem> {
        let byte = u32::try_from(offset).ok().filter(|byte| byte % 4 == 0);
        let byte = byte.ok_or_else(|| format!("{offset:#x} is no word of a constant bank"))?;
        let word = |index: u16| {
            let byte = byte.saturating_add(4 * u32::from(index));
            let word = match bank {
                0 => self.bank.word(byte),
                _ => self.entry.bank(bank).get(byte as usize / 4).cloned().flatten(),
            };
            word.ok_or_else(|| format!("nobody knows what is at c[{bank:#x}][{byte:#x}]"))
        };
        let words = (0..words).map(word).collect::<Result<Vec<_>, _>>()?;
        self.constant(&words)
    }

    /// A lane-wise instruction: its sources are the operands from `first` on, of so many words each.
    fn lanewise(
        &mut self,
        parts: &Parts<'_>,
        kind: AluKind,
        ty: Ty,
        mods: Mods,
        first: usize,
        words: &[u16],
    ) -> Lowered {
        let mut instr = Instr::new(Op::Nop);
        let mut mods = mods;
        for (index, words) in words.iter().enumerate() {
            let (src, changes) = self.source(parts, first + index, *words)?;
            instr.src[index] = src;
            mods.neg |= u8::from(changes.negate) << index;
            mods.abs |= u8::from(changes.absolute) << index;
            mods.invert |= u8::from(changes.invert) << index;
        }
        instr.op = Op::Alu(Alu { kind, ty, from: ty, mods });
        Ok(instr)
    }

    /// As [`Lowering::lanewise`], of the plain form `OP result, sources…`.
    fn plain(&mut self, parts: &Parts<'_>, kind: AluKind, ty: Ty, mods: Mods, words: &[u16]) -> Lowered {
        let instr = self.lanewise(parts, kind, ty, mods, 1, words)?;
        expect_count(parts, 1 + words.len())?;
        self.with_result(parts, instr)
    }

    /// Puts the first operand as the result.
    fn with_result(&self, parts: &Parts<'_>, mut instr: Instr) -> Lowered {
        instr.dst[0] = self.result(first(parts)?)?;
        Ok(instr)
    }

    /// The instruction that a label stands before.
    fn target(&self, operand: &Operand) -> Result<Pc, Problem> {
        let byte = match operand {
            Operand::Label(name) if *name == self.entry.name => 0,
            Operand::Label(name) => {
                *self.labels.get(name.as_str()).ok_or_else(|| format!("the label {name} is nowhere"))?
            }
            Operand::Integer(byte) => u32::try_from(*byte).map_err(|_| format!("{byte} is no address"))?,
            other => return Err(format!("a label was expected, and {other:?} is there")),
        };
        if byte > self.end || byte % 16 != 0 {
            return Err(format!("{byte:#x} is no instruction of the kernel"));
        }
        Ok(byte / 16)
    }

    fn finish(self, entry: &Entry, code: &Code, lowered: Vec<Instr>) -> Result<Program, SassError> {
        let mut files: Vec<Arc<str>> = Vec::new();
        let mut info = Vec::with_capacity(lowered.len());
        for (index, instruction) in code.instructions.iter().enumerate() {
            let line = |(file, line): &(Arc<str>, u32)| {
                let at = files.iter().position(|known| known == file).unwrap_or_else(|| {
                    files.push(file.clone());
                    files.len() - 1
                });
                SourceLine { file: at as u32, line: *line, column: 0 }
            };
            let source = instruction.source.iter().map(line).collect();
            info.push(InstrInfo { text: instruction.text().into(), listing_line: index as u32 + 1, source });
        }
        Ok(Program {
            name: entry.name.clone(),
            isa: Isa::Sass,
            control: code.instructions.iter().map(|instruction| instruction.control).collect(),
            code: lowered,
            info,
            params: entry.params.clone(),
            constants: self.constants,
            banks: self.banks,
            tables: Vec::new(),
            slot_count: self.layout.slot_count(),
            pred_count: place::PREDICATES,
            shared_static_bytes: entry.shared_static_bytes,
            shared_reserved_bytes: entry.shared_reserved_bytes,
            shared_dynamic_offset: entry.shared_static_bytes.next_multiple_of(16),
            local_bytes: entry.local_bytes,
            max_threads: entry.max_threads,
            required_threads: entry.required_threads,
            min_blocks_per_sm: None,
            max_registers: None,
            estimated_registers: entry.registers,
            barrier_count: entry.barrier_count,
            files,
        })
    }
}

/// The instruction under its guard. BRA.DIV goes by it in another way: lanes in which it is false count as absent.
fn guarded(instr: Instr, guard: PredSrc) -> Instr {
    match instr.op {
        Op::BranchMembers { .. } => Instr { psrc: guard, ..instr },
        _ => Instr { guard, ..instr },
    }
}

/// The operands of jumps by register have a space between them, and a remark on the targets behind.
fn separated<'t>(base: &str, operands: &'t str) -> Cow<'t, str> {
    if !matches!(base, "RET" | "BRX") {
        return operands.into();
    }
    let operands = operands.split("(*").next().unwrap_or_default().trim();
    operands.replacen(' ', ", ", 1).into()
}

fn first<'p>(parts: &'p Parts<'_>) -> Result<&'p Operand, Problem> {
    operand(parts, 0)
}

fn operand<'p>(parts: &'p Parts<'_>, at: usize) -> Result<&'p Operand, Problem> {
    parts.operands.get(at).ok_or_else(|| format!("operand {at} is missing"))
}

fn expect_count(parts: &Parts<'_>, count: usize) -> Result<(), Problem> {
    match parts.operands.len() == count {
        true => Ok(()),
        false => Err(format!("{} operands where {count} were expected", parts.operands.len())),
    }
}

/// How many operands, from `at` on, are predicates.
fn predicates_from(parts: &Parts<'_>, at: usize) -> usize {
    parts.operands[at.min(parts.operands.len())..]
        .iter()
        .take_while(|operand| matches!(operand, Operand::Predicate { .. }))
        .count()
}

/// A third or second predicate of an operation.
fn with_pa(mods: Mods, pa: PredSrc) -> Mods {
    Mods { pa: PredOperand(pa), ..mods }
}
