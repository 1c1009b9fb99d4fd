//! A kernel's code as the cycle model sees it: for every instruction what it waits for, what it occupies, when its result is there.

use super::class::class_of;
use super::config::Config;
use super::control::{self, Counters};
use super::operands::{Operand, reads, writes};
use super::ports::{OperandCache, PortReads};
use super::stall::Stall;
use crate::device::{Device, Pipe};
use crate::isa::{Instr, Isa, Op, Pc, PredSrc, Program, Scope};

/// How an instruction is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Takes no issue; its result is there when its sources are.
    Free,
    /// Its result is there after a latency.
    Fixed,
    /// As `Fixed`, by the way of memory instructions.
    Mio,
    Load,
    Store,
    Atomic,
    Branch,
    Exit,
    Barrier,
    WarpSync,
    Fence(Scope),
    Sleep,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedInstr {
    pub kind: Kind,
    pub pipe: Pipe,
    /// Of PTX, cycles of the issue slot. Of SASS, cycles until the warp can issue again.
    pub issue_cycles: u64,
    /// Cycles of the pipe.
    pub pipe_cycles: u64,
    pub latency_cycles: u64,
    /// What a warp that waits for the result is said to be doing.
    pub result_stall: Stall,
    /// The guard's place in the scoreboard, 0 where there is none.
    pub guard: u16,
    pub(super) reads: (u32, u32),
    pub(super) writes: (u32, u32),
    /// Of SASS.
    pub counters: Counters,
    /// Of SASS with a fixed latency.
    pub ports: PortReads,
}

/// The code of a kernel, ready to be timed on one device.
#[derive(Debug)]
pub(crate) struct TimedCode {
    instrs: Vec<TimedInstr>,
    /// Places in the scoreboard that instructions read and write.
    operands: Vec<u16>,
    /// Places a warp's scoreboard needs.
    pub scoreboard_len: usize,
    /// It is SASS: stall counts and dependence counters time it, and there is no scoreboard.
    pub by_control: bool,
    /// Some of it waits for less than all of a dependence counter.
    pub waits_in_part: bool,
}

impl TimedCode {
    pub fn new(program: &Program, device: &Device, config: &Config) -> Self {
        match program.isa {
            Isa::Sass => Self::of_sass(program, device, config),
            Isa::Ptx => Self::of_ptx(program, device, config),
        }
    }

    fn of_sass(program: &Program, device: &Device, config: &Config) -> Self {
        let mut cache = OperandCache::default();
        let timed = |(pc, instr): (usize, &Instr)| {
            let control = program.control.get(pc).copied().unwrap_or_default();
            let text = program.info.get(pc).map_or("", |info| &*info.text);
            control::timed(instr, &control, text, device, config, &mut cache)
        };
        let instrs: Vec<TimedInstr> = program.code.iter().enumerate().map(timed).collect();
        let waits_in_part = control::waits_in_part(&instrs);
        Self { instrs, operands: Vec::new(), scoreboard_len: 0, by_control: true, waits_in_part }
    }

    fn of_ptx(program: &Program, device: &Device, config: &Config) -> Self {
        let mut operands = Vec::new();
        let timed = |instr| timed(program, instr, device, config, &mut operands);
        let mut instrs: Vec<TimedInstr> = program.code.iter().map(timed).collect();
        for pc in dropped_jumps(&program.code) {
            instrs[pc].kind = Kind::Free;
        }
        let scoreboard_len = usize::from(program.slot_count) + usize::from(program.pred_count);
        Self { instrs, operands, scoreboard_len, by_control: false, waits_in_part: false }
    }

    #[inline]
    /// Instructions that have to be fetched: PTX is not what the chip fetches.
    pub fn fetched_len(&self) -> usize {
        if self.by_control { self.instrs.len() } else { 0 }
    }

    #[inline]
    pub fn at(&self, pc: Pc) -> &TimedInstr {
        &self.instrs[pc as usize]
    }

    /// Places that the instruction reads, the guard aside.
    #[inline]
    pub fn reads(&self, instr: &TimedInstr) -> &[u16] {
        &self.operands[instr.reads.0 as usize..instr.reads.1 as usize]
    }

    /// Places that it writes.
    #[inline]
    pub fn writes(&self, instr: &TimedInstr) -> &[u16] {
        &self.operands[instr.writes.0 as usize..instr.writes.1 as usize]
    }
}

