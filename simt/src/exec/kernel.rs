//! A program made ready to run: every instruction with its function, every operand checked.
//!
//! This is the only door to execution, so what passes here is what the unchecked accesses of [`super::frame`] rely on.

use std::sync::Arc;

use super::frame::{Decoded, Given, PredRef};
use super::ops::{self, CpuLevel};
use crate::isa::{Alu, AluKind, Constant, Instr, Mods, Op, Pc, Pred, PredSrc, Program, Slot, Src, Ty};

/// Why a program cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The machine has no function for an instruction.
    #[error("kernel {kernel}, line {line}: `{text}`: the machine cannot run {what}")]
    Unsupported { kernel: String, line: u32, text: Arc<str>, what: String },
    /// The front end broke the rules of the inner form.
    #[error("kernel {kernel}, line {line}: `{text}`: {what}; this is an error of the front end")]
    Malformed { kernel: String, line: u32, text: Arc<str>, what: String },
    #[error("kernel {kernel}: unknown variable `{name}`; load the module's variables before its kernels")]
    UnknownVariable { kernel: String, name: String },
}

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) program: Program,
    pub(crate) code: Vec<Decoded>,
    pub(crate) constants: Vec<LaunchWord>,
    pub(crate) banks: Vec<LaunchWord>,
    /// With the sink slots for results that nobody wants.
    pub(crate) slot_count: usize,
}

/// A constant whose value the launch fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchWord {
    Known(u32),
    Param { offset: u32, bytes: u8, signed: bool },
    BlockDim(u8),
    GridDim(u8),
    SmCount,
    WarpsPerSm,
    SharedDynamicBytes,
    SharedTotalBytes,
    GridId,
    Stored { address: u64, bytes: u8 },
}

/// Slots past the program's own that take unwanted results: the widest value has four words.
const SINK_SLOTS: u16 = 4;

impl Kernel {
    /// Chooses functions for `level` and resolves variables by `address_of`.
    ///
    /// # Errors
    /// [`PrepareError`], naming the first instruction that cannot run.
    pub fn prepare(
        program: &Program,
        level: CpuLevel,
        address_of: impl Fn(&str) -> Option<u64>,
    ) -> Result<Self, PrepareError> {
        let mut program = program.clone();
        // A zero for addresses without a base, and an exit for code that runs off its end.
        let zero = Src::constant(checked_index(&program, program.constants.len())?);
        program.constants.extend([Constant::Literal(0), Constant::Literal(0)]);
        program.code.push(Instr::new(Op::Exit));
        program.info.resize(program.code.len(), Default::default());
        let checker = Checker { program: &program, zero };
        let code = (0..program.code.len()).map(|pc| checker.decode(pc, level)).collect::<Result<_, _>>()?;
        checker.tables()?;
        let constants = program
            .constants
            .iter()
            .map(|constant| launch_word(&program, constant, &address_of))
            .collect::<Result<_, _>>()?;
        let banks =
            program.banks.iter().map(|word| launch_word(&program, word, &address_of)).collect::<Result<_, _>>()?;
        let slot_count = usize::from(program.slot_count + SINK_SLOTS);
        Ok(Self { program, code, constants, banks, slot_count })
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The instruction at `pc`; the last one is an exit that the code did not write.
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.program.code[pc as usize]
    }

    /// Bytes of registers that a resident warp keeps.
    pub fn warp_bytes(&self) -> usize {
        self.slot_count * size_of::<crate::isa::Lanes>() + usize::from(self.program.pred_count) * size_of::<u32>()
    }
}

/// An index that [`Src::constant`] takes, with room for the zeros.
fn checked_index(program: &Program, index: usize) -> Result<u16, PrepareError> {
    let most = usize::from(u16::MAX >> 1) - 3;
    let slots_fit = program.slot_count < (u16::MAX >> 1) - SINK_SLOTS;
    match u16::try_from(index) {
        Ok(small) if index < most && slots_fit && program.pred_count > 0 => Ok(small),
        _ => Err(PrepareError::Malformed {
            kernel: program.name.clone(),
            line: 0,
            text: Arc::from(""),
            what: format!("{index} constants, {} slots and {} predicates", program.slot_count, program.pred_count),
        }),
    }
}

fn launch_word(
    program: &Program,
    constant: &Constant,
    address_of: &impl Fn(&str) -> Option<u64>,
) -> Result<LaunchWord, PrepareError> {
    Ok(match constant {
        Constant::Literal(value) => LaunchWord::Known(*value),
        Constant::Param { offset, bytes, signed } => {
            LaunchWord::Param { offset: *offset, bytes: *bytes, signed: *signed }
        }
        Constant::BlockDim(axis) => LaunchWord::BlockDim((*axis).min(2)),
        Constant::GridDim(axis) => LaunchWord::GridDim((*axis).min(2)),
        Constant::SmCount => LaunchWord::SmCount,
        Constant::WarpsPerSm => LaunchWord::WarpsPerSm,
        Constant::SharedDynamicBytes => LaunchWord::SharedDynamicBytes,
        Constant::SharedTotalBytes => LaunchWord::SharedTotalBytes,
        Constant::GridId => LaunchWord::GridId,
        Constant::Variable { name, addend, word } => {
            let address = address_of(name)
                .ok_or_else(|| PrepareError::UnknownVariable { kernel: program.name.clone(), name: name.clone() })?;
            LaunchWord::Known((address.wrapping_add_signed(*addend) >> (32 * (word & 1))) as u32)
        }
        Constant::Stored { name, offset, bytes } => {
            let address = address_of(name)
                .ok_or_else(|| PrepareError::UnknownVariable { kernel: program.name.clone(), name: name.clone() })?;
            LaunchWord::Stored { address: address.wrapping_add(*offset), bytes: (*bytes).min(4) }
        }
        Constant::Function { name, .. } => {
            return Err(PrepareError::Unsupported {
                kernel: program.name.clone(),
                line: 0,
                text: Arc::from(name.as_str()),
                what: "the address of a function".to_owned(),
            });
        }
    })
}

struct Checker<'p> {
    program: &'p Program,
    zero: Src,
}

impl Checker<'_> {
    fn decode(&self, pc: usize, level: CpuLevel) -> Result<Decoded, PrepareError> {
        let instr = &self.program.code[pc];
        let picked = ops::choose(&instr.op).ok_or_else(|| self.unsupported(pc))?;
        let words = picked.words;
        let mut src = instr.src;
        for (operand, count) in src.iter_mut().zip(words.src) {
            if operand.is_none() && count > 0 {
                return Err(self.malformed(pc, "a source operand is missing"));
            }
            if operand.is_none() {
                *operand = self.zero;
            }
            self.source(pc, *operand, count.max(1))?;
        }
        let sink = Slot(self.program.slot_count);
        let mut dst = [sink; 4];
        for ((slot, given), count) in dst.iter_mut().zip(instr.dst).zip(words.dst) {
            *slot = given.unwrap_or(sink);
            if given.is_some() && u32::from(slot.0) + u32::from(count) > u32::from(self.program.slot_count) {
                return Err(self.malformed(pc, "a destination lies outside the slots"));
            }
        }
        let addr = if instr.addr.is_none() { self.zero } else { instr.addr };
        self.source(pc, addr, if wide_address(&instr.op) { 2 } else { 1 })?;
        let index = if instr.index.is_none() { self.zero } else { instr.index };
        self.source(pc, index, if wide_index(&instr.op) { 2 } else { 1 })?;
        self.target(pc, &instr.op)?;
        Ok(Decoded {
            run: picked.at(level),
            guard: self.pred(pc, instr.guard)?,
            src,
            dst,
            pdst: [self.result_pred(pc, instr.pdst[0])?, self.result_pred(pc, instr.pdst[1])?],
            psrc: self.pred(pc, instr.psrc)?,
            pa: self.pred(pc, alu_of(&instr.op).mods.pa.0)?,
            pb: self.pred(pc, alu_of(&instr.op).mods.pb.0)?,
            addr,
            index,
            offset: instr.offset,
            given: Given { src: instr.src.map(|src| !src.is_none()), dst: instr.dst.map(|dst| dst.is_some()) },
            flow: picked.flow,
            alu: alu_of(&instr.op),
            op: instr.op,
        })
    }

    fn source(&self, pc: usize, src: Src, words: u16) -> Result<(), PrepareError> {
        let size = match src.is_constant() {
            true => self.program.constants.len(),
            false => usize::from(self.program.slot_count),
        };
        match src.index() + usize::from(words) <= size {
            true => Ok(()),
            false => Err(self.malformed(pc, "a source operand lies outside its file")),
        }
    }

    fn pred(&self, pc: usize, pred: PredSrc) -> Result<PredRef, PrepareError> {
        match pred.pred.0 < self.program.pred_count {
            true => Ok(PredRef { index: pred.pred.0, flip: if pred.negate { u32::MAX } else { 0 } }),
            false => Err(self.malformed(pc, "a predicate lies outside the predicates")),
        }
    }

    fn result_pred(&self, pc: usize, pred: Option<Pred>) -> Result<u16, PrepareError> {
        self.pred(pc, PredSrc::is(pred.unwrap_or(Pred::TRUE))).map(|pred| pred.index)
    }

    /// Every pc that an instruction names exists.
    fn target(&self, pc: usize, op: &Op) -> Result<(), PrepareError> {
        let inside = |pc: Pc| (pc as usize) < self.program.code.len();
        let sound = match *op {
            Op::Branch { target, reconverge } => inside(target) && reconverge.is_none_or(inside),
            Op::BranchIndexed { table, reconverge } => {
                usize::from(table) < self.program.tables.len() && reconverge.is_none_or(inside)
            }
            Op::Call { target } | Op::BranchIf { target } | Op::BranchMembers { target, .. } => inside(target),
            _ => true,
        };
        if sound { Ok(()) } else { Err(self.malformed(pc, "a target lies outside the code")) }
    }

    fn tables(&self) -> Result<(), PrepareError> {
        let end = self.program.code.len();
        match self.program.tables.iter().flatten().all(|target| (*target as usize) < end) {
            true => Ok(()),
            false => Err(self.malformed(0, "a jump table's target lies outside the code")),
        }
    }

    fn unsupported(&self, pc: usize) -> PrepareError {
        let (kernel, line, text) = self.place(pc);
        PrepareError::Unsupported { kernel, line, text, what: ops::describe(&self.program.code[pc].op) }
    }

    fn malformed(&self, pc: usize, what: &str) -> PrepareError {
        let (kernel, line, text) = self.place(pc);
        PrepareError::Malformed { kernel, line, text, what: what.to_owned() }
    }

    fn place(&self, pc: usize) -> (String, u32, Arc<str>) {
        let info = &self.program.info[pc];
        (self.program.name.clone(), info.listing_line, info.text.clone())
    }
}

fn wide_address(op: &Op) -> bool {
    matches!(op, Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) if access.wide_address)
}

fn wide_index(op: &Op) -> bool {
    let access = match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => access,
        _ => return false,
    };
    access.index.is_some_and(|index| index.wide)
}

/// The lane operation of an instruction, or one that stands for none.
fn alu_of(op: &Op) -> Alu {
    match op {
        Op::Alu(alu) => *alu,
        _ => Alu { kind: AluKind::Mov, ty: Ty::B32, from: Ty::B32, mods: Mods::default() },
    }
}