/// Jumps that cost nothing since ptxas does not keep them: in `@p bra NEXT; bra ELSEWHERE; NEXT:` it inverts the condition and
/// drops the second. One that leads to another jump is left alone, so that no circle of jumps is free.
fn dropped_jumps(code: &[Instr]) -> impl Iterator<Item = usize> {
    let jump = |pc: usize| match code.get(pc) {
        Some(Instr { op: Op::Branch { target, .. }, guard, .. }) => Some((*target as usize, *guard == PredSrc::TRUE)),
        _ => None,
    };
    (1..code.len()).filter(move |&pc| {
        let around = jump(pc - 1) == Some((pc + 1, false));
        let plain = jump(pc).filter(|(_, always)| *always);
        around && plain.is_some_and(|(target, _)| !matches!(jump(target), Some((_, true))))
    })
}

fn timed(program: &Program, instr: &Instr, device: &Device, config: &Config, operands: &mut Vec<u16>) -> TimedInstr {
    let cost = device.costs.of(class_of(instr));
    let kind = kind_of(&instr.op, cost.pipe);
    let first = operands.len();
    let guard = reads(program, instr).find(|(operand, _)| *operand == Operand::Guard);
    let others = reads(program, instr).filter(|(operand, _)| *operand != Operand::Guard);
    operands.extend(others.flat_map(|(_, places)| places.iter()));
    let middle = operands.len();
    operands.extend(writes(program, instr).flat_map(|(_, places)| places.iter()));
    let instructions = u64::from(cost.instructions);
    TimedInstr {
        kind,
        pipe: cost.pipe,
        issue_cycles: instructions,
        pipe_cycles: instructions * config.pipe_interval[cost.pipe as usize],
        latency_cycles: cost.latency_cycles.into(),
        result_stall: match (kind, cost.pipe) {
            (Kind::Load | Kind::Atomic, _) => Stall::LongScoreboard,
            (Kind::Mio, _) | (_, Pipe::Xu) => Stall::ShortScoreboard,
            _ => Stall::Wait,
        },
        guard: guard.map_or(0, |(_, places)| places.first),
        reads: (first as u32, middle as u32),
        writes: (middle as u32, operands.len() as u32),
        counters: Counters::NONE,
        ports: PortReads::default(),
    }
}

pub(super) fn kind_of(op: &Op, pipe: Pipe) -> Kind {
    match op {
        Op::Load(_) => Kind::Load,
        Op::Store(_) => Kind::Store,
        Op::Atomic(..) => Kind::Atomic,
        op if op.is_branch() => Kind::Branch,
        Op::Exit | Op::Trap => Kind::Exit,
        Op::Barrier(_) => Kind::Barrier,
        Op::WarpSync | Op::Separate => Kind::WarpSync,
        Op::Fence(scope) => Kind::Fence(*scope),
        Op::Sleep => Kind::Sleep,
        _ if pipe == Pipe::None => Kind::Free,
        _ if pipe == Pipe::Lsu => Kind::Mio,
        _ => Kind::Fixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Pred;

    fn jump(target: Pc, guard: PredSrc) -> Instr {
        Instr { guard, ..Instr::new(Op::Branch { target, reconverge: None }) }
    }

    #[track_caller]
    fn check(code: &[Instr], dropped: &[usize]) {
        assert_eq!(dropped_jumps(code).collect::<Vec<_>>(), dropped);
    }

    #[test]
    fn a_jump_that_a_conditional_one_leads_around_is_dropped() {
        let (p, always) = (PredSrc::is(Pred(1)), PredSrc::TRUE);
        let other = || Instr::new(Op::Nop);
        check(&[jump(2, p), jump(3, always), other(), other()], &[1]);
        check(&[other(), jump(3, PredSrc::not(Pred(1))), jump(0, always), other()], &[2]);
    }

    #[test]
    fn other_jumps_stay() {
        let (p, always) = (PredSrc::is(Pred(1)), PredSrc::TRUE);
        let other = || Instr::new(Op::Nop);
        // Not around it; not conditional; itself conditional.
        check(&[jump(3, p), jump(3, always), other(), other()], &[]);
        check(&[jump(2, always), jump(3, always), other(), other()], &[]);
        check(&[jump(2, p), jump(3, p), other(), other()], &[]);
    }

    #[test]
    fn a_jump_to_itself_or_to_a_jump_stays_so_that_no_circle_is_free() {
        let (p, always) = (PredSrc::is(Pred(1)), PredSrc::TRUE);
        let other = || Instr::new(Op::Nop);
        check(&[jump(2, p), jump(1, always), other()], &[]);
        check(&[jump(2, p), jump(3, always), jump(4, p), jump(1, always), other()], &[]);
    }
}
